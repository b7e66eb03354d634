package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// Efficiency is what the replicas of a workload were seen to complete while requests waited.
type Efficiency struct {
	// Share of what they should at saturation, in (0, 1].
	Share float64
	// Ready are the replicas of each variant that serve, since the time Since. Queued: in the
	// last cycle requests waited that show that they have enough to do.
	Ready  []int
	Since  time.Time
	Queued bool
}

const (
	// leastShare is the lowest share that is believed.
	leastShare = 0.1
	// queued is the time that requests which wait take to complete where replicas have
	// enough to do. Of less, some may be of chance, or wait for a step of the engine.
	queued = time.Second
)

// observeEfficiency compares what ready replicas complete while requests wait with what they
// should. Measured lengths are those of requests that have ended: of those that are in
// replicas nobody knows, and when they become longer, the short ones end first. So a queue
// that replicas do not drain as they should says sooner how much they sustain. Without a
// queue it is not seen, and what was is forgotten as fast as lengths are followed. Two cycles
// in a row with a queue, and the same replicas, count.
func (c *cycle) observeEfficiency(i int) {
	w, s, next := &c.fleet.Workloads[i], &c.seen[i], c.next[i]
	if next.Lengths == nil {
		next.Efficiency = nil
		return
	}
	last := cmp.Or(next.Efficiency, &Efficiency{Share: 1})
	now := Efficiency{Share: last.Share, Ready: w.ready(), Since: last.Since}
	if !slices.Equal(now.Ready, last.Ready) {
		now.Since = c.snapshot.Now.UTC().Round(0)
	}
	elapsed := c.snapshot.Now.Sub(next.At)
	should, done := c.atSaturation(i, now.Ready), c.completions(i)
	now.Queued = done > 0 && s.waiting > queued.Seconds()*done
	steady := c.snapshot.Now.Sub(now.Since) >= max(s.window, elapsed)
	switch {
	case now.Queued && last.Queued && steady && should > 0 && !c.gap(next):
		now.Share = (now.Share + min(1, max(leastShare, done/should))) / 2
		c.step(w.QualifiedName(), fmt.Sprintf("%.4g requests/s at saturation", should), fmt.Sprintf("%.4g requests/s", now.Share*should),
			fmt.Sprintf("%.4g requests/s completed while %.4g wait", done, s.waiting))
	case elapsed > 0 && !now.Queued:
		now.Share = 1 - (1-now.Share)*math.Exp(-elapsed.Seconds()/lengthsSmoothing.Seconds())
	}
	next.Efficiency = &now
}

// completions is the measured rate of requests that ended, 0 where it is not known.
func (c *cycle) completions(i int) float64 {
	o := c.observations[c.fleet.Workloads[i].QualifiedName()]
	if o == nil {
		return 0
	}
	if m := o.CompletionRate.checked(); m.State == Fresh {
		return m.Value
	}
	return 0
}

// efficiency is the share of what they should that the replicas of a workload do.
func (c *cycle) efficiency(i int) float64 {
	if !c.loop() || c.next[i].Efficiency == nil {
		return 1
	}
	return c.next[i].Efficiency.Share
}

// completed is the rate at which counts of replicas complete requests when they have enough
// to do.
func (c *cycle) completed(i int, counts []int) float64 {
	return c.efficiency(i) * c.atSaturation(i, counts)
}

// atSaturation is the rate at which they should.
func (c *cycle) atSaturation(i int, counts []int) float64 {
	var byPhase [3]float64
	for j, n := range counts {
		byPhase[c.fleet.Workloads[i].Variants[j].Role] += float64(n) * float64(c.sustained[i][j].atSaturation())
	}
	return byPhase[optimizer.Whole] + min(byPhase[optimizer.Prefill], byPhase[optimizer.Decode])
}

// times is the size of a replica that does a share of what it should.
func (s Size) times(share float64) Size {
	by := queueing.Rate(share)
	s.Capacity, s.Served, s.Saturation = by*s.Capacity, by*s.Served, by*s.Saturation
	return s
}
