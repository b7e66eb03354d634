package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
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

// pace is how often garbage is collected. It is set anew after each collection.
type pace struct{ ended atomic.Bool }

// paceGarbage keeps the pace until it is ended, which leaves it as it is. GOGC, if set, stays.
func paceGarbage() *pace {
	p := &pace{}
	if os.Getenv("GOGC") == "" {
		p.keep(struct{}{})
	}
	return p
}

func (p *pace) end() { p.ended.Store(true) }

// keep sets the pace by what is in use now, and does so again after the next collection, which is
// when nobody reaches what is allocated here.
func (p *pace) keep(struct{}) {
	if p.ended.Load() {
		return
	}
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(used)
	// Setting it stops the world for a moment.
	if percent := paceBy(used[0].Value.Uint64()); percent != used[1].Value.Uint64() {
		debug.SetGCPercent(int(percent)) //nolint:gosec // of leastGarbage at most
	}
	runtime.AddCleanup(new(struct{ *pace }), p.keep, struct{}{})
}

// paceBy is the garbage that may pile up where so many bytes are in use, in percent of them.
func paceBy(used uint64) uint64 { return max(garbage, 100*leastGarbage/max(used, 1<<20)) }
