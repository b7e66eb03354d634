package simulation

import "math"

// race tells which of many is due first, by a tournament: a complete binary tree whose
// leaves are moments, and each of whose other nodes is the earlier of its two children; of
// equals the one with the smaller index. A moment changes in at most log₂ n steps.
type race struct {
	// moments are the leaves, a power of two of them.
	moments []float64
	// winners[1] is the first of all; the children of node i are 2i and 2i+1.
	winners []int32
}

// grow makes room for the indices below n. New moments are +Inf.
func (r *race) grow(n int) {
	if n <= len(r.moments) {
		return
	}
	size := max(1, len(r.moments))
	for size < n {
		size *= 2
	}
	for len(r.moments) < size {
		r.moments = append(r.moments, math.Inf(1))
	}
	r.winners = make([]int32, 2*size)
	for i := range size {
		r.winners[size+i] = int32(i)
	}
	for i := size - 1; i > 0; i-- {
		r.winners[i] = r.play(i)
	}
}

// play is the winner of an inner node.
func (r *race) play(node int) int32 {
	left, right := r.winners[2*node], r.winners[2*node+1]
	if r.moments[right] < r.moments[left] {
		return right
	}
	return left
}

// set changes a moment.
func (r *race) set(i int32, moment float64) {
	r.moments[i] = moment
	for node := (len(r.moments) + int(i)) / 2; node > 0; node /= 2 {
		winner := r.play(node)
		if winner == r.winners[node] && winner != i {
			return
		}
		r.winners[node] = winner
	}
}

// first is the index of the earliest moment, and the moment. There must be a leaf.
func (r *race) first() (int32, float64) {
	i := r.winners[1]
	return i, r.moments[i]
}
