package queueing

// equalCapacity is the relative difference of capacities that is put down to root
// finding.
const equalCapacity = 1e-9

// BestBatchLimit returns the MaxBatch, from 1 to that of the replica, with the highest
// capacity under an SLO, and that capacity; of equally good ones the least. If none is
// feasible, it returns MaxBatch of the replica and why that is not. Errors are those of
// [NewStation] and [Station.Capacity].
//
// A larger batch serves more requests at once, so the rate that a limit on TTFT and
// saturation permit rises with it, while the rate that a limit on ITL permits falls
// where the batch limit kept it, then rises a little again or stays. Capacity, the
// least of these rates, may so have a peak where another limit begins to bind and a
// second, flat one at large batches. The search tries the powers of two, the batches
// between two of them where the limit that binds changes, and by golden section the
// surroundings of every peak among the powers of two. That builds a few times
// log₂(MaxBatch) stations. A peak where the binding limit changes twice between two
// powers of two can escape it.
func BestBatchLimit(r Replica, s Shape, slo SLO) (maxBatch int, best Capacity, err error) {
	search := batchSearch{replica: r, shape: s, slo: slo}
	powers := search.powers()
	peak := powers[len(powers)-1]
	for i, p := range powers {
		low, high := powers[max(i-1, 0)], powers[min(i+1, len(powers)-1)]
		if low.n < p.n {
			peak = peak.or(search.change(low, p))
		}
		if p.capacity.Feasible && p.or(low).n == p.n && p.or(high).n == p.n {
			peak = peak.or(search.golden(low.n, p, high.n))
		}
	}
	return peak.n, peak.capacity, search.err
}

// batchCapacity is the capacity with a batch limit of n.
type batchCapacity struct {
	n        int
	capacity Capacity
}

// or returns the one to be preferred: the higher capacity, or the lesser batch if they
// are equal and feasible.
func (b batchCapacity) or(c batchCapacity) batchCapacity {
	if b.n > c.n {
		b, c = c, b
	}
	if b.capacity.Feasible && b.capacity.Rate >= c.capacity.Rate*(1-equalCapacity) {
		return b
	}
	return c
}

// batchSearch asks for capacities until there is an error.
type batchSearch struct {
	replica Replica
	shape   Shape
	slo     SLO
	err     error
}

// at returns the capacity with a batch limit of n.
func (b *batchSearch) at(n int) batchCapacity {
	if b.err != nil {
		return batchCapacity{n: n}
	}
	b.replica.MaxBatch = n
	station, err := NewStation(b.replica, b.shape)
	if err != nil {
		b.err = err
		return batchCapacity{n: n}
	}
	c, err := station.Capacity(b.slo)
	b.err = err
	return batchCapacity{n, c}
}

// powers returns the powers of two below MaxBatch of the replica, and that.
func (b *batchSearch) powers() []batchCapacity {
	most := b.replica.MaxBatch
	var powers []batchCapacity
	for n := 1; n < most; n *= 2 {
		powers = append(powers, b.at(n))
	}
	return append(powers, b.at(most))
}

// change returns the better of two neighbours between low and high of which only the
// lower is bound as low is; low if high is bound as it is too.
func (b *batchSearch) change(low, high batchCapacity) batchCapacity {
	if low.capacity.boundAs(&high.capacity) {
		return low.or(high)
	}
	first := low.capacity
	for high.n-low.n > 1 {
		middle := b.at((low.n + high.n) / 2)
		if first.boundAs(&middle.capacity) {
			low = middle
		} else {
			high = middle
		}
	}
	return low.or(high)
}

// boundAs tells whether the same limit binds, or saturation in both.
func (c *Capacity) boundAs(d *Capacity) bool {
	return c.Feasible == d.Feasible && c.Bound == d.Bound && c.Binding == d.Binding
}

// golden narrows low ≤ peak ≤ high by golden section.
func (b *batchSearch) golden(low int, peak batchCapacity, high int) batchCapacity {
	const share = 0.382
	for peak.n-low > 1 || high-peak.n > 1 {
		n := peak.n - max(int(share*float64(peak.n-low)), 1)
		if high-peak.n > peak.n-low {
			n = peak.n + max(int(share*float64(high-peak.n)), 1)
		}
		at := b.at(n)
		switch preferred := peak.or(at).n == n; {
		case preferred && n > peak.n:
			low, peak = peak.n, at
		case preferred:
			high, peak = peak.n, at
		case n > peak.n:
			high = n
		default:
			low = n
		}
	}
	return peak
}
