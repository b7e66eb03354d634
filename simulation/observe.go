package simulation

import (
	"context"

	"github.com/poolwright/poolwright/planner"
)

// demand is what was seen of the requests of a workload since a moment.
type demand struct {
	arrived, completed int
	// lengths are of the requests that completed since lengths were measured last, and
	// variation since that was.
	lengths, variation lengths
	// last is what was measured of them last.
	last planner.Observation
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
	// observed is when demand was, worked when lengths and the work of replicas were, in
	// turns that are counted.
	observed, worked float64
	turns            int
}

const (
	// workWindow is the least time between two measurements of what replicas do, in seconds.
	workWindow = 60
	// variationTurns is over how many of them the variation of lengths is measured.
	variationTurns = 10
)

// Observe implements [controller.Observer], as an observer of metrics does whose cluster
// has a gateway: rates are over the time since the last observation, requests running and
// waiting those of this moment, with what the gateway holds among the latter. Lengths of
// requests, and what replicas of a profile do, are measured over a minute at least, and the
// variation of lengths over ten times that. Everything is fresh that is known at all.
func (c *Cluster) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	o := &c.observer
	elapsed := c.now - o.observed
	turn := c.now-o.worked >= workWindow
	if turn {
		o.turns++
	}
	observations := make([]planner.Observation, 0, len(c.workloads))
	for _, w := range c.workloads {
		observations = append(observations, c.observe(w, elapsed, turn))
	}
	if o.observed = c.now; turn {
		o.worked = c.now
	}
	return observations, nil
}

func (c *Cluster) observe(w *workload, elapsed float64, turn bool) planner.Observation {
	d := &w.demand
	if turn {
		d.measureLengths(c.observer.turns)
	}
	o := d.last
	o.Workload = w.config.QualifiedName()
	if elapsed > 0 {
		o.ArrivalRate = fresh(float64(d.arrived) / elapsed)
		o.CompletionRate = fresh(float64(d.completed) / elapsed)
	}
	d.arrived, d.completed = 0, 0
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
