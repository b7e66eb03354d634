package study

import "github.com/poolwright/poolwright/queueing"

// objectiveOfMeans is the share of requests that must be within an SLO that has limits on
// means alone.
const objectiveOfMeans = 0.99

// objective is the share of requests that must be within an SLO: the highest of its
// quantiles; 0 without limits.
func objective(slo queueing.SLO) float64 {
	highest := 0.0
	for _, l := range slo.Limits {
		highest = max(highest, l.Quantile)
	}
	if highest == 0 && len(slo.Limits) > 0 {
		return objectiveOfMeans
	}
	return highest
}
