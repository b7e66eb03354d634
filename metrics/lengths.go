package metrics

import (
	"maps"
	"math"
	"slices"

	"github.com/poolwright/poolwright/planner"
)

// lengths are what was measured of the lengths of a workload's requests.
type lengths struct {
	input, output, inputSCV, outputSCV planner.Measurement
}

// known tells whether there is a length of prompts and one of outputs.
func (l *lengths) known() bool { return hasValue(l.input) && hasValue(l.output) }

// into puts the lengths into an observation.
func (l *lengths) into(o *planner.Observation) {
	o.InputTokens, o.OutputTokens = l.input, l.output
	o.InputSCV, o.OutputSCV = l.inputSCV, l.outputSCV
}

func hasValue(m planner.Measurement) bool {
	return m.State == planner.Fresh || m.State == planner.Incomplete
}

// lengths are means over the requests of all replicas that report.
func (s *scope) lengths(e *engine) lengths {
	of := func(q quantity) planner.Measurement {
		for _, m := range slices.Concat(e.demand, e.work) {
			if m.quantity == q {
				return s.measure(&m)
			}
		}
		return planner.Measurement{}
	}
	count, answered := of(requests), of(answers)
	if answered.State == planner.Missing {
		answered = count
	}
	l := lengths{input: mean(of(promptSum), count), output: mean(of(outputSum), answered)}
	if s.reported != nil {
		l.inputSCV, l.outputSCV = s.reported.buckets[promptBuckets].variation(), s.reported.buckets[outputBuckets].variation()
	}
	return l
}

// mean is a sum by the number of events that it is of; missing where there were none.
func mean(sum, count planner.Measurement) planner.Measurement {
	switch {
	case !hasValue(count):
		return count
	case !hasValue(sum):
		return sum
	case count.Value == 0:
		return planner.Measurement{}
	case count.State == planner.Incomplete:
		sum.State = planner.Incomplete
	}
	sum.Value /= count.Value
	if !isValid(sum.Value) {
		return planner.Measurement{State: planner.Invalid}
	}
	return sum
}

// buckets are the cumulative counts of a histogram, or rates of them, by upper bound.
type buckets map[float64]float64

// overflow is where the last bucket of a histogram is taken to end, in multiples of where
// it begins.
const overflow = 2

// variation is the squared coefficient of variation of what a histogram counted, with the
// values of a bucket spread evenly over it. It is missing where nothing was counted.
func (b buckets) variation() planner.Measurement {
	var below, count, first, second, low float64
	for _, high := range slices.Sorted(maps.Keys(b)) {
		n := max(0, b[high]-below)
		below = max(below, b[high])
		if math.IsInf(high, 1) {
			high = overflow * low
		}
		count += n
		first += n * (low + high) / 2
		second += n * (low*low + low*high + high*high) / 3
		low = high
	}
	scv := max(0, second*count/(first*first)-1)
	if !isValid(scv) {
		return planner.Measurement{}
	}
	return planner.Measurement{State: planner.Fresh, Value: scv}
}
