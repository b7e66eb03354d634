package optimizer

// Relief asks for the smallest increase of the limits of one kind that serves all
// demand and holds all minimums.
type Relief struct {
	// Raise is PoolLimits, QuotaLimits or BudgetLimit.
	Raise LimitKind
	// Weights are what one more device of each pool counts, ≥ 0; nil = 1. They are
	// for PoolLimits.
	Weights []float64
	// Lift drops the limits of the other kinds; otherwise they hold.
	Lift bool
}

// Verdict says whether raising limits of one kind helps.
type Verdict int

const (
	// Enough: the limits are as they should be.
	Enough Verdict = iota
	// Helps: the increase serves all.
	Helps
	// Insufficient: no increase serves all.
	Insufficient
	// Unknown: no increase that serves all was found, nor a proof that none does.
	Unknown
)

// Increase is the answer to a Relief.
type Increase struct {
	Verdict Verdict
	// Pools and Quotas are by how many devices each is raised; pools with nodes by
	// whole nodes. Budget is by how much the budget is.
	Pools, Quotas []int
	Budget        float64
	// Total is the weighted sum of all increases, and the interval in which the
	// least possible one lies; High is that of this increase.
	Total Interval
	// Plan is the cheapest within the raised limits. Unmet demand has no price in
	// it. It is nil unless the verdict is Helps.
	Plan *Solution
}

// Unservable is a workload that no increase of limits serves in full: maximums,
// single mixing or missing capacity keep it from that.
type Unservable struct {
	// Workload is an index into Problem.Workloads.
	Workload int
	// Unmet is what stays unserved, in requests/s, and Shortfall the replicas
	// missing from minimums.
	Unmet     float64
	Shortfall int
}

// Unservable lists the workloads that could not be served in full on unlimited
// devices at any price, in the order of the problem.
func (s *Study) Unservable() ([]Unservable, error) {
	alone, err := s.solveAlone()
	if err != nil {
		return nil, err
	}
	var out []Unservable
	for i, a := range alone.Allocations {
		if a.Unmet > 0 || a.Shortfall > 0 {
			out = append(out, Unservable{Workload: i, Unmet: a.Unmet, Shortfall: a.Shortfall})
		}
	}
	return out, nil
}

// solveAlone solves the problem without limits between workloads.
func (s *Study) solveAlone() (*Solution, error) {
	if s.alone != nil {
		return s.alone, nil
	}
	p := s.problem.copied()
	p.mustServe()
	p.costless()
	for g := range p.Pools {
		p.Pools[g].Limited = false
	}
	p.Quotas, p.BudgetPerHour = nil, 0
	var err error
	s.alone, err = s.solve(p)
	return s.alone, err
}

// Increase finds the smallest increase of limits. What Unservable lists is left out
// of the demand and of the minimums.
func (s *Study) Increase(r Relief) (*Increase, error) {
	goal, err := s.goal(r)
	if err != nil {
		return nil, err
	}
	if r.Raise == BudgetLimit {
		return s.increaseBudget(goal)
	}
	e := newElastic(goal, r)
	most, err := s.solve(e.ample())
	if err != nil {
		return nil, err
	}
	if most.Demand != Served {
		return &Increase{Verdict: most.verdict()}, nil
	}
	e.addPackets(e.cost(most))
	least, err := s.solve(e.problem)
	if err != nil {
		return nil, err
	}
	if least.Demand != Served {
		return &Increase{Verdict: Unknown}, nil
	}
	increase := e.increase(goal, least)
	if increase.Verdict == Enough {
		return increase, nil
	}
	if increase.Plan, err = s.solve(increase.raised(goal)); err != nil {
		return nil, err
	}
	return increase, nil
}

// verdict judges a solution with unlimited increases that does not serve all.
func (s *Solution) verdict() Verdict {
	for _, l := range s.Levels {
		if l.Bound > 0 {
			return Insufficient
		}
	}
	return Unknown
}

// goal is the problem of serving all that can be served, whatever it costs.
func (s *Study) goal(r Relief) (*Problem, error) {
	alone, err := s.solveAlone()
	if err != nil {
		return nil, err
	}
	p := s.problem.copied()
	p.mustServe()
	for i, a := range alone.Allocations {
		w := &p.Workloads[i]
		w.waive(a.Unmet)
		if a.Shortfall > 0 {
			w.relaxMinimums(totals(a.Replicas))
		}
	}
	if r.Lift && r.Raise != PoolLimits {
		for g := range p.Pools {
			p.Pools[g].Limited = false
		}
	}
	if r.Lift && r.Raise != QuotaLimits {
		p.Quotas = nil
	}
	if r.Lift || r.Raise == BudgetLimit {
		p.BudgetPerHour = 0
	}
	return p, nil
}

// increaseBudget finds the least price at which all is served.
func (s *Study) increaseBudget(goal *Problem) (*Increase, error) {
	for i := range goal.Workloads {
		for j := range goal.Workloads[i].Variants {
			goal.Workloads[i].Variants[j].SwitchUp, goal.Workloads[i].Variants[j].SwitchDown = 0, 0
		}
	}
	plan, err := s.solve(goal)
	if err != nil {
		return nil, err
	}
	budget := s.problem.BudgetPerHour
	switch over := plan.Objective - budget; {
	case plan.Demand != Served:
		return &Increase{Verdict: plan.verdict()}, nil
	case budget == 0 || over <= tolerance*budget:
		return &Increase{}, nil
	default:
		return &Increase{Verdict: Helps, Budget: over, Total: Interval{max(0, plan.Bound-budget), over}, Plan: plan}, nil
	}
}
