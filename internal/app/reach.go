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

	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/server"
)

// reachPeriod is the time between looks at the file of reach, and at the files that it names.
const reachPeriod = 5 * time.Second

// reach is how serve is reached: by the file that says so, followed while it changes, or by
// default where there is none.
type reach struct {
	file *followed[config.Server] // nil where there is none
	now  atomic.Pointer[config.Server]
	// access knows who may ask.
	access *access.Access
	// addresses are listened on.
	addresses []net.Addr
	log       *slog.Logger
	// said is the last error of following.
	said string
}

// newReach reads a file.
func newReach(file string, log *slog.Logger) (*reach, error) {
	r := &reach{log: log}
	var first config.Server
	if file != "" {
		f, err := follow(file, config.ReadServer)
		if err != nil {
			return nil, err
		}
		r.file, first = f, f.config
	}
	r.now.Store(&first)
	return r, nil
}

// open reads the files that the file names. The API server that is asked is that of a cluster.
func (r *reach) open(cluster kube.Config) (err error) {
	var client kubernetes.Interface
	c := r.now.Load().Access
	if c.Asks() {
		if client, err = reviewer(cluster); err != nil {
			return err
		}
	}
	if r.access, err = access.New(c, client); err != nil {
		return &InputError{err}
	}
	return nil
}

// Questions to the API server about callers are fewer than those of the loop, and take nothing
// away from them.
const reviewsPerSecond, reviewsAtOnce = 100, 200

func reviewer(c kube.Config) (kubernetes.Interface, error) {
	c.QPS, c.Burst = reviewsPerSecond, reviewsAtOnce
	rest, _, err := kube.Load(c)
	if err != nil {
		return nil, err
	}
	client, err := kube.New(rest)
	if err != nil {
		return nil, err
	}
	return client.Typed, nil
}

// scheme is that of URLs.
func (r *reach) scheme() string {
	if r.now.Load().Access.TLS != nil {
		return "https"
	}
	return "http"
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

// run follows the file and those that it names until ctx ends.
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
			r.look()
		}
	}
}

// look takes over what has changed, and says once what does not count.
func (r *reach) look() {
	switch err := r.follow(); {
	case err == nil:
		r.said = ""
	case err.Error() != r.said:
		r.said = err.Error()
		r.log.Error("not all of the configuration of the server counts", "error", err)
	}
}

// follow takes over what has changed in the file and in those that it names.
func (r *reach) follow() error {
	changed, err := r.file.follow()
	next, before := r.file.config, r.now.Load()
	mistake := r.takeOver(next.Access)
	r.file.refused.Store(mistake != nil)
	if mistake != nil {
		return errors.Join(err, mistake)
	}
	if !reflect.DeepEqual(next.Tracing, before.Tracing) {
		err = errors.Join(err, fmt.Errorf("%s: tracing: %w", r.file.file, errRestart))
		next.Tracing = before.Tracing
	}
	r.now.Store(&next)
	if changed {
		r.log.Info("the configuration of the server has changed")
	}
	return err
}

// takeOver has callers judged by what was read, and the files that it names.
func (r *reach) takeOver(next access.Config) error {
	if err := next.Listen(r.addresses...); err != nil {
		return fmt.Errorf("%s: %w", r.file.file, err)
	}
	return r.access.Reload(next)
}
