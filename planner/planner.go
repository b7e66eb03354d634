package planner

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/queueing"
)

// Planner is the pipeline. It is immutable and may be used by many goroutines.
type Planner struct {
	engine  lp.Engine
	stages  []stage
	awaited func() bool // nil = always
}

// stage is one step of the pipeline: it reads and completes the cycle.
type stage struct {
	name string
	run  func(*cycle) error
}

// cycle is one decision in the making.
type cycle struct {
	snapshot Snapshot
	memory   Memory
	fleet    Fleet // demand planned for in place of declared
	held     []bool
	planned  []int // those not held, in the order of free
	// Only the loop observes: what is known, expected, permitted and remembered, by
	// workload.
	observations map[string]*Observation
	pauses       map[string]*Pause
	seen         []seen
	expected     []*Expectation
	permitted    []permitted
	next         []*WorkloadMemory
	conditions   [][]Condition
	// robustness has the demands that may come; workloads are all of the fleet's.
	robustness optimizer.Robustness
	// sustained is what replicas sustain, and sizes that of which a sensible number
	// serves the demand. Stations are those that were made on the way.
	sustained, sizes [][]Size
	stations         [][]*queueing.Station
	// problem is the whole fleet as an integer program. The solver gets what the
	// held workloads leave of it, free. Of its solutions wanted is the cheapest, and
	// result that within what policies permit; solved is its plan.
	problem, free  *optimizer.Problem
	heldUse        *heldUse
	wanted, result *optimizer.RobustSolution
	solved         *optimizer.Solution
	start, inside  *optimizer.Start // of the solver; then of the next cycle's
	headroom       *optimizer.Headroom
	placement      *placement // made by placed
	decision       Decision
	stop           func() bool
	awaited        func() bool
	stopped        atomic.Bool // stop has fired
	stage          string
	// answers are the solver's so far, taken from recorded where that is not nil.
	answers, recorded []*optimizer.RobustSolution
}

// New returns the pipeline; engine solves the linear programs inside the solver.
func New(engine lp.Engine) *Planner {
	return &Planner{engine: engine, stages: []stage{
		{"observe", observe},
		{"calibrate", calibrate},
		{"size", size},
		{"forecast", anticipateDemand},
		{"anticipate", anticipate},
		{"qualify", qualify},
		{"solve", solveStage(engine)},
		{"permit", permitStage(engine)},
		{"adopt", adopt},
		{"predict", predict},
		{"explain", explain},
		{"order", order},
	}}
}

// ErrUnwanted is the error of a decision that nobody wants any more.
var ErrUnwanted = errors.New("planner: the decision is not wanted any more")

// While returns a pipeline like p whose decisions are given up with [ErrUnwanted] soon after
// wanted returns false. Many goroutines call it at a time. What stops a search only leaves
// something to return; this leaves nothing.
func (p *Planner) While(wanted func() bool) *Planner {
	q := *p
	q.awaited = wanted
	return &q
}

// Plan makes one decision. The search for a plan ends early when stop, which may
// be nil, returns true; the decision then holds the best plan found.
//
// The errors are those of a fleet that breaks the rules of its types.
func (p *Planner) Plan(s Snapshot, m Memory, stop func() bool) (Decision, Memory, error) {
	return p.newCycle(s, m, stop).run(p.stages)
}

// Evaluate predicts the fleet as it stands: current replicas, traffic shared by
// capacity, nothing optimised.
func (p *Planner) Evaluate(s Snapshot, m Memory) (Decision, Memory, error) {
	return p.newCycle(s, m, nil).run([]stage{
		{"observe", observe},
		{"size", size},
		{"anticipate", anticipate},
		{"qualify", qualify},
		{"keep", keep},
		{"predict", predict},
	})
}

// Capacities returns what one replica of each variant sustains, workloads and
// variants in the order of the fleet.
func (p *Planner) Capacities(f Fleet) ([][]Size, error) {
	return f.sizes(p.awaited)
}

// sizes are those of every variant, while they are wanted.
func (f Fleet) sizes(wanted func() bool) ([][]Size, error) {
	c := cycle{fleet: f, awaited: wanted}
	if err := size(&c); err != nil {
		return nil, err
	}
	err := qualify(&c)
	return c.sizes, err
}

func (p *Planner) newCycle(s Snapshot, m Memory, stop func() bool) *cycle {
	c := &cycle{snapshot: s, memory: m, fleet: s.Fleet, start: m.start, inside: m.inside, awaited: p.awaited}
	c.stop = c.stopping(stop)
	return c
}

