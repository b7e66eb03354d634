package simulation

import (
	"context"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// demand is what was seen of the requests of a workload.
type demand struct {
	// counters are those of now, and readings the earlier ones that rates are measured from,
	// the oldest first.
	counters
	readings []counters
	// lengths are of the requests that completed since lengths were measured last, and
	// variation since that was.
	lengths, variation lengths
	// last is what was measured of them last.
	last planner.Observation
}

// counters are of all requests up to a moment.
type counters struct {
	at                 float64
	arrived, completed int
}

// read returns the counters of now, those of the last reading, and those of a window ago: of the
// last reading since when a window has gone by, or else of the first one.
func (d *demand) read(now, window float64) (from, last, to counters) {
	d.at = now
	if d.readings == nil {
		d.readings = []counters{{}}
	}
	last = d.readings[len(d.readings)-1]
	passed := 0
	for passed+1 < len(d.readings) && now-d.readings[passed+1].at >= window {
		passed++
	}
	d.readings = append(d.readings[:0], d.readings[passed:]...)
	d.readings = append(d.readings, d.counters)
	return d.readings[0], last, d.counters
}

func (d *demand) complete(q *request) {
	d.completed++
	d.lengths.add(q.input, q.output)
}

// lengths are sums over requests.
type lengths struct {
	count         float64
	input, output moments
}

func (l *lengths) add(input, output int) {
	l.count++
	l.input.add(float64(input))
	l.output.add(float64(output))
}

func (l *lengths) merge(other *lengths) {
	l.count += other.count
	l.input.merge(&other.input)
	l.output.merge(&other.output)
}

// moments are the sums of values and of their squares.
type moments struct{ sum, squares float64 }

func (m *moments) add(x float64) {
	m.sum += x
	m.squares += x * x
}

func (m *moments) merge(other *moments) {
	m.sum += other.sum
	m.squares += other.squares
}

func (m *moments) mean(count float64) float64 { return m.sum / count }

// variation is the squared coefficient of variation, 0 where all values are 0.
func (m *moments) variation(count float64) float64 {
	if m.sum == 0 {
		return 0
	}
	return max(0, m.squares*count/(m.sum*m.sum)-1)
}

// observer remembers when what was measured.
type observer struct {
	// worked is when lengths and the work of replicas were measured, in turns that are
	// counted.
	worked float64
	turns  int
}

const (
	// workWindow is the least time between two measurements of what replicas do, in seconds.
	workWindow = 60
	// variationTurns is over how many of them the variation of lengths is measured.
	variationTurns = 10
)

// Observe implements [controller.Observer], as an observer of metrics does whose cluster
// has a gateway: rates are over the window of the configuration or the time since the last
// observation, requests running and waiting those of this moment, with what the gateway holds
// among the latter. Lengths of
// requests, and what replicas of a profile do, are measured over a minute at least, and the
// variation of lengths over ten times that. Everything is fresh that is known at all.
func (c *Cluster) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	o := &c.observer
	turn := c.now-o.worked >= workWindow
	if turn {
		o.turns++
	}
	observations := make([]planner.Observation, 0, len(c.workloads))
	for _, w := range c.workloads {
		observations = append(observations, c.observe(w, turn))
	}
	if turn {
		o.worked = c.now
	}
	return observations, nil
}

func (c *Cluster) observe(w *workload, turn bool) planner.Observation {
	d := &w.demand
	if turn {
		d.measureLengths(c.observer.turns)
	}
	o := d.last
	o.Workload = w.config.QualifiedName()
	from, last, to := d.read(c.now, c.config.RateWindow.Seconds())
	if elapsed := to.at - from.at; elapsed > 0 {
		o.ArrivalRate = fresh(float64(to.arrived-from.arrived) / elapsed)
		o.CompletionRate = fresh(float64(to.completed-from.completed) / elapsed)
	}
	if c.config.RateWindow > 0 {
		if elapsed := to.at - last.at; elapsed > 0 {
			o.RecentCompletionRate = fresh(float64(to.completed-last.completed) / elapsed)
		}
		o.Window = time.Duration((to.at - from.at) * float64(time.Second))
	}
	running, waiting := 0, w.entry.held.count+w.decode.held.count
	metrics := c.config.Fleet.PodMetrics(w.config)
	for _, v := range w.variants {
		for _, s := range v.servers {
			if s.replica != nil {
				running += s.replica.Running()
				waiting += s.replica.Waiting()
			}
		}
		seen := planner.VariantObservation{Variant: v.config.Name, Metrics: c.metrics(v, metrics)}
		if turn {
			seen.Replica = c.workOf(v)
		}
		if seen.Replica.Window > 0 || len(seen.Metrics) > 0 {
			o.Variants = append(o.Variants, seen)
		}
	}
	o.Running, o.Waiting = fresh(float64(running)), fresh(float64(waiting))
	return o
}

func fresh(value float64) planner.Measurement {
	return planner.Measurement{State: planner.Fresh, Value: value}
}

// measureLengths takes the lengths of the requests since it was called last.
func (d *demand) measureLengths(turns int) {
	l := &d.lengths
	d.last.InputTokens, d.last.OutputTokens = planner.Measurement{}, planner.Measurement{}
	if l.count > 0 {
		d.last.InputTokens, d.last.OutputTokens = fresh(l.input.mean(l.count)), fresh(l.output.mean(l.count))
	}
	d.variation.merge(l)
	*l = lengths{}
	if v := &d.variation; turns%variationTurns == 0 && v.count > 0 {
		d.last.InputSCV, d.last.OutputSCV = fresh(v.input.variation(v.count)), fresh(v.output.variation(v.count))
		*v = lengths{}
	}
}
