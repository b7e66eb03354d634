package main

import (
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/sample"
)

// result is what was measured of one cell.
type result struct {
	cell     *cell
	contests [kinds]contest
	// allocations are ours, per question.
	allocations [kinds]float64
}

// study compares and then times every cell.
func study(e effort) ([]result, error) {
	all, err := cells()
	if err != nil {
		return nil, err
	}
	var results []result
	for _, c := range all {
		r, err := c.study(e)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func (c *cell) study(e effort) (result, error) {
	if err := c.different(); err != nil {
		return result{}, err
	}
	tasks, err := c.tasks()
	if err != nil {
		return result{}, err
	}
	r := result{cell: c}
	for k := range tasks {
		if r.contests[k], err = tasks[k].measure(e); err != nil {
			return result{}, err
		}
		if r.allocations[k], err = tasks[k].allocations(); err != nil {
			return result{}, err
		}
	}
	return r, nil
}

// worst returns the contest with the lowest ratio over the cells that match, one with the ratio
// +Inf if none does.
func worst(results []result, k kind, match func(*cell) bool) contest {
	least := contest{ratio: sample.Summary{Median: math.Inf(1)}}
	for _, r := range results {
		if c := r.contests[k]; match(r.cell) && c.ratio.Median < least.ratio.Median {
			least = c
		}
	}
	return least
}