// run takes a cycle through the stages; where that fails, memory stays as it was.
func (c *cycle) run(stages []stage) (Decision, Memory, error) {
	if err := c.fleet.validate(); err != nil {
		return Decision{}, c.memory, err
	}
	for _, st := range stages {
		c.stage = st.name
		if err := st.run(c); err != nil {
			return Decision{}, c.memory, err
		}
		if c.unwanted() {
			return Decision{}, c.memory, ErrUnwanted
		}
	}
	c.decision.At = c.snapshot.Now
	c.decision.Fleet = c.fleet
	if c.recorded != nil || c.stopped.Load() {
		c.decision.Answers = c.answers
	}
	return c.decision, c.remember(), nil
}

// unwanted tells whether nobody wants the decision any more.
func (c *cycle) unwanted() bool { return c.awaited != nil && !c.awaited() }

// step appends to the decision's trail.
func (c *cycle) step(subject, before, after, reason string) {
	c.decision.Trail = append(c.decision.Trail, Step{
		Stage: c.stage, Subject: subject, Before: before, After: after, Reason: reason,
	})
}

// size is the stage that computes what a replica of every variant sustains.
func size(c *cycle) error {
	n := len(c.fleet.Workloads)
	c.sustained, c.stations = make([][]Size, n), make([][]*queueing.Station, n)
	variants := 0
	for i := range c.fleet.Workloads {
		if c.sustained[i] = c.unsized(i); c.sustained[i] != nil {
			continue
		}
		if c.sustained[i] = c.lastSizes(i); c.sustained[i] == nil {
			variants += len(c.fleet.Workloads[i].Variants)
		}
	}
	sizings, sizer := make([][][]int, n), newSizer(variants)
	for i := range c.fleet.Workloads {
		if c.sustained[i] == nil {
			sizings[i] = sizer.add(&c.fleet.Workloads[i])
		}
	}
	if !sizer.run(c.unwanted) {
		return ErrUnwanted
	}
	var errs []error
	for i := range c.fleet.Workloads {
		if c.sustained[i] == nil {
			errs = append(errs, c.sizeWorkload(i, sizer, sizings[i]))
		}
	}
	return errors.Join(errs...)
}

// qualify is the stage that leaves out variants of which no sensible number serves the
// demand, says which sustain nothing, and does not take measured lengths at their word.
func qualify(c *cycle) error {
	c.sizes = make([][]Size, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		w, highest := &c.fleet.Workloads[i], c.highest(i)
		c.sizes[i] = slices.Clone(c.sustained[i])
		if share := c.efficiency(i); share < 1 {
			for j := range c.sizes[i] {
				c.sizes[i][j] = c.sizes[i][j].times(share)
			}
		}
		c.keepLoaded(i)
		for j := range w.Variants {
			c.sizes[i][j] = c.sizes[i][j].useful(highest, w.Shapes)
			if reason := c.sizes[i][j].Reason; reason != "" {
				c.step(w.QualifiedName()+"/"+w.Variants[j].Name, "", "0 requests/s per replica", reason)
			}
		}
	}
	return nil
}

// unsized are the sizes of a workload that the loop holds as nobody knows the lengths of
// its requests; nil for others.
func (c *cycle) unsized(i int) []Size {
	w := &c.fleet.Workloads[i]
	if !c.loop() || !w.lengthless() {
		return nil
	}
	return slices.Repeat([]Size{{Binding: "outputTokens", Reason: "the lengths of its requests are not known"}}, len(w.Variants))
}

// sizeWorkload takes the sizes of a workload's variants from the sizer.
func (c *cycle) sizeWorkload(i int, s *sizer, sizings [][]int) error {
	w := &c.fleet.Workloads[i]
	c.sustained[i], c.stations[i] = make([]Size, len(w.Variants)), make([]*queueing.Station, len(w.Variants))
	var errs []error
	for j := range w.Variants {
		var err error
		if c.sustained[i][j], err = s.size(w, j, sizings[j]); err != nil {
			errs = append(errs, &VariantError{Workload: i, Variant: j, Err: err})
			continue
		}
		c.stations[i][j] = s.station(w, sizings[j])
	}
	return errors.Join(errs...)
}

// VariantError is a variant that can't be sized.
type VariantError struct {
	// Workload and Variant are indices into the fleet.
	Workload, Variant int
	Err               error
}

// Error names the variant by its path in the fleet.
func (e *VariantError) Error() string {
	return fmt.Sprintf("planner: workloads[%d].variants[%d]: %v", e.Workload, e.Variant, e.Err)
}

// Unwrap returns the cause.
func (e *VariantError) Unwrap() error { return e.Err }
