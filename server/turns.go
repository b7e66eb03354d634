package server

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc/status"
)

const (
	// slotBytes of a request are what one slot is for: larger requests are computed on as many
	// processors as they have such parts.
	slotBytes = 64 << 10
	// quantum is how long a call computes before it gives way to those that wait: a long one
	// keeps nobody waiting for long.
	quantum = 20 * time.Millisecond
	// meanWeight is that of a turn in their mean.
	meanWeight = 1. / 16
	// leastRetry and mostRetry bound the time after which to ask again.
	leastRetry, mostRetry = 100 * time.Millisecond, 30 * time.Second
)

// turns let calls compute one after the other, as many at once as limits say and what goes
// before them leaves. Those that wait are served in the order in which they came.
type turns struct {
	limits     func() Limits
	precedence *Precedence
	metrics    *limitMetrics

	mu      sync.Mutex
	taken   int       // slots
	waiting list.List // of *turn
	mean    float64   // of the seconds of a turn, the recent ones above all
}

// turn is what a call computes in. Its methods but for giveWay are for one goroutine at a time.
type turn struct {
	turns *turns
	// way is held while n gives way, so that all that computes for the call waits.
	way   sync.Mutex
	bytes int // of its request over gRPC, once that has been read
	slots int
	began time.Time
	ready chan struct{} // closed where it has the slots
	place *list.Element // in the queue; nil = it has the slots
	// idle: it has no slots and does not wait for any, as its request has not been read or its
	// call has ended.
	idle bool
}

// next returns a turn for a call whose request has not been read, which takes no place yet: a
// slow client keeps nobody else from one. It returns RESOURCE_EXHAUSTED where there is none.
func (t *turns) next() (*turn, error) {
	limits := t.limits()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.room(limits); err != nil {
		return nil, err
	}
	return &turn{turns: t, idle: true}, nil
}

// room is RESOURCE_EXHAUSTED where nobody else may wait.
func (t *turns) room(limits Limits) error {
	there := t.waiting.Len()
	if there < limits.Queue {
		return nil
	}
	t.metrics.shed(shedQueue)
	return exhausted(t.retry(limits.Concurrency), "%d calls are waiting, which is all that may", there)
}

// take waits for the turn of a call whose request has been read. It returns the error of ctx
// where that ends first, and RESOURCE_EXHAUSTED where there is no place to wait in.
func (n *turn) take(ctx context.Context, bytes int) error {
	arrived := time.Now()
	if err := n.queue(bytes); err != nil {
		return err
	}
	t := n.turns
	err := n.wait(ctx)
	t.metrics.wait.Observe(time.Since(arrived).Seconds())
	if err != nil {
		t.metrics.shed(shedOf(err))
		return status.FromContextError(err).Err()
	}
	return nil
}

// queue gives n its slots, or a place behind all that wait.
func (n *turn) queue(bytes int) error {
	t, limits := n.turns, n.turns.limits()
	t.mu.Lock()
	defer t.mu.Unlock()
	n.slots = min(limits.Concurrency, 1+bytes/slotBytes)
	if t.waiting.Len() > 0 || !t.fits(n, t.concurrency()) {
		if err := t.room(limits); err != nil {
			return err
		}
		t.enqueue(n)
	} else {
		t.start(n)
	}
	n.idle = false
	return nil
}

// fits tells whether there are slots for n; one that is larger than all fits alone.
func (t *turns) fits(n *turn, concurrency int) bool {
	return t.taken == 0 || t.taken+n.slots <= concurrency
}

// start gives n its slots.
func (t *turns) start(n *turn) {
	t.taken += n.slots
	t.metrics.computing.Inc()
	n.began, n.place = time.Now(), nil
}

// enqueue puts n behind all that wait.
func (t *turns) enqueue(n *turn) {
	n.ready, n.place = make(chan struct{}), t.waiting.PushBack(n)
	t.metrics.waiting.Inc()
}

// concurrency is how much may be computed at once now.
func (t *turns) concurrency() int { return t.precedence.leaves(t.limits().Concurrency) }

// resume lets those that wait go on once nothing goes before them any more.
func (t *turns) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
}

// advance starts those whose turn it is.
func (t *turns) advance() {
	concurrency := t.concurrency()
	for e := t.waiting.Front(); e != nil; e = t.waiting.Front() {
		n := e.Value.(*turn)
		if !t.fits(n, concurrency) {
			return
		}
		t.leave(n)
		t.start(n)
		close(n.ready)
	}
}

// leave takes n out of the queue.
func (t *turns) leave(n *turn) {
	t.waiting.Remove(n.place)
	t.metrics.waiting.Dec()
}

// finish takes the slots of n.
func (t *turns) finish(n *turn) {
	t.taken -= n.slots
	t.metrics.computing.Dec()
	t.mean += meanWeight * (time.Since(n.began).Seconds() - t.mean)
	t.advance()
}

// retry is the time in which those that wait now will have had their turn.
func (t *turns) retry(concurrency int) time.Duration {
	wait := t.mean * float64(t.waiting.Len()) / float64(concurrency)
	return min(mostRetry, max(leastRetry, time.Duration(wait*float64(time.Second))))
}

// wait returns when n has its slots, or with the error of ctx when that ends before.
func (n *turn) wait(ctx context.Context) error {
	if n.ready == nil {
		return nil
	}
	select {
	case <-n.ready:
		return nil
	case <-ctx.Done():
	}
	n.turns.mu.Lock()
	defer n.turns.mu.Unlock()
	if n.place == nil {
		return nil // at the last moment
	}
	n.turns.leave(n)
	n.idle = true
	n.turns.advance()
	return ctx.Err()
}

// giveWay lets others compute first, if there are any, or what goes before calls, and n has
// computed for long.
func (n *turn) giveWay(ctx context.Context) {
	n.way.Lock()
	defer n.way.Unlock()
	if n.idle || time.Since(n.began) < quantum {
		return
	}
	t := n.turns
	t.mu.Lock()
	if t.waiting.Len() == 0 && t.taken <= t.concurrency() {
		n.began = time.Now()
		t.mu.Unlock()
		return
	}
	t.enqueue(n)
	t.finish(n)
	t.mu.Unlock()
	_ = n.wait(ctx) // the caller asks ctx next
}

// end gives up the slots, and lets those that wait go on.
func (n *turn) end() {
	if n.idle {
		return
	}
	n.turns.mu.Lock()
	defer n.turns.mu.Unlock()
	n.turns.finish(n)
}

type turnKey struct{}

// within returns a context in which a call computes in its turn.
func (n *turn) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, turnKey{}, n)
}

// turnOf is the turn that a context is within, nil where there is none.
func turnOf(ctx context.Context) *turn {
	n, _ := ctx.Value(turnKey{}).(*turn)
	return n
}

// shedOf names the reason why a call left the queue.
func shedOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return shedDeadline
	}
	return shedLeft
}
