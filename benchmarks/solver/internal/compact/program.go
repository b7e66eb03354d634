package compact

import (
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// Stage is what a program minimises.
type Stage struct {
	// Priority > 0: the unmet demand, in requests/s, of workloads of that priority
	// without penalty; 0: cost.
	Priority int
	// Settled limits the unmet demand of workloads without penalty, by priority.
	Settled map[int]float64
}

// Program is an integer program: minimise Σ cost·x within its rows, 0 ≤ x ≤ upper.
type Program struct {
	problem *optimizer.Problem
	stage   Stage
	columns []column
	rows    []row
	// items[w][v][k] is the column of the replicas of a variant in a placement, and
	// workloads[w] has the columns that follow from them.
	items     [][][]int
	workloads []derived
}

type column struct {
	name        string
	cost, upper float64
	integer     bool
}

type row struct {
	name string
	// sense is that of MPS: L for ≤, G for ≥, E for =.
	sense byte
	terms []term
	limit float64
}

type term struct {
	column int
	factor float64
}

// derived are the columns of a workload that are not replicas; none where absent.
type derived struct {
	unmet int
	// added and removed replicas, and whether it is in use, by variant.
	added, removed, used []int
}

const none = -1

// New writes the problem. It returns an error for what the program can't express:
// redundancy, shapes, phases, and node sizes that don't divide one another.
func New(problem *optimizer.Problem, at Stage) (*Program, error) {
	if err := problem.Validate(); err != nil {
		return nil, err
	}
	p := &Program{problem: problem, stage: at}
	for i := range problem.Workloads {
		if w := &problem.Workloads[i]; w.Redundancy > 0 || len(w.Shapes) > 0 || slices.ContainsFunc(w.Variants, phased) {
			return nil, fmt.Errorf("compact: workload %q: redundancy, shapes and phases can't be expressed", w.Name)
		}
		p.addWorkload(i)
	}
	for g := range problem.Pools {
		if err := p.addPool(g); err != nil {
			return nil, err
		}
	}
	p.addQuotas()
	p.addBudget()
	p.addSettled()
	return p, nil
}

func phased(v optimizer.Variant) bool { return v.Phase != optimizer.Whole }

func (p *Program) money() float64 {
	if p.stage.Priority > 0 {
		return 0
	}
	return 1
}

func (p *Program) addColumn(c column) int {
	p.columns = append(p.columns, c)
	return len(p.columns) - 1
}

// addRow adds a row unless it has no terms and holds.
func (p *Program) addRow(r row) {
	if len(r.terms) > 0 || !holds(0, r.sense, r.limit) {
		p.rows = append(p.rows, r)
	}
}

func (p *Program) addWorkload(i int) {
	w := &p.problem.Workloads[i]
	d := derived{unmet: none}
	var items [][]int
	var demand, total, uses []term
	for j := range w.Variants {
		columns := p.addVariant(i, j, &d)
		items = append(items, columns)
		for _, c := range columns {
			demand = append(demand, term{c, w.Variants[j].Capacity})
			total = append(total, term{c, 1})
		}
		if d.used[j] != none {
			uses = append(uses, term{d.used[j], 1})
		}
	}
	if w.Demand > 0 {
		d.unmet = p.addColumn(p.unmet(i, w))
		p.addRow(row{fmt.Sprintf("demand%d", i), 'G', append(demand, term{d.unmet, 1}), w.Demand})
	}
	if w.MinReplicas > 0 {
		p.addRow(row{fmt.Sprintf("least%d", i), 'G', total, float64(w.MinReplicas)})
	}
	if w.MaxReplicas.Limited {
		p.addRow(row{fmt.Sprintf("most%d", i), 'L', total, float64(w.MaxReplicas.Value)})
	}
	if len(uses) > 1 {
		p.addRow(row{fmt.Sprintf("single%d", i), 'L', uses, 1})
	}
	p.items, p.workloads = append(p.items, items), append(p.workloads, d)
}

// unmet is the column of unmet demand.
func (p *Program) unmet(i int, w *optimizer.Workload) column {
	u := column{name: fmt.Sprintf("u%d", i), upper: w.Demand}
	settled, is := p.stage.Settled[w.Priority]
	switch {
	case w.Penalized:
		u.cost = p.money() * w.UnmetPenalty
	case is && settled == 0:
		u.upper = 0
	case w.Priority == p.stage.Priority:
		u.cost = 1
	}
	return u
}

// addVariant adds the columns of a variant, one per placement, and returns them.
func (p *Program) addVariant(i, j int, d *derived) []int {
	w := &p.problem.Workloads[i]
	v := &w.Variants[j]
	up := 0.0
	if v.CurrentReplicas == 0 {
		up = v.SwitchUp
	}
	most := mostUseful(w, v)
	var items []int
	var total []term
	for k, at := range v.Placements {
		c := p.addColumn(column{fmt.Sprintf("x%d_%d_%d", i, j, k), p.money() * (at.PricePerHour + up), most, true})
		items, total = append(items, c), append(total, term{c, 1})
	}
	if v.MinReplicas > 0 {
		p.addRow(row{fmt.Sprintf("least%d_%d", i, j), 'G', total, float64(v.MinReplicas)})
	}
	if len(total) > 1 {
		p.addRow(row{fmt.Sprintf("most%d_%d", i, j), 'L', total, most})
	}
	added, removed, used := none, none, none
	if v.CurrentReplicas > 0 && p.money() > 0 {
		added = p.addColumn(column{fmt.Sprintf("a%d_%d", i, j), v.SwitchUp, most, false})
		removed = p.addColumn(column{fmt.Sprintf("b%d_%d", i, j), v.SwitchDown, float64(v.CurrentReplicas), false})
		change := append([]term{{added, -1}, {removed, 1}}, total...)
		p.addRow(row{fmt.Sprintf("change%d_%d", i, j), 'E', change, float64(v.CurrentReplicas)})
	}
	if w.Mixing == optimizer.Single && len(w.Variants) > 1 {
		used = p.addColumn(column{fmt.Sprintf("y%d_%d", i, j), 0, 1, true})
		p.addRow(row{fmt.Sprintf("use%d_%d", i, j), 'L', append([]term{{used, -most}}, total...), 0})
	}
	d.added, d.removed, d.used = append(d.added, added), append(d.removed, removed), append(d.used, used)
	return items
}

// mostUseful bounds the replicas of a variant: more neither serve, nor count
// towards a minimum, nor save a switching cost.
func mostUseful(w *optimizer.Workload, v *optimizer.Variant) float64 {
	most := float64(max(v.CurrentReplicas, v.MinReplicas, w.MinReplicas))
	if v.Capacity > 0 {
		most = max(most, math.Ceil(w.Demand/v.Capacity))
	}
	for _, bound := range []optimizer.Bound{v.MaxReplicas, w.MaxReplicas} {
		if bound.Limited {
			most = min(most, float64(bound.Value))
		}
	}
	return most
}
