package hindsight

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Step is a number of replicas of a variant that is asked for from a time on.
type Step struct {
	// At is counted from the beginning.
	At       time.Duration
	Replicas int
}

// Schedule is what to ask for and when, and what it costs at least.
type Schedule struct {
	// Bound is the least that anybody pays who serves every window's rate, and Cost what
	// the schedule does, in the currency of the fleet, from [Input.From] on.
	Bound, Cost float64
	// DeviceSeconds are those of the schedule, and ServingDeviceSeconds the part of them in
	// which replicas serve that are needed: the rest is start-ups, and idle replicas that
	// are kept.
	DeviceSeconds, ServingDeviceSeconds float64
	// Unserved is the time of windows whose rates the pools cannot serve.
	Unserved time.Duration
	// Serving is what serves in each window, by window, workload and variant.
	Serving [][][]int
	// Steps are by workload and variant, in order of time.
	Steps [][][]Step
	// Static are the cheapest constant numbers of replicas for the highest rates that the
	// workloads have in any window, by workload and variant, and StaticPricePerHour is what
	// they cost.
	Static             [][]int
	StaticPricePerHour float64
}

// Find returns the schedule. When stop, which may be nil, fires, plans need not be the
// cheapest any more; the bound holds. The error is one of the input.
func Find(in Input, stop func() bool) (*Schedule, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	p, err := in.problem(in.Capacities)
	if err != nil {
		return nil, err
	}
	windows, err := in.windows(p)
	if err != nil {
		return nil, err
	}
	alone, err := in.alone(windows, stop)
	if err != nil {
		return nil, fmt.Errorf("hindsight: %w", err)
	}
	plans, err := in.plans(windows, alone, stop)
	if err != nil {
		return nil, fmt.Errorf("hindsight: %w", err)
	}
	s := &Schedule{}
	spans := in.spans()
	for t, plan := range plans {
		s.Serving = append(s.Serving, serving(plan))
		hours := in.paid(spans[t]).Hours()
		s.Cost += plan.PricePerHour * hours
		s.Bound += alone[t].Bound * hours
		if alone[t].Demand != optimizer.Served {
			s.Unserved += in.Windows[t].Length
		}
	}
	in.schedule(s, p)
	return s, in.static(s, p, stop)
}

// plans are those that the schedule follows: alone where every workload has one variant.
func (in *Input) plans(windows []*optimizer.Problem, alone []*optimizer.Solution, stop func() bool) ([]*optimizer.Solution, error) {
	if !slices.ContainsFunc(in.Fleet.Workloads, func(w planner.Workload) bool { return len(w.Variants) > 1 }) {
		return alone, nil
	}
	plans := make([]*optimizer.Solution, len(alone))
	before := in.current()
	for t := range plans {
		var err error
		if plans[t], err = in.solve(in.switching(windows[t], t, before), stop); err != nil {
			return nil, err
		}
		before = serving(plans[t])
	}
	return plans, nil
}

// switching is p with the price of start-ups in window t after what served before.
func (in *Input) switching(p *optimizer.Problem, t int, before [][]int) *optimizer.Problem {
	for i := range p.Workloads {
		w := &p.Workloads[i]
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			v := &w.Variants[j]
			v.CurrentReplicas = before[i][j]
			v.SwitchUp = price(v) * float64(in.startup(i, j)) / float64(in.Windows[t].Length)
		}
	}
	return p
}

func (in *Input) current() [][]int {
	current := make([][]int, len(in.Fleet.Workloads))
	for i := range in.Fleet.Workloads {
		for j := range in.Fleet.Workloads[i].Variants {
			current[i] = append(current[i], in.Fleet.Workloads[i].Variants[j].CurrentReplicas)
		}
	}
	return current
}

func (in *Input) startup(i, j int) time.Duration { return in.Fleet.Workloads[i].Variants[j].Startup }

// price of a replica per hour, where it is cheapest.
func price(v *optimizer.Variant) float64 {
	least := math.Inf(1)
	for _, p := range v.Placements {
		least = min(least, p.PricePerHour)
	}
	return least
}

// serving is the number of replicas of each variant in a plan.
func serving(plan *optimizer.Solution) [][]int {
	counts := make([][]int, len(plan.Allocations))
	for i, a := range plan.Allocations {
		counts[i] = make([]int, len(a.Replicas))
		for j, placements := range a.Replicas {
			for _, n := range placements {
				counts[i][j] += n
			}
		}
	}
	return counts
}

// schedule finds gaps and start-ups of every variant, and adds them up.
func (in *Input) schedule(s *Schedule, p *optimizer.Problem) {
	for i := range p.Workloads {
		variants := p.Workloads[i].Variants
		s.Steps = append(s.Steps, make([][]Step, len(variants)))
		for j := range variants {
			v := in.variant(s, i, j)
			stays := v.stays()
			paid, needed := v.total(stays), v.total(v.needed())
			s.Steps[i][j] = steps(stays)
			extra := price(&variants[j]) * (paid - needed).Hours()
			s.Cost += extra
			if len(variants) == 1 {
				s.Bound += extra
			}
			devices := float64(variants[j].DevicesPerReplica)
			s.DeviceSeconds += devices * paid.Seconds()
			s.ServingDeviceSeconds += devices * needed.Seconds()
		}
	}
}

// static plans for the highest rate of each workload, where capacities change for what
// takes as many replicas of the variant that it takes the most of.
func (in *Input) static(s *Schedule, p *optimizer.Problem, stop func() bool) error {
	peak := make([]queueing.Rate, len(in.Fleet.Workloads))
	for _, w := range in.Windows {
		for i, r := range w.Rates {
			if w.Capacities == nil {
				peak[i] = max(peak[i], r)
				continue
			}
			for j, c := range w.Capacities[i] {
				if c == 0 {
					continue
				}
				peak[i] = max(peak[i], r*queueing.Rate(p.Workloads[i].Variants[j].Capacity)/c)
			}
		}
	}
	plan, err := in.solve(with(p, peak), stop)
	if err != nil {
		return fmt.Errorf("hindsight: %w", err)
	}
	s.Static, s.StaticPricePerHour = serving(plan), plan.PricePerHour
	return nil
}
