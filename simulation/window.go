package simulation

import "time"

// Window is what happened in a span of time.
type Window struct {
	// Index counts windows from 0; Start and End bound it. The last one may be shorter than
	// the others.
	Index      int
	Start, End time.Time
	// Workloads in the order of the fleet.
	Workloads []WorkloadWindow
}

// WorkloadWindow is what happened to one workload.
type WorkloadWindow struct {
	// Arrived counts requests that arrived in the window, Attained those of them that were
	// within the SLO when they ended, and Unmet those that were rejected, timed out or had not
	// ended when the simulation did.
	Arrived, Attained, Unmet int
	// Completed counts requests that ended in the window with all their tokens. TTFT is their
	// times to first token from arrival at the gateway on, ITL the mean inter-token latencies
	// of those with two tokens or more, in seconds. What ends after the last window counts
	// there.
	Completed int
	TTFT, ITL Sketch
	// Variants in the order of the workload.
	Variants []VariantWindow
}

// VariantWindow is what a variant had in the window.
type VariantWindow struct {
	// Serving is replicas that take requests, Paid those that hold devices, the means over the
	// window.
	Serving, Paid float64
	// Cost is the price of the latter, in the currency of the fleet.
	Cost float64
	// ScaleEvents is how often the number of replicas asked for was changed.
	ScaleEvents int
}

// Cost is that of all variants.
func (w *Window) Cost() float64 {
	cost := 0.0
	for i := range w.Workloads {
		for j := range w.Workloads[i].Variants {
			cost += w.Workloads[i].Variants[j].Cost
		}
	}
	return cost
}

// openWindow is a window some of whose requests have not ended.
type openWindow struct {
	Window
	// inside is the number of those requests; ended tells that the window's time is over.
	inside int
	ended  bool
}

// meter adds up replicas of a variant over time.
type meter struct {
	serving, paid int
	// paidIn is the number of those paid in each pool of the variant, prices what one costs
	// there per hour, and rate what all cost.
	paidIn []int
	prices []float64
	rate   float64
	// last is the moment up to which the integrals count, in replica-seconds and money.
	last                              float64
	servingSeconds, paidSeconds, cost float64
	scaleEvents                       int
}

const secondsPerHour = 3600

func (m *meter) advance(now float64) {
	d := now - m.last
	m.last = now
	m.servingSeconds += d * float64(m.serving)
	m.paidSeconds += d * float64(m.paid)
	m.cost += d * m.rate / secondsPerHour
}

// pay counts a replica in a pool of the variant that holds devices from now on, or no more.
func (m *meter) pay(now float64, pool, change int) {
	m.advance(now)
	m.paid += change
	m.paidIn[pool] += change
	m.rate = 0
	for k, n := range m.paidIn {
		m.rate += float64(n) * m.prices[k]
	}
}

// serve counts a replica that serves from now on, or no more.
func (m *meter) serve(now float64, change int) {
	m.advance(now)
	m.serving += change
}

// read returns what was added up, as of a window of a length, and begins anew.
func (m *meter) read(now, length float64) VariantWindow {
	m.advance(now)
	w := VariantWindow{
		Serving: m.servingSeconds / length, Paid: m.paidSeconds / length, Cost: m.cost, ScaleEvents: m.scaleEvents,
	}
	m.servingSeconds, m.paidSeconds, m.cost, m.scaleEvents = 0, 0, 0, 0
	return w
}

// openNext opens the window that begins now.
func (c *Cluster) openNext() {
	w := &openWindow{Window: Window{Index: c.windows, Start: c.clock(c.now)}}
	w.Workloads = make([]WorkloadWindow, len(c.workloads))
	c.windows++
	c.open = append(c.open, w)
	c.current = w
	c.windowBegan = c.now
	// In whole nanoseconds, as the horizon is: a product of seconds may fall short of it.
	if end := (time.Duration(c.windows) * c.config.Window).Seconds(); end < c.horizon {
		c.calendar.add(end, windowEnds, 0)
	}
}

// closeWindow ends the window under way. It is reported once its requests have ended.
func (c *Cluster) closeWindow() {
	w := c.current
	w.End, w.ended = c.clock(c.now), true
	length := c.now - c.windowBegan
	for i := range c.workloads {
		of := &w.Workloads[i]
		for j := range c.workloads[i].variants {
			of.Variants = append(of.Variants, c.workloads[i].variants[j].meter.read(c.now, length))
		}
	}
	if c.now < c.horizon {
		c.openNext()
	}
	c.report(false)
}

// report hands over windows whose requests have ended, in order; all of them at the end.
func (c *Cluster) report(all bool) {
	for len(c.open) > 0 {
		w := c.open[0]
		if !all && (!w.ended || w.inside > 0 || w == c.current) {
			return
		}
		c.open[0] = nil
		c.open = c.open[1:]
		if c.each != nil {
			c.each(w.Window)
		}
	}
}

// windowOf is the window with an index, which is open.
func (c *Cluster) windowOf(index int32) *openWindow { return c.open[int(index)-c.open[0].Index] }

// clock is the time at a moment.
func (c *Cluster) clock(moment float64) time.Time {
	return c.config.Start.Add(time.Duration(moment*float64(time.Second) + 0.5))
}
