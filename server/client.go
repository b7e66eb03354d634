package server

import (
	"context"
	"errors"

	"google.golang.org/grpc"
)

// Client is two connections to a server, one for calls with one answer and one for streams. HTTP/2 bounds how
// much is under way on a connection, and what finds no place there waits for one: behind streams, which may never
// end, calls would wait for good.
type Client struct{ calls, streams *grpc.ClientConn }

// NewClient returns a client of the server at a target, as [grpc.NewClient] does.
func NewClient(target string, options ...grpc.DialOption) (*Client, error) {
	calls, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, err
	}
	streams, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, errors.Join(err, calls.Close())
	}
	return &Client{calls, streams}, nil
}

// Invoke implements [grpc.ClientConnInterface].
func (c *Client) Invoke(ctx context.Context, method string, m, answer any, o ...grpc.CallOption) error {
	return c.calls.Invoke(ctx, method, m, answer, o...)
}

// NewStream implements [grpc.ClientConnInterface].
func (c *Client) NewStream(ctx context.Context, d *grpc.StreamDesc, method string, o ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.streams.NewStream(ctx, d, method, o...)
}

// Close closes both connections.
func (c *Client) Close() error { return errors.Join(c.calls.Close(), c.streams.Close()) }
