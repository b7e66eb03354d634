package optimizer

// Outcome is what a plan leaves unserved in one scenario.
type Outcome struct {
	// Unmet is in requests/s, by workload.
	Unmet []float64
	// Demand is that of all workloads, and Total what is unmet of it.
	Demand, Total float64
	// Penalty is the price of it per hour, for the workloads that have one.
	Penalty float64
}

// Exposure is what a plan leaves unserved over all scenarios.
type Exposure struct {
	// Cost is price + switching, per hour, which is the same in every scenario.
	Cost float64
	// Outcomes are in the order of the scenarios.
	Outcomes []Outcome
	// Served is the probability that all demand is served.
	Served float64
	// ExpectedUnmet, in requests/s, and ExpectedPenalty, per hour, are means over
	// the scenarios, weighted by their probability.
	ExpectedUnmet, ExpectedPenalty float64
	// WorstUnmet and WorstPenalty are the highest of any scenario.
	WorstUnmet, WorstPenalty float64
}

// Exposure works out what a plan leaves unserved in each scenario, from the problem
// alone. The shape of replicas is that of Evaluate; problem and robustness must be
// valid.
func (p *Problem) Exposure(replicas [][][]int, r *Robustness) (Exposure, error) {
	idle := p.withDemand(make([]float64, len(p.Workloads)))
	evaluation, err := idle.Evaluate(replicas)
	if err != nil {
		return Exposure{}, err
	}
	e := Exposure{Cost: evaluation.Objective, Outcomes: make([]Outcome, len(r.Scenarios))}
	probabilities := r.probabilities()
	var served, unmet, penalties []float64
	for s, left := range p.unmetIn(replicas, r.Scenarios) {
		outcome := p.outcome(left, r.Scenarios[s].Demand)
		e.Outcomes[s] = outcome
		if outcome.Total == 0 {
			served = append(served, probabilities[s])
		}
		unmet = append(unmet, probabilities[s]*outcome.Total)
		penalties = append(penalties, probabilities[s]*outcome.Penalty)
		e.WorstUnmet = max(e.WorstUnmet, outcome.Total)
		e.WorstPenalty = max(e.WorstPenalty, outcome.Penalty)
	}
	e.Served, e.ExpectedUnmet, e.ExpectedPenalty = min(1, sum(served)), sum(unmet), sum(penalties)
	return e, nil
}

func (p *Problem) outcome(unmet, demand []float64) Outcome {
	o := Outcome{Unmet: unmet, Demand: sum(demand), Total: sum(unmet)}
	var penalties []float64
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.Penalized {
			penalties = append(penalties, w.UnmetPenalty*unmet[i])
		}
	}
	o.Penalty = sum(penalties)
	return o
}
