package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// DefaultTermination is how long a replica that was removed holds its devices: the
// grace period of Kubernetes.
const DefaultTermination = 30 * time.Second

// Cluster is an imagined cluster. Its clock moves only by [Cluster.Advance]. It is for
// one goroutine.
type Cluster struct {
	// Termination is how long a replica that was removed holds its devices.
	Termination time.Duration
	// Failing are the interfaces that do not answer.
	Failing map[Interface]bool
	// Meanwhile, when not nil, is run once between the next observation and what the
	// loop does about it.
	Meanwhile func() error
	// Paused workloads are those that the controller was asked to keep its hands off.
	Paused map[string]bool

	now       time.Time
	fleet     planner.Fleet // as declared; replicas are those of the beginning
	lost      []int         // devices, per pool
	workloads []workload
	observed  []planner.Observation // last
	// changes are those carried out since the clock moved, and before is how the
	// cluster was before them.
	changes []planner.Change
	before  View
	// moved: somebody else has changed replicas since.
	moved bool
}

// errUnreachable is what interfaces fail with.
var errUnreachable = errors.New("out of reach")

// Interface is one through which the controller sees or changes the cluster.
type Interface string

// The interfaces of a controller.
const (
	Catalog  Interface = "catalog"
	Observer Interface = "metrics"
	Actuator Interface = "actuator"
)

// Cluster implements everything that a controller needs.
var (
	_ controller.Catalog  = (*Cluster)(nil)
	_ controller.Observer = (*Cluster)(nil)
	_ controller.Actuator = (*Cluster)(nil)
)

// workload is what the cluster knows of a workload beside its declaration.
type workload struct {
	demand  Demand
	metrics Metrics
	// lengths are those of requests, where the catalog does not know them.
	lengths lengths
	// waiting requests have found no replica yet, running ones have.
	waiting, running float64
	// lost is how many running ones are lost at the end of the next step.
	lost float64
	// completed is the rate of completions since the last step, in requests/s.
	completed float64
	variants  []variant
}

// NewCluster returns an empty cluster at the given time.
func NewCluster(now time.Time) *Cluster {
	return &Cluster{Termination: DefaultTermination, Failing: map[Interface]bool{}, now: now}
}

// Now is the cluster's own time.
func (c *Cluster) Now() time.Time { return c.now }

// Declare replaces what the fleet declares. What is new has the replicas that it
// declares, and they serve; what was there before keeps its own, and its demand.
func (c *Cluster) Declare(fleet planner.Fleet) error {
	lost := make([]int, len(fleet.Pools))
	for p := range fleet.Pools {
		if i := c.poolIndex(fleet.Pools[p].Name); i >= 0 {
			lost[p] = c.lost[i]
		}
	}
	workloads := make([]workload, len(fleet.Workloads))
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		workloads[i] = workload{demand: Demand{Rate: float64(w.ArrivalRate)}}
		old := slices.IndexFunc(c.fleet.Workloads, func(o planner.Workload) bool { return o.QualifiedName() == w.QualifiedName() })
		if old >= 0 {
			workloads[i] = c.workloads[old]
		}
		workloads[i].variants = make([]variant, len(w.Variants))
		for j := range w.Variants {
			workloads[i].variants[j] = c.declareVariant(old, &w.Variants[j])
		}
	}
	if err := size(fleet, workloads); err != nil {
		return err
	}
	c.fleet, c.lost, c.workloads = fleet, lost, workloads
	c.settle()
	return nil
}

// size finds what replicas complete.
func size(fleet planner.Fleet, workloads []workload) error {
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		w.Shape = workloads[i].lengths.shape(w.Shape)
	}
	sizes, err := planner.New(lp.Simplex()).Capacities(fleet)
	if err != nil {
		return err
	}
	for i := range workloads {
		for j := range workloads[i].variants {
			workloads[i].variants[j].capacity = rate(&sizes[i][j])
		}
	}
	return nil
}

// rate is what a replica completes when it has enough to do.
func rate(s *planner.Size) float64 { return max(float64(s.Saturation), float64(s.Served)) }

// declareVariant returns a variant of the old workload as it is, or a new one, whose
// replicas serve as soon as they have devices.
func (c *Cluster) declareVariant(old int, v *planner.Variant) variant {
	if old >= 0 {
		variants := c.fleet.Workloads[old].Variants
		if j := slices.IndexFunc(variants, func(o planner.Variant) bool { return o.Name == v.Name }); j >= 0 {
			return c.workloads[old].variants[j]
		}
	}
	n := variant{asked: v.CurrentReplicas, startup: v.Startup}
	for range v.CurrentReplicas {
		n.pods = append(n.pods, pod{early: true})
	}
	return n
}

