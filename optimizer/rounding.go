package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// fraction is the share of a configuration of a workload in the fractional solution
// behind the model of a bundle.
type fraction struct {
	pick  int32
	share float64
}

// heaviest is the configuration of the largest share, or another one where there is none.
func heaviest(fractions []fraction, otherwise int32) int32 {
	pick, most := otherwise, 0.0
	for _, f := range fractions {
		if f.share > most {
			pick, most = f.pick, f.share
		}
	}
	return pick
}

// undecided is a workload with several configurations in the fractional solution.
type undecided struct {
	workload  int
	fractions []fraction
	// choices are those configurations and others around their mean.
	choices []int32
	spread  float64
}

// rounded is an assignment next to the fractional solution. Workloads with several
// configurations get one after the other, those that matter most first, the one that keeps
// the use of all rows so far nearest to that of the fractional solution (error diffusion,
// Floyd and Steinberg 1976): what is left over in the end is what the last and least ones
// could not settle. One unit of use off counts for offShare of its price.
func (b *bundle) rounded(offShare float64) []int32 {
	picks := slices.Clone(b.value.cut.picks)
	units := b.units()
	open := b.undecided(units)
	for i := range picks {
		if pick, common := b.common(i); common {
			picks[i] = pick
		}
	}
	missing := make([]float64, len(b.l.rows))
	for k := range open {
		o := &open[k]
		o.choices = b.aroundMean(o.workload, o.fractions)
		picks[o.workload] = b.nearest(o, missing, units, offShare)
		if !b.l.budget.goOn(1) {
			break // the others keep what costs least
		}
	}
	return picks
}

// undecided are the workloads with several configurations in the fractional solution, those whose
// use they change most first.
func (b *bundle) undecided(units []float64) []undecided {
	var open []undecided
	for i := range b.l.workloads {
		if _, common := b.common(i); !common {
			fractions := b.fractions(i)
			open = append(open, undecided{workload: i, fractions: fractions, spread: b.spread(i, fractions, units)})
		}
	}
	slices.SortStableFunc(open, func(a, b undecided) int { return cmp.Compare(b.spread, a.spread) })
	return open
}

// common says whether all cuts with weight have the same configuration of workload i.
func (b *bundle) common(i int) (pick int32, common bool) {
	pick = b.value.cut.picks[i]
	first := true
	for k, weight := range b.weights {
		if weight <= leastWeight {
			continue
		}
		if at := b.cuts[k].picks[i]; first {
			pick, first = at, false
		} else if at != pick {
			return pick, false
		}
	}
	return pick, true
}

// leastWeight is the weight of a cut that counts.
const leastWeight = 1e-9

// fractions are the configurations of workload i with their shares.
func (b *bundle) fractions(i int) []fraction {
	var fractions []fraction
	for k, weight := range b.weights {
		if weight <= leastWeight {
			continue
		}
		pick := b.cuts[k].picks[i]
		if f := slices.IndexFunc(fractions, func(f fraction) bool { return f.pick == pick }); f >= 0 {
			fractions[f].share += weight
		} else {
			fractions = append(fractions, fraction{pick, weight})
		}
	}
	return fractions
}

// roundings limits the configurations around a mean, at most nearMean replicas of each item from it,
// and roundingSteps the search for them.
const (
	roundings     = 256
	roundingSteps = 5000
	nearMean      = 2
)

// aroundMean adds the configurations near the mean replicas of the fractions
// to the fractions themselves: a workload of many replicas need not move as a whole.
func (b *bundle) aroundMean(i int, fractions []fraction) []int32 {
	var choices []int32
	for _, f := range fractions {
		choices = append(choices, f.pick)
	}
	l := b.l
	w := &l.workloads[i]
	if w.single || w.tenant != nil {
		return choices
	}
	lo, hi := make([]int32, w.items), make([]int32, w.items)
	dearest := 0.0
	for item := range lo {
		mean := 0.0
		for _, f := range fractions {
			mean += f.share * float64(l.columns[i].x(f.pick)[item])
		}
		least, most := l.lo[w.firstItem+item], l.hi[w.firstItem+item]
		lo[item] = max(least, int32(math.Floor(mean+1e-9))-nearMean)
		hi[item] = min(most, int32(math.Ceil(mean-1e-9))+nearMean)
		if mean > 0 {
			dearest = max(dearest, w.priced(&w.places[item], b.prices))
		}
	}
	var columns []column
	reach, complete := dearest, false
	for try := 0; try < 6 && !complete; try++ {
		columns, complete = l.pricer.enumerate(w, lo, hi, b.prices, b.value.values[i]+reach, enumerationLimit{columns: roundings, steps: roundingSteps})
		l.budget.spend(l.pricer.steps / stepsPerEffort)
		reach /= 2
	}
	for k := range columns {
		if index, ok := l.intern(i, columns[k].x); ok && !slices.Contains(choices, index) {
			choices = append(choices, index)
		}
	}
	return choices
}

// units are prices of the rows for comparing errors in use; none is 0.
func (b *bundle) units() []float64 {
	units := slices.Clone(b.prices)
	for r := range units {
		units[r] += 1e-3 * b.scale[r]
	}
	return units
}

// spread is the largest difference in use among the fractions, priced.
func (b *bundle) spread(i int, fractions []fraction, units []float64) float64 {
	spread := 0.0
	for n, r := range b.l.workloads[i].rows {
		least, most := math.Inf(1), math.Inf(-1)
		for _, f := range fractions {
			use := b.l.columns[i].entries(f.pick).use()[n]
			least, most = min(least, use), max(most, use)
		}
		spread += (most - least) * units[r]
	}
	return spread
}

// nearest picks the configuration with the least of its excess over the cheapest and what is
// missing afterwards: what the picks so far use less than their fractions.
func (b *bundle) nearest(o *undecided, missing, units []float64, offShare float64) int32 {
	w, columns := &b.l.workloads[o.workload], &b.l.columns[o.workload]
	for n, r := range w.rows {
		for _, f := range o.fractions {
			missing[r] += f.share * columns.entries(f.pick).use()[n]
		}
	}
	best, least := o.choices[0], math.Inf(1)
	for _, pick := range o.choices {
		of := columns.entries(pick)
		cost := w.reduced(of, b.prices)
		for n, r := range w.rows {
			cost += offShare * math.Abs(missing[r]-of.use()[n]) * units[r]
		}
		if cost < least {
			best, least = pick, cost
		}
	}
	for n, r := range w.rows {
		missing[r] -= columns.entries(best).use()[n]
	}
	return best
}
