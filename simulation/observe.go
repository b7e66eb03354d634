package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// Cluster is all that a controller needs.
var (
	_ controller.Catalog  = (*Cluster)(nil)
	_ controller.Observer = (*Cluster)(nil)
	_ controller.Actuator = (*Cluster)(nil)
)

// Fleet implements [controller.Catalog]: the fleet with its replicas and the devices that
// pools have now.
func (c *Cluster) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	fleet := c.config.Fleet
	fleet.Pools = slices.Clone(fleet.Pools)
	for i, p := range c.pools {
		if !p.unlimited {
			fleet.Pools[i].Capacity.Value = p.available()
		}
	}
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i, w := range c.workloads {
		variants := slices.Clone(w.config.Variants)
		for j, v := range w.variants {
			v.describe(&variants[j])
		}
		fleet.Workloads[i].Variants = variants
		if len(c.config.Undeclared) > 0 && c.config.Undeclared[i] {
			s := &fleet.Workloads[i].Shape
			s.InputTokens, s.OutputTokens, s.InputSCV, s.OutputSCV = 0, 0, 0, 0
		}
	}
	return fleet, nil, nil
}

// describe puts in how many replicas there are.
func (v *variant) describe(d *planner.Variant) {
	d.CurrentReplicas, d.StartingReplicas, d.LeavingReplicas = v.desired, 0, 0
	d.PoolReplicas = slices.Clone(v.meter.paidIn)
	for _, s := range v.servers {
		switch s.phase {
		case Pending, Starting:
			d.StartingReplicas++
		case Draining:
			d.LeavingReplicas++
		}
	}
}

// Apply implements [controller.Actuator], see [Cluster.SetReplicas].
func (c *Cluster) Apply(_ context.Context, changes []planner.Change) []error {
	errs := make([]error, len(changes))
	for k := range changes {
		errs[k] = c.apply(&changes[k])
	}
	return errs
}

func (c *Cluster) apply(change *planner.Change) error {
	for i, w := range c.workloads {
		if w.config.QualifiedName() != change.Workload {
			continue
		}
		for j, v := range w.variants {
			switch {
			case v.config.Name != change.Variant:
			case v.desired != change.From:
				return fmt.Errorf("simulation: variant %q of workload %q has %d replicas, not %d",
					change.Variant, change.Workload, v.desired, change.From)
			default:
				c.SetReplicas(i, j, change.To)
				return nil
			}
		}
	}
	return fmt.Errorf("simulation: no variant %q of workload %q", change.Variant, change.Workload)
}

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
	d.lengths.add(q)
}

// lengths are sums over requests.
type lengths struct {
	count                                    int
	input, inputSquare, output, outputSquare float64
}

func (l *lengths) add(q *request) {
	in, out := float64(q.input), float64(q.output)
	l.count++
	l.input += in
	l.inputSquare += in * in
	l.output += out
	l.outputSquare += out * out
}

func (l *lengths) merge(other *lengths) {
	l.count += other.count
	l.input += other.input
	l.inputSquare += other.inputSquare
	l.output += other.output
	l.outputSquare += other.outputSquare
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
	metrics := c.followed(w.config)
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
	if l := &d.lengths; l.count > 0 {
		n := float64(l.count)
		d.last.InputTokens, d.last.OutputTokens = fresh(l.input/n), fresh(l.output/n)
		d.variation.merge(l)
	} else {
		d.last.InputTokens, d.last.OutputTokens = planner.Measurement{}, planner.Measurement{}
	}
	d.lengths = lengths{}
	if turns%variationTurns == 0 && d.variation.count > 0 {
		l, n := &d.variation, float64(d.variation.count)
		d.last.InputSCV, d.last.OutputSCV = fresh(variation(l.input/n, l.inputSquare/n)), fresh(variation(l.output/n, l.outputSquare/n))
		d.variation = lengths{}
	}
}

// variation is the squared coefficient of variation, from the first two moments.
func variation(mean, square float64) float64 {
	if mean == 0 {
		return 0
	}
	return max(0, square/(mean*mean)-1)
}