// Advance moves the clock by d: requests arrive and are served, replicas become ready
// and end.
func (c *Cluster) Advance(d time.Duration) {
	for i := range c.workloads {
		c.serve(i, d)
	}
	c.now, c.changes, c.moved = c.now.Add(d), nil, false
	c.settle()
}

// secondsInside is how long a request runs, for the number of those that do.
const secondsInside = 2

// serve lets requests arrive for d, begin to run as fast as ready replicas complete them, and
// end.
func (c *Cluster) serve(i int, d time.Duration) {
	w, seconds := &c.workloads[i], d.Seconds()
	arrived := w.demand.At(c.now) * seconds
	begun := min(arrived+w.waiting, c.Serving(i)*seconds)
	w.waiting += arrived - begun
	inside := w.running + begun
	w.running = min(inside, begun/seconds*secondsInside)
	w.completed = (inside - w.running) / seconds
	w.running, w.lost = max(0, w.running-w.lost), 0
}

// settle brings replicas to where they are asked to be, as far as devices are free.
func (c *Cluster) settle() {
	for i := range c.workloads {
		for j := range c.workloads[i].variants {
			c.workloads[i].variants[j].settle(c.now, c.Termination)
		}
	}
	for i := range c.workloads {
		for j := range c.workloads[i].variants {
			c.schedule(i, j)
		}
	}
}

// schedule gives devices to pending replicas of a variant.
func (c *Cluster) schedule(i, j int) {
	v, declared := &c.workloads[i].variants[j], &c.fleet.Workloads[i].Variants[j]
	for k := range v.pods {
		if v.pods[k].phase != pending {
			continue
		}
		p, ok := c.roomFor(i, declared)
		if !ok {
			return
		}
		v.pods[k].schedule(p, c.now, v.startup, v.stuck)
	}
}

// roomFor finds the cheapest pool with devices for one more replica.
func (c *Cluster) roomFor(i int, v *planner.Variant) (int, bool) {
	order := slices.Clone(v.Pools)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.fleet.Price(v, a), c.fleet.Price(v, b)), cmp.Compare(c.fleet.Pools[a].Name, c.fleet.Pools[b].Name))
	})
	for _, p := range order {
		if c.free(p, c.fleet.Workloads[i].Namespace) >= v.DevicesPerReplica {
			return p, true
		}
	}
	return 0, false
}

// plenty stands for the devices of a pool without a limit.
const plenty = 1 << 30

// free is the number of devices in a pool that a namespace may still take.
func (c *Cluster) free(p int, namespace string) int {
	pool := &c.fleet.Pools[p]
	left := plenty
	if pool.Capacity.Limited {
		left = pool.Capacity.Value - c.lost[p] - c.used(p, func(*planner.Workload) bool { return true })
	}
	for _, q := range pool.Quotas {
		if q.Namespace == namespace {
			used := c.used(p, func(w *planner.Workload) bool { return w.Namespace == namespace })
			left = min(left, q.Devices-used)
		}
	}
	return left
}

// used is the number of devices in a pool that replicas of some workloads hold.
func (c *Cluster) used(p int, of func(*planner.Workload) bool) int {
	n := 0
	for i := range c.workloads {
		w := &c.fleet.Workloads[i]
		if !of(w) {
			continue
		}
		for j := range c.workloads[i].variants {
			n += c.workloads[i].variants[j].holding(p) * w.Variants[j].DevicesPerReplica
		}
	}
	return n
}

// Fleet implements [controller.Catalog].
func (c *Cluster) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	if c.Failing[Catalog] {
		return planner.Fleet{}, nil, fmt.Errorf("API server: %w", errUnreachable)
	}
	return c.current(), nil, nil
}

