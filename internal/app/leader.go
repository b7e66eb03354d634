package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/server"
)

// leader is who leads, and how it is asked where that is another process.
type leader struct {
	access *access.Access
	mu     sync.Mutex
	now    election.Leader
	client *server.Client
	// until ends when another one leads, by end.
	until context.Context
	end   context.CancelFunc
}

// changed follows the election. The error says why the leader cannot be asked.
func (l *leader) changed(now election.Leader) (err error) {
	var client *server.Client
	if !now.Self && now.Address != "" {
		client, err = server.NewClient(now.Address, append(asPeer(l.access), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(err, l.set(now, client))
}

// set takes over who leads.
func (l *leader) set(now election.Leader, client *server.Client) error {
	last, end := l.client, l.end
	l.now, l.client = now, client
	l.until, l.end = context.WithCancel(context.Background())
	if end != nil {
		end()
	}
	if last != nil {
		return last.Close()
	}
	return nil
}

// asPeer is how one process of an installation asks another. Where they share a key the one
// shows by it that it has asked callers who they are; otherwise what callers have shown is passed
// on.
func asPeer(a *access.Access) []grpc.DialOption {
	encryption, token := a.Peer()
	if encryption == nil {
		return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	shown := func(ctx context.Context) context.Context {
		passed, _ := metadata.FromOutgoingContext(ctx)
		passed = passed.Copy()
		passed.Set("authorization", "Bearer "+token())
		return metadata.NewOutgoingContext(ctx, passed)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(encryption)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, m, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
			return invoke(shown(ctx), method, m, answer, conn, o...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, d *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
			return stream(shown(ctx), d, conn, method, o...)
		}),
	}
}

// resigned is said when this process leads no longer.
func (l *leader) resigned() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.Self {
		_ = l.set(election.Leader{}, nil) // there is no connection to close
	}
}

// errNobodyLeads is so until a lease is seen.
var errNobodyLeads = errors.New("no process is known to lead")

// ask is whom to ask in the place of this process: a [server.Leader].
func (l *leader) ask() (conn grpc.ClientConnInterface, until context.Context, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.now.Self:
		return nil, l.until, nil
	case l.client != nil:
		return l.client, l.until, nil
	case l.now.Identity == "":
		return nil, nil, errNobodyLeads
	}
	return nil, nil, fmt.Errorf("%s leads, and has not said where it is reached", l.now.Identity)
}
