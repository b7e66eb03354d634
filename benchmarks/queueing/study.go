package main

import "math"

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

// worst returns the lowest ratio over the cells that match; +Inf if
// none does.
func worst(results []result, k kind, match func(*cell) bool) float64 {
	least := math.Inf(1)
	for _, r := range results {
		if match(r.cell) {
			least = min(least, r.contests[k].ratio)
		}
	}
	return least
}
