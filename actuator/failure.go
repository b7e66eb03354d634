package actuator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// transient errors may be gone in a moment. Those of the connection are not among them: the
// next cycle is the next attempt, and finds out whether a write arrived.
func transient(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && (status.Status().Code == 429 || status.Status().Code >= 500)
}

// permanent errors stay until somebody changes something.
func permanent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// firstPause after a transient error; each is twice the last.
const firstPause = 100 * time.Millisecond

// pause waits after a failed attempt as long as the API server asks for or doubling, and
// up to half as long again, so that not all targets come back at once. The error is that of
// a context that ends or would end before.
func pause(ctx context.Context, attempt int, failure error) error {
	wait := firstPause << (attempt - 1)
	if seconds, ok := apierrors.SuggestsClientDelay(failure); ok {
		wait = max(wait, time.Duration(seconds)*time.Second)
	}
	wait += rand.N(wait/2 + 1)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// describe says which object could not be scaled and what to do about it.
func describe(object *resource.Reference, right string, c *planner.Change, err error) error {
	advice := ""
	switch {
	case apierrors.IsForbidden(err):
		advice = "; " + right
	case apierrors.IsNotFound(err):
		advice = "; it is gone, or its kind cannot be scaled"
	case meta.IsNoMatchError(err):
		advice = "; install its custom resource definition, or name another target"
	}
	return fmt.Errorf("%s: scale from %d to %d: %w%s", object, c.From, c.To, err, advice)
}

// refusals are the targets that the API server has refused to scale.
type refusals struct {
	mu    sync.Mutex
	byUID map[types.UID]refusal
}

// refusal holds for what was asked for.
type refusal struct {
	asked question
	until time.Time
	err   error
}

// question is what is asked for of an object as it is. What is refused as a dry run may be written:
// not every webhook takes dry runs.
type question struct {
	object   resource.Reference
	replicas int
	dryRun   bool
}

// refusalLasts: rules of access and webhooks change without the object.
const refusalLasts = 5 * time.Minute

// of returns the error with which the same was refused before; nil = it was not.
func (r *refusals) of(q question, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.byUID[q.object.UID]
	if !ok || last.asked != q || !now.Before(last.until) {
		return nil
	}
	return fmt.Errorf("%w (refused before; asked again when the object changes, or at %s)", last.err, last.until.UTC().Format(time.TimeOnly))
}

// add remembers a refusal, and forgets those that are over.
func (r *refusals) add(q question, err error, now time.Time) {
	if q.object.UID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byUID == nil {
		r.byUID = make(map[types.UID]refusal)
	}
	for uid, old := range r.byUID {
		if !now.Before(old.until) {
			delete(r.byUID, uid)
		}
	}
	r.byUID[q.object.UID] = refusal{q, now.Add(refusalLasts), err}
}
