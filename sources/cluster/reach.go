package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// reach lets all who could not reach the API server try again as soon as it has answered one
// of them. After an outage each would else wait for the end of a pause of its own.
type reach struct {
	mu       sync.Mutex
	answered chan struct{}
}

func newReach() *reach { return &reach{answered: make(chan struct{})} }

// found wakes who waits.
func (r *reach) found() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.answered)
	r.answered = make(chan struct{})
}

func (r *reach) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// attempts are those of one who asks the API server again and again.
type attempts struct {
	reach *reach
	// lost: the last one was not answered.
	lost    bool
	backoff wait.Backoff
}

func newAttempts(r *reach) *attempts { return &attempts{reach: r, backoff: retryBackoff()} }

// retryBackoff is that after failed requests. It ends soon, so that a loop which decides every few
// seconds goes on a few seconds after an outage; there is one request per kind.
func retryBackoff() wait.Backoff {
	return wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5, Cap: 2 * time.Second}
}

// came notes what a request came to.
func (a *attempts) came(err error) {
	var status apierrors.APIStatus
	lost := err != nil && !errors.As(err, &status)
	if a.lost && !lost {
		a.reach.found()
	}
	a.lost = lost
}

// pause waits before the next attempt. Where the last one was not answered, it ends when
// that of another is, and pauses begin anew: an API server that has just come up may
// not do all at once.
func (a *attempts) pause(ctx context.Context) {
	var answered <-chan struct{}
	if a.lost {
		answered = a.reach.next()
	}
	select {
	case <-ctx.Done():
	case <-answered:
		a.backoff = retryBackoff()
	case <-time.After(a.backoff.Step()):
	}
}
