package compact

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
)

// NewSliced writes a workload with shapes, alone and without limits, as Mélange does
// (T. Griggs et al., 2024): the requests of each shape are cut into so many equal
// slices, and each slice is served by one variant as a whole.
func NewSliced(problem *optimizer.Problem, slices int) (*Program, error) {
	if len(problem.Workloads) != 1 || len(problem.Workloads[0].Shapes) == 0 {
		return nil, fmt.Errorf("compact: %d workloads, want one with shapes", len(problem.Workloads))
	}
	w := &problem.Workloads[0]
	p := &Program{problem: problem}
	var items [][]int
	load := make([]row, len(w.Variants))
	for j := range w.Variants {
		c := p.addColumn(column{fmt.Sprintf("x%d", j), w.Variants[j].Placements[0].PricePerHour, mostReplicas, true})
		items = append(items, []int{c})
		load[j] = row{fmt.Sprintf("load%d", j), 'L', []term{{c, -1}}, 0}
	}
	for s := range w.Shapes {
		rate := w.Demand * w.Shapes[s].Share / float64(slices)
		for slice := range slices {
			one := row{fmt.Sprintf("slice%d_%d", s, slice), 'E', nil, 1}
			for j := range w.Variants {
				if capacity := w.Variants[j].ShapeCapacities[s]; capacity > 0 {
					c := p.addColumn(column{fmt.Sprintf("a%d_%d_%d", s, slice, j), 0, 1, true})
					one.terms = append(one.terms, term{c, 1})
					load[j].terms = append(load[j].terms, term{c, rate / capacity})
				}
			}
			p.addRow(one)
		}
	}
	for _, r := range load {
		p.addRow(r)
	}
	p.items = [][][]int{items}
	return p, nil
}

// mostReplicas is more than any plan needs.
const mostReplicas = 1e5
