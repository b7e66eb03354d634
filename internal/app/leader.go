package app

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/proto/externalscaler"
)

// leader is the connection to the process that leads, where that is another one.
type leader struct {
	mu   sync.Mutex
	conn *grpc.ClientConn
}

// changed follows the election.
func (l *leader) changed(now election.Leader) error {
	var conn *grpc.ClientConn
	if !now.Self && now.Address != "" {
		var err error
		if conn, err = grpc.NewClient(now.Address, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	conn, l.conn = l.conn, conn
	if conn != nil {
		return conn.Close()
	}
	return nil
}

// scaler is whom to ask in the place of this process, nil = nobody.
func (l *leader) scaler() externalscaler.ExternalScalerClient {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	return externalscaler.NewExternalScalerClient(l.conn)
}
