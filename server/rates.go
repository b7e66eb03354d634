package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostCallers are remembered at least: of those that ask most rarely it is forgotten when
// they asked last, so that any number of them takes little memory.
const mostCallers = 4096

// rates limit how often each caller may ask. The zero value knows no callers.
type rates struct {
	mu sync.Mutex
	// recent are those who asked since the last change of generations, former those before
	// it.
	recent, former map[string]*rate.Limiter
}

// wait is how long a caller has to wait before it may ask again; 0 = it may ask now, and has
// asked.
func (r *rates) wait(caller string, limits Limits, now time.Time) time.Duration {
	if limits.Rate <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bucket := r.bucket(caller, limits)
	if bucket.Limit() != rate.Limit(limits.Rate) || bucket.Burst() != limits.Burst {
		bucket.SetLimitAt(now, rate.Limit(limits.Rate))
		bucket.SetBurstAt(now, limits.Burst)
	}
	reservation := bucket.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay > 0 {
		reservation.CancelAt(now)
	}
	return delay
}

// due is how long a caller has to wait before it may ask again; 0 = it may ask now. It is not
// taken to have asked.
func (r *rates) due(caller string, limits Limits, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := 1 - r.bucket(caller, limits).TokensAt(now)
	return time.Duration(max(0, missing) / limits.Rate * float64(time.Second))
}

// bucket is that of a caller, a full one for a new caller.
func (r *rates) bucket(caller string, limits Limits) *rate.Limiter {
	if b, ok := r.recent[caller]; ok {
		return b
	}
	b, ok := r.former[caller]
	if !ok {
		b = rate.NewLimiter(rate.Limit(limits.Rate), limits.Burst)
	}
	if r.recent == nil || len(r.recent) >= mostCallers {
		r.former, r.recent = r.recent, make(map[string]*rate.Limiter)
	}
	r.recent[caller] = b
	return b
}
