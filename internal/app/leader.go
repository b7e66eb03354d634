package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/poolwright/poolwright/internal/election"
)

// leader is who leads, and the connection to it where that is another process.
type leader struct {
	mu   sync.Mutex
	now  election.Leader
	conn *grpc.ClientConn
	// until ends when another one leads, by end.
	until context.Context
	end   context.CancelFunc
}

// changed follows the election.
func (l *leader) changed(now election.Leader) error {
	var conn *grpc.ClientConn
	if !now.Self && now.Address != "" {
		var err error
		conn, err = grpc.NewClient(now.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
		if err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set(now, conn)
}

// set takes over who leads.
func (l *leader) set(now election.Leader, conn *grpc.ClientConn) error {
	last, end := l.conn, l.end
	l.now, l.conn = now, conn
	l.until, l.end = context.WithCancel(context.Background())
	if end != nil {
		end()
	}
	if last != nil {
		return last.Close()
	}
	return nil
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
	case l.conn != nil:
		return l.conn, l.until, nil
	case l.now.Identity == "":
		return nil, nil, errNobodyLeads
	}
	return nil, nil, fmt.Errorf("%s leads, and has not said where it is reached", l.now.Identity)
}
