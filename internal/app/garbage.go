package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbage is how much of it may pile up before it is collected, in percent of what is in use,
// unless GOGC says otherwise. A cycle over thousands of workloads leaves more of it behind
// than all that is kept, and time is plenty between cycles: half of Go's default takes a
// fifth less memory and no longer.
const garbage = 50

// leastGarbage is how many bytes of it pile up before it is collected, however little is in use: a
// process that keeps 10 MB and answers hundreds of calls per second would else collect ten times
// per second, for a sixth of its processor time.
const leastGarbage = 64 << 20

// leastUsed is what the runtime takes for in use, at least, when it counts garbage in percent of that.
const leastUsed = 4 << 20

// pace is how often garbage is collected. It is set anew after each collection.
type pace struct {
	mu    sync.Mutex
	ended bool
}

// paceGarbage keeps the pace until it is ended, which leaves it as it is. GOGC, if set, stays.
func paceGarbage() *pace {
	p := &pace{}
	if os.Getenv("GOGC") == "" {
		p.keep(struct{}{})
	}
	return p
}

func (p *pace) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// keep sets the pace by what is in use now, and does so again after the next collection, which is
// when nobody reaches what is allocated here: something with a pointer, as what has none may
// share its memory with what is reached for long.
func (p *pace) keep(struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	samples := []metrics.Sample{
		{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	used := uint64(0)
	for _, s := range samples[1:] {
		used += s.Value.Uint64()
	}
	// Setting it stops the world for a moment.
	if percent := paceBy(used); percent != samples[0].Value.Uint64() {
		debug.SetGCPercent(int(percent)) //nolint:gosec // of leastGarbage at most
	}
	runtime.AddCleanup(new(struct{ *pace }), p.keep, struct{}{})
}

// paceBy is the garbage that may pile up where so many bytes of heap, stacks and globals are in use, in
// percent of them.
func paceBy(used uint64) uint64 { return max(garbage, 100*leastGarbage/max(used, leastUsed)) }