// current is the declaration with what there is of it.
func (c *Cluster) current() planner.Fleet {
	fleet := c.fleet
	fleet.Pools = slices.Clone(fleet.Pools)
	for p := range fleet.Pools {
		if capacity := &fleet.Pools[p].Capacity; capacity.Limited {
			capacity.Value = max(0, capacity.Value-c.lost[p])
		}
	}
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		if c.workloads[i].lengths.undeclared() {
			w.Shape = queueing.Shape{}
		}
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			v := &c.workloads[i].variants[j]
			w.Variants[j].CurrentReplicas = v.asked
			w.Variants[j].StartingReplicas = v.asked - v.count(ready)
			w.Variants[j].LeavingReplicas = v.count(leaving)
			w.Variants[j].PoolReplicas = make([]int, len(w.Variants[j].Pools))
			for k, p := range w.Variants[j].Pools {
				w.Variants[j].PoolReplicas[k] = v.holding(p)
			}
			if v.profileless {
				w.Variants[j].Replica, w.Variants[j].Capacity = nil, 0
			}
		}
	}
	return fleet
}

// Apply implements [controller.Actuator].
func (c *Cluster) Apply(_ context.Context, changes []planner.Change) []error {
	errs := make([]error, len(changes))
	if len(c.changes) == 0 {
		c.before = c.view()
	}
	for k := range changes {
		if errs[k] = c.apply(&changes[k]); errs[k] == nil {
			c.changes = append(c.changes, changes[k])
			c.settle()
		}
	}
	return errs
}

func (c *Cluster) apply(change *planner.Change) error {
	if c.Failing[Actuator] {
		return fmt.Errorf("API server: %w", errUnreachable)
	}
	i, j, err := c.find(change.Workload, change.Variant)
	if err != nil {
		return err
	}
	v := &c.workloads[i].variants[j]
	if v.asked != change.From {
		return fmt.Errorf("%d replicas are asked for, not %d", v.asked, change.From)
	}
	v.asked = change.To
	return nil
}

// Lose takes devices from a pool, as a node that fails does; a negative number gives
// them back. Replicas that have no device any more are pending.
func (c *Cluster) Lose(pool string, devices int) error {
	p := c.poolIndex(pool)
	if p < 0 {
		return fmt.Errorf("no pool %q", pool)
	}
	if !c.fleet.Pools[p].Capacity.Limited {
		return fmt.Errorf("pool %q has no limit", pool)
	}
	if left := c.fleet.Pools[p].Capacity.Value - c.lost[p]; devices > left {
		return fmt.Errorf("pool %q has %d devices left", pool, left)
	}
	if -devices > c.lost[p] {
		return fmt.Errorf("pool %q has lost %d devices", pool, c.lost[p])
	}
	c.lost[p] += devices
	for lacking := c.free(p, "") < 0; lacking && c.evict(p); {
		lacking = c.free(p, "") < 0
	}
	c.settle()
	return nil
}

// evict takes the devices of one replica in a pool, of the last that has any there.
func (c *Cluster) evict(p int) bool {
	for i := len(c.workloads) - 1; i >= 0; i-- {
		for j := len(c.workloads[i].variants) - 1; j >= 0; j-- {
			if c.workloads[i].variants[j].evict(p) {
				return true
			}
		}
	}
	return false
}

// Ready is the number of replicas of a variant that serve.
func (c *Cluster) Ready(i, j int) int { return c.workloads[i].variants[j].count(ready) }

// Serving is the rate that the ready replicas of a workload can complete, in requests/s.
func (c *Cluster) Serving(i int) float64 {
	var byPhase [3]float64
	for j := range c.workloads[i].variants {
		byPhase[c.fleet.Workloads[i].Variants[j].Role] += float64(c.Ready(i, j)) * c.workloads[i].variants[j].capacity
	}
	return byPhase[0] + min(byPhase[1], byPhase[2])
}

func (c *Cluster) poolIndex(name string) int {
	return slices.IndexFunc(c.fleet.Pools, func(p planner.Pool) bool { return p.Name == name })
}

func (c *Cluster) findWorkload(name string) (int, error) {
	i := slices.IndexFunc(c.fleet.Workloads, func(w planner.Workload) bool { return w.QualifiedName() == name })
	if i < 0 {
		return 0, fmt.Errorf("no workload %q", name)
	}
	return i, nil
}

func (c *Cluster) find(workload, variant string) (i, j int, err error) {
	if i, err = c.findWorkload(workload); err != nil {
		return 0, 0, err
	}
	variants := c.fleet.Workloads[i].Variants
	j = slices.IndexFunc(variants, func(v planner.Variant) bool { return v.Name == variant })
	if j < 0 {
		return 0, 0, fmt.Errorf("no variant %q of workload %q", variant, workload)
	}
	return i, j, nil
}
