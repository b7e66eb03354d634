package compact

import (
	"fmt"
	"math"
)

// accuracy is that to which rows must hold, relative to their limits.
const accuracy = 1e-9

// Replicas reads a solver's values of columns by name, rounded to integers. Columns
// without a value are 0.
func (p *Program) Replicas(values map[string]float64) [][][]int {
	replicas := make([][][]int, len(p.items))
	for i := range p.items {
		replicas[i] = make([][]int, len(p.items[i]))
		for j, columns := range p.items[i] {
			for _, c := range columns {
				replicas[i][j] = append(replicas[i][j], int(math.Round(values[p.columns[c].name])))
			}
		}
	}
	return replicas
}

// Judge returns what a plan costs in this program, and an error that names the
// first bound or row that it breaks, if any.
func (p *Program) Judge(replicas [][][]int) (cost float64, err error) {
	x := p.values(replicas)
	for i, c := range p.columns {
		cost += c.cost * x[i]
		if !holds(x[i], 'L', c.upper) {
			return 0, fmt.Errorf("compact: column %s: %g > %g", c.name, x[i], c.upper)
		}
	}
	for _, r := range p.rows {
		sum := 0.0
		for _, t := range r.terms {
			sum += t.factor * x[t.column]
		}
		if !holds(sum, r.sense, r.limit) {
			return 0, fmt.Errorf("compact: row %s: %g is not %c %g", r.name, sum, r.sense, r.limit)
		}
	}
	return cost, nil
}

// values completes replicas by the columns that follow from them.
func (p *Program) values(replicas [][][]int) []float64 {
	x := make([]float64, len(p.columns))
	for i, d := range p.workloads {
		w := &p.problem.Workloads[i]
		served := 0.0
		for j := range p.items[i] {
			n := 0
			for k, c := range p.items[i][j] {
				x[c] = float64(replicas[i][j][k])
				n += replicas[i][j][k]
			}
			served += float64(n) * w.Variants[j].Capacity
			change := float64(n - w.Variants[j].CurrentReplicas)
			set(x, d.added[j], max(0, change))
			set(x, d.removed[j], max(0, -change))
			if n > 0 {
				set(x, d.used[j], 1)
			}
		}
		unmet := w.Demand - served
		if unmet <= accuracy*w.Demand {
			unmet = 0
		}
		set(x, d.unmet, unmet)
	}
	return x
}

func set(x []float64, column int, value float64) {
	if column != none {
		x[column] = value
	}
}

// holds tells whether a row holds to accuracy.
func holds(sum float64, sense byte, limit float64) bool {
	slack := accuracy * math.Max(1, math.Abs(limit))
	switch sense {
	case 'L':
		return sum <= limit+slack
	case 'G':
		return sum >= limit-slack
	default:
		return math.Abs(sum-limit) <= slack
	}
}
