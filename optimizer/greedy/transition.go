package greedy

// transitionFactor is what a change of accelerator costs, as a share of both
// allocations (AccelPenaltyFactor of the inferno family).
const transitionFactor = 0.1

// allocation is replicas on one accelerator.
type allocation struct {
	accelerator string
	replicas    int
	// cost is per hour.
	cost float64
}

// transitionPenalty is the value of a candidate, the less the better: what its
// price adds to that of today, and more for a change of accelerator.
func transitionPenalty(from, to allocation) float64 {
	switch {
	case from.accelerator != to.accelerator:
		return transitionFactor*(from.cost+to.cost) + (to.cost - from.cost)
	case from.replicas == to.replicas:
		return 0
	}
	return to.cost - from.cost
}
