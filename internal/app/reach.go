package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/server"
)

// reachPeriod is the time between looks at the file of reach, and at the files that it names.
const reachPeriod = 5 * time.Second

// reach is how serve is reached: by the file that says so, followed while it changes, or by
// default where there is none.
type reach struct {
	file *followed[config.Server] // nil where there is none
	now  atomic.Pointer[config.Server]
	// addresses are listened on.
	addresses []net.Addr
	log       *slog.Logger
}

func newReach(file string, log *slog.Logger) (*reach, error) {
	r := &reach{log: log}
	r.now.Store(&config.Server{})
	if file == "" {
		return r, nil
	}
	f, err := follow(file, config.ReadServer)
	if err != nil {
		return nil, err
	}
	first := f.config
	r.file = f
	r.now.Store(&first)
	return r, nil
}

// limits are those of now.
func (r *reach) limits() server.Limits { return r.now.Load().Limits }

// listening returns why these addresses may not be listened on.
func (r *reach) listening(addresses ...net.Addr) error {
	r.addresses = addresses
	if err := r.now.Load().Access.Listen(addresses...); err != nil {
		return &InputError{err}
	}
	return nil
}

// run follows the file until ctx ends.
func (r *reach) run(ctx context.Context) {
	if r.file == nil {
		return
	}
	ticker := time.NewTicker(reachPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := r.follow(); err != nil {
			r.log.Error("not all of the configuration of the server counts", "error", err)
		}
	}
}

// follow takes over what has changed.
func (r *reach) follow() error {
	changed, err := r.file.follow()
	if !changed {
		return err
	}
	next, before := r.file.config, r.now.Load()
	if err := next.Access.Listen(r.addresses...); err != nil {
		return fmt.Errorf("%s: %w", r.file.file, err)
	}
	var restart []error
	if !reflect.DeepEqual(next.Tracing, before.Tracing) {
		restart = append(restart, fmt.Errorf("%s: tracing: %w", r.file.file, errRestart))
		next.Tracing = before.Tracing
	}
	if (next.Access.TLS == nil) != (before.Access.TLS == nil) {
		return fmt.Errorf("%s: whether there is tls: %w", r.file.file, errRestart)
	}
	r.now.Store(&next)
	r.log.Info("the configuration of the server has changed")
	return errors.Join(restart...)
}
