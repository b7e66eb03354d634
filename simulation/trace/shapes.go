package trace

import (
	"fmt"

	"github.com/poolwright/poolwright/queueing"
)

// Shapes returns the lengths of a workload's requests in each of n windows of a length in
// seconds: means and squared coefficients of variation of prompts and outputs. That of a
// window without requests is zero, and so are fields that are not about lengths. All
// requests are read or drawn once.
func Shapes(w Workload, seed uint64, window float64, n int) ([]queueing.Shape, error) {
	if !(window > 0) || n < 0 {
		return nil, fmt.Errorf("trace: shapes: %d windows of %g s", n, window)
	}
	sums := make([]lengthSums, n)
	requests, failed := Requests([]Workload{w}, seed)
	for r := range requests {
		i := int(r.At / window)
		if i >= n {
			break
		}
		sums[i].add(&r)
	}
	shapes := make([]queueing.Shape, n)
	for i := range sums {
		shapes[i] = sums[i].shape()
	}
	return shapes, failed()
}

// lengthSums are sums over requests of lengths and their squares.
type lengthSums struct{ count, input, output, inputSquares, outputSquares float64 }

func (s *lengthSums) add(r *Request) {
	in, out := float64(r.Input), float64(r.Output)
	s.count++
	s.input += in
	s.output += out
	s.inputSquares += in * in
	s.outputSquares += out * out
}

func (s *lengthSums) shape() queueing.Shape {
	if s.count == 0 {
		return queueing.Shape{}
	}
	// Rounding must not make the variation of equal lengths negative.
	scv := func(sum, squares float64) float64 {
		if sum == 0 {
			return 0
		}
		return max(0, s.count*squares/(sum*sum)-1)
	}
	return queueing.Shape{
		InputTokens: queueing.Tokens(s.input / s.count), OutputTokens: queueing.Tokens(s.output / s.count),
		InputSCV: scv(s.input, s.inputSquares), OutputSCV: scv(s.output, s.outputSquares),
	}
}
