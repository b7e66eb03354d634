package queueing

import "errors"

// equalCapacity is the relative difference of capacities that is put down to root
// finding.
const equalCapacity = 1e-9

// BestBatchLimit returns the MaxBatch, from 1 to that of the replica, with the highest
// capacity under an SLO, and that capacity; of equally good ones the least. If none is
// feasible, it returns MaxBatch of the replica and why that is not. Errors are those of
// [NewStation] and [Station.Capacity].
//
// A larger batch serves more requests at once, so the rate that a limit on TTFT and
// saturation permit rises with it, while a limit on ITL, which the batch limit kept,
// begins to bind and lets the rate fall again or stay. So capacity has one peak. It is
// searched among the powers of two first and by golden section around the best of
// them, which builds about 2.5·log₂(MaxBatch) stations. Where limits of other kinds, on E2E
// for instance, make more peaks, the result is the best one near a power of two.
func BestBatchLimit(r Replica, s Shape, slo SLO) (maxBatch int, best Capacity, err error) {
	search := batchSearch{replica: r, shape: s, slo: slo}
	most := r.MaxBatch
	best = search.capacity(most)
	maxBatch = most
	for n := 1; n < most && search.err == nil; n *= 2 {
		if c := search.capacity(n); better(c, n, best, maxBatch) {
			maxBatch, best = n, c
		}
	}
	if search.err == nil && best.Feasible {
		maxBatch, best = search.golden(max(maxBatch/2, 1), maxBatch, min(2*maxBatch, most), best)
	}
	return maxBatch, best, search.err
}

// batchSearch asks for capacities until there is an error.
type batchSearch struct {
	replica Replica
	shape   Shape
	slo     SLO
	err     error
}

func (b *batchSearch) capacity(maxBatch int) Capacity {
	b.replica.MaxBatch = maxBatch
	station, err := NewStation(b.replica, b.shape)
	if err != nil {
		b.err = errors.Join(b.err, err)
		return Capacity{}
	}
	c, err := station.Capacity(b.slo)
	b.err = errors.Join(b.err, err)
	return c
}

// better tells whether a capacity with a batch limit is to be preferred to another.
func better(c Capacity, n int, than Capacity, m int) bool {
	slack := Rate(1 - equalCapacity)
	if n < m {
		return c.Feasible && c.Rate >= than.Rate*slack
	}
	return c.Rate*slack > than.Rate
}

// golden narrows low < best < high by golden section.
func (b *batchSearch) golden(low, best, high int, c Capacity) (maxBatch int, peak Capacity) {
	const share = 0.382
	for best-low > 1 || high-best > 1 {
		var n int
		if high-best > best-low {
			n = best + max(int(share*float64(high-best)), 1)
		} else {
			n = best - max(int(share*float64(best-low)), 1)
		}
		at := b.capacity(n)
		if b.err != nil {
			return best, c
		}
		switch preferred := better(at, n, c, best); {
		case preferred && n > best:
			low, best, c = best, n, at
		case preferred:
			high, best, c = best, n, at
		case n > best:
			high = n
		default:
			low = n
		}
	}
	return best, c
}