// work is what replicas of a variant did since a moment.
type work struct {
	completed                               int
	ttft, gaps, gapTime, input, output      float64
	inputSquare, outputSquare, cachedTokens float64
	// departed is what those did that are gone.
	departed replica.Totals
}

func (w *work) add(done *replica.Completion) {
	in, out := float64(done.Input), float64(done.Output)
	w.completed++
	w.ttft += float64(done.TTFT())
	w.gaps += out - 1
	w.gapTime += done.Finished - done.FirstToken
	w.input += in
	w.inputSquare += in * in
	w.output += out
	w.outputSquare += out * out
	w.cachedTokens += float64(done.Cached)
}

// depart counts what a replica did that goes now.
func (w *work) depart(s *server, now float64) {
	if s.replica != nil {
		did := s.totals(now).Since(s.seen)
		w.departed.Time += did.Time
		w.departed.Accepted += did.Accepted
		w.departed.Running += did.Running
		w.departed.Waiting += did.Waiting
	}
}

// workOf is what a replica of a variant did since the last turn, on the mean over replicas.
func (c *Cluster) workOf(v *variant) calibration.Observation {
	w := v.work
	v.work = work{}
	did := w.departed
	for _, s := range v.servers {
		if s.replica == nil {
			continue
		}
		totals := s.totals(c.now)
		since := totals.Since(s.seen)
		s.seen = totals
		did.Time += since.Time
		did.Accepted += since.Accepted
		did.Running += since.Running
		did.Waiting += since.Waiting
	}
	if did.Time == 0 || v.declared || v.config.Role != optimizer.Whole {
		return calibration.Observation{}
	}
	o := calibration.Observation{
		Window:  queueing.Seconds(c.now - c.observer.worked),
		Rate:    calibration.Of(float64(did.Accepted) / did.Time),
		Running: calibration.Of(did.Running / did.Time), Waiting: calibration.Of(did.Waiting / did.Time),
	}
	if n := float64(w.completed); n > 0 {
		o.InputTokens, o.OutputTokens = calibration.Of(w.input/n), calibration.Of(w.output/n)
		o.InputSCV = calibration.Of(variation(w.input/n, w.inputSquare/n))
		o.OutputSCV = calibration.Of(variation(w.output/n, w.outputSquare/n))
		o.TTFT = calibration.Of(w.ttft / n)
		if w.gaps > 0 {
			o.ITL = calibration.Of(w.gapTime / w.gaps)
		}
		if w.input > 0 {
			o.PrefixHitRatio = calibration.Of(w.cachedTokens / w.input)
		}
	}
	return o
}

// followed are the names of the metrics that the policy of a workload follows, sorted.
func (c *Cluster) followed(w *planner.Workload) []string {
	p := w.Policy
	if p == (planner.Policy{}) {
		p = c.config.Fleet.Control.Policy
	}
	names := map[string]bool{}
	if p.Kthena != nil {
		for _, m := range p.Kthena.Metrics {
			names[m.Name] = true
		}
	}
	if p.HPA != nil {
		for _, m := range p.HPA.Metrics {
			if m.Source == hpa.PodsMetric {
				names[m.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// metrics are those of names that replicas that serve report.
func (c *Cluster) metrics(v *variant, names []string) []planner.MetricValues {
	var all []planner.MetricValues
	for _, name := range names {
		read, ok := podMetric(name)
		if !ok {
			continue
		}
		values := planner.MetricValues{Name: name}
		for _, s := range v.servers {
			if s.phase == Serving {
				status := c.status(s)
				values.Values = append(values.Values, read(&status))
			}
		}
		if len(values.Values) > 0 {
			all = append(all, values)
		}
	}
	return all
}

// podMetric is how a metric of vLLM follows from the status of a replica.
func podMetric(name string) (func(*ReplicaStatus) float64, bool) {
	switch name {
	case "vllm:num_requests_running":
		return func(s *ReplicaStatus) float64 { return float64(s.Running) }, true
	case "vllm:num_requests_waiting":
		return func(s *ReplicaStatus) float64 { return float64(s.Waiting) }, true
	case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc":
		return func(s *ReplicaStatus) float64 { return s.KVUsage }, true
	}
	return nil, false
}
