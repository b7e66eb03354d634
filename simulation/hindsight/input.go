package hindsight

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Window is a time with constant arrival rates.
type Window struct {
	// Length is > 0.
	Length time.Duration
	// Rates are those of the workloads, in the order of the fleet; finite and ≥ 0.
	Rates []queueing.Rate
	// Capacities are those of [Input] in this window, where requests have other lengths than
	// at other times; nil = as at all times.
	Capacities [][]queueing.Rate
}

// Input is what is known.
type Input struct {
	// Fleet has in CurrentReplicas what serves at the beginning. Its arrival rates,
	// redundancy, penalties, switching costs and budget do not count.
	Fleet planner.Fleet
	// Capacities are what a replica of each variant sustains, in requests/s, by workload
	// and variant, 0 where it sustains nothing; nil = what the planner sizes within the SLO at the lengths of the load.
	Capacities [][]queueing.Rate
	// Windows follow each other.
	Windows []Window
	// From is the time from the beginning that is not paid for.
	From time.Duration
	// Engine solves linear programs; nil is the one of package optimizer.
	Engine lp.Engine
}

func (in *Input) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("hindsight: "+format, args...))
		}
	}
	check(in.From >= 0, "from: %v < 0", in.From)
	for t, w := range in.Windows {
		check(w.Length > 0, "windows[%d].length: %v is not > 0", t, w.Length)
		check(len(w.Rates) == len(in.Fleet.Workloads), "windows[%d].rates: %d for %d workloads", t, len(w.Rates), len(in.Fleet.Workloads))
		for i, r := range w.Rates {
			check(r >= 0 && !math.IsInf(float64(r), 1), "windows[%d].rates[%d]: %v is not a rate", t, i, float64(r))
		}
		errs = append(errs, in.validateCapacities(w.Capacities, fmt.Sprintf("windows[%d].capacities", t)))
	}
	errs = append(errs, in.validateCapacities(in.Capacities, "capacities"))
	return errors.Join(errs...)
}

// validateCapacities checks capacities, if there are any, that are given at a path.
func (in *Input) validateCapacities(all [][]queueing.Rate, path string) error {
	if all == nil {
		return nil
	}
	if len(all) != len(in.Fleet.Workloads) {
		return fmt.Errorf("hindsight: %s: of %d workloads for %d", path, len(all), len(in.Fleet.Workloads))
	}
	var errs []error
	for i, capacities := range all {
		if n := len(in.Fleet.Workloads[i].Variants); len(capacities) != n {
			errs = append(errs, fmt.Errorf("hindsight: %s[%d]: of %d variants for %d", path, i, len(capacities), n))
		}
		for j, c := range capacities {
			if !(c >= 0) || math.IsInf(float64(c), 1) {
				errs = append(errs, fmt.Errorf("hindsight: %s[%d][%d]: %v is not a rate", path, i, j, float64(c)))
			}
		}
	}
	return errors.Join(errs...)
}

// problem is the fleet as a program whose cost is the price of replicas, without demand, at
// capacities; nil = those that the planner sizes.
func (in *Input) problem(capacities [][]queueing.Rate) (*optimizer.Problem, error) {
	f := in.Fleet
	f.Workloads = slices.Clone(f.Workloads)
	f.Objective.BudgetPerHour = 0
	for i := range f.Workloads {
		w := &f.Workloads[i]
		w.Redundancy, w.Penalized = 0, false
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			v := &w.Variants[j]
			v.SwitchUp, v.SwitchDown = 0, 0
			if capacities != nil {
				v.Replica, v.Capacity = nil, capacities[i][j]
			}
		}
	}
	sizes, err := planner.New(in.Engine).Capacities(f)
	if err != nil {
		return nil, fmt.Errorf("hindsight: %w", err)
	}
	return f.Problem(sizes), nil
}

// windows are p with the capacities and the demand of each window.
func (in *Input) windows(p *optimizer.Problem) ([]*optimizer.Problem, error) {
	all := make([]*optimizer.Problem, len(in.Windows))
	for t, w := range in.Windows {
		of := p
		if w.Capacities != nil {
			var err error
			if of, err = in.problem(w.Capacities); err != nil {
				return nil, err
			}
		}
		all[t] = with(of, w.Rates)
	}
	return all, nil
}

// with is the problem with the demand of some rates.
func with(p *optimizer.Problem, rates []queueing.Rate) *optimizer.Problem {
	q := *p
	q.Workloads = slices.Clone(p.Workloads)
	for i := range q.Workloads {
		q.Workloads[i].Demand = float64(rates[i])
	}
	return &q
}

// Plans are proven within gap, or as far as so much effort proves them; their bounds hold
// in any case.
const (
	gap    = 1e-6
	effort = 100_000
)

func (in *Input) solve(p *optimizer.Problem, stop func() bool) (*optimizer.Solution, error) {
	return optimizer.Solve(p, optimizer.Options{RelativeGap: gap, Effort: effort, Stop: stop, LP: in.Engine})
}

// alone plans every window by itself, equal windows once.
func (in *Input) alone(windows []*optimizer.Problem, stop func() bool) ([]*optimizer.Solution, error) {
	plans := make([]*optimizer.Solution, len(in.Windows))
	errs := make([]error, len(in.Windows))
	first := in.firstEqual()
	parallel.Blocks(len(plans), 1, func(_, from, to int) {
		for t := from; t < to; t++ {
			if first[t] == t {
				plans[t], errs[t] = in.solve(windows[t], stop)
			}
		}
	})
	for t := range plans {
		plans[t] = plans[first[t]]
	}
	return plans, errors.Join(errs...)
}

// firstEqual is the first window with the same rates and capacities, for each.
func (in *Input) firstEqual() []int {
	first := make([]int, len(in.Windows))
	seen := map[string]int{}
	for t := range in.Windows {
		key := fmt.Sprint(in.Windows[t].Rates, in.Windows[t].Capacities)
		if _, ok := seen[key]; !ok {
			seen[key] = t
		}
		first[t] = seen[key]
	}
	return first
}
