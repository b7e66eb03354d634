package server

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// memoryPerByte is what a request is taken to need for each byte of it until it is answered. Fleets of
	// gRPC with 2,000 and 20,000 workloads took 14 while they waited, decoded, and 70 to 100 at the height of their
	// computation, as text 11 and 35. The half of GOMEMLIMIT that is not for requests leaves room for that.
	memoryPerByte = 64
	// memoryPerElement is what it needs at least for each message, object or list in it: empty ones
	// took 215 of gRPC, and 320 as text.
	memoryPerElement = 320
	// readingShare of the memory of requests is for those that are being read, in addition: half of it
	// for those that may be large.
	readingShare = 4
	// leastReading is what each of them takes, with its buffers and goroutines.
	leastReading = 16 << 10
	// mostReading is how many requests of one caller wait to be read.
	mostReading = 4096
	// defaultMemory is for requests where GOMEMLIMIT says nothing.
	defaultMemory = 2 << 30
)

// DefaultRequestMemory is half of the memory that the process may have by GOMEMLIMIT, or 2 GiB
// where that is not set.
func DefaultRequestMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return defaultMemory
	}
	return max(memoryPerByte, limit/2)
}

// memory is what requests take that have been read. The zero value is for none.
type memory struct {
	metrics *limitMetrics

	mu    sync.Mutex
	taken int64 // bytes
}

// take takes the memory for a request of some bytes and elements until give is called. It
// returns RESOURCE_EXHAUSTED where there is none left, or never so much.
func (m *memory) take(bytes, elements int, most int64) (give func(), err error) {
	need := max(memoryPerByte*int64(bytes), memoryPerElement*int64(elements))
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case need > most:
		m.metrics.shed(shedMemory)
		return nil, status.Errorf(codes.ResourceExhausted, "the request has %d elements, which take %d bytes of memory: more than the %d that there are for requests", elements, need, most)
	case m.taken+need > most:
		m.metrics.shed(shedMemory)
		return nil, exhausted(memoryRetry, "the requests that are being answered take %d of %d bytes of memory, and this one would take %d", m.taken, most, need)
	}
	m.taken += need
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.taken -= need
	}, nil
}

// memoryRetry is when to ask again where there is no memory: nobody knows how long what takes it
// is computed.
const memoryRetry = time.Second

// reading bounds the bytes of requests that are being read: as many as fit into a size, of which
// one caller takes half at most. Who finds no room waits, first come, first served.
type reading struct {
	size    int64
	all     *semaphore.Weighted
	metrics *limitMetrics

	mu      sync.Mutex
	callers map[string]*share
}

// share is what one caller may take.
type share struct {
	*semaphore.Weighted
	calls int // that take of it, or wait
}

func newReading(size int64, metrics *limitMetrics) *reading {
	return &reading{size: size, all: semaphore.NewWeighted(size), metrics: metrics, callers: map[string]*share{}}
}

// while reads a request of a caller, of so many bytes at most, when there is room for it.
func (r *reading) while(ctx context.Context, caller string, bytes int, read func() error) error {
	own, err := r.enter(caller)
	if err != nil {
		return err
	}
	defer r.leave(caller, own)
	need := min(max(int64(bytes), leastReading), r.size/2)
	if err := own.Acquire(ctx, need); err != nil {
		return r.left(err)
	}
	defer own.Release(need)
	if err := r.all.Acquire(ctx, need); err != nil {
		return r.left(err)
	}
	defer r.all.Release(need)
	return read()
}

// left is the answer to a call that ended while it waited.
func (r *reading) left(err error) error {
	r.metrics.shed(shedOf(err))
	return status.FromContextError(err).Err()
}

// enter returns the share of a caller who wants to read; RESOURCE_EXHAUSTED where too many calls
// of theirs do.
func (r *reading) enter(caller string) (*share, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.callers[caller]
	if own == nil {
		own = &share{Weighted: semaphore.NewWeighted(r.size / 2)}
		r.callers[caller] = own
	}
	if own.calls == mostReading {
		r.metrics.shed(shedMemory)
		return nil, exhausted(memoryRetry, "%d requests of yours are waiting to be read, which is all that may", own.calls)
	}
	own.calls++
	return own, nil
}

func (r *reading) leave(caller string, own *share) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own.calls--; own.calls == 0 {
		delete(r.callers, caller)
	}
}
