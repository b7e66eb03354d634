package resource

import "slices"

// TotalWeight is the sum of the weights that routes get.
const TotalWeight = 100

// Weights returns integers that sum up to [TotalWeight] in proportion to rates, which are
// not negative; nil where all are 0, or there are more than the sum can be shared among.
// What rounding down leaves goes to the largest remainders, of equal ones to the first, and
// whoever has any rate gets at least 1, of what the largest has.
func Weights(rates []float64) []int64 {
	total := 0.0
	for _, r := range rates {
		total += r
	}
	if total <= 0 || len(rates) > TotalWeight {
		return nil
	}
	weights, remainders := make([]int64, len(rates)), make([]float64, len(rates))
	left := int64(TotalWeight)
	for k, r := range rates {
		exact := TotalWeight * r / total
		weights[k] = int64(exact)
		remainders[k] = exact - float64(weights[k])
		left -= weights[k]
	}
	for ; left > 0; left-- {
		k := slices.Index(remainders, slices.Max(remainders))
		weights[k]++
		remainders[k] = -1
	}
	for k, r := range rates {
		if r > 0 && weights[k] == 0 {
			weights[slices.Index(weights, slices.Max(weights))]--
			weights[k]++
		}
	}
	return weights
}

// Sustained is the rate that those ready replicas of a variant sustain that are to stay:
// traffic leaves the others when they are asked to go.
func (o *Outcome) Sustained(variant int) float64 {
	staying := o.Ready[variant]
	if change, ok := o.Carried(variant); ok {
		staying = min(staying, change.To)
	}
	return float64(staying) * float64(o.Plan.Variants[variant].Size.Capacity)
}
