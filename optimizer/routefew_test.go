package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// What is worked out for one and two running variants is what the linear programs find.
func TestFewVariantsAreRoutedAsByTheProgram(t *testing.T) {
	balanced, overloaded := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 40))
		w := &Workload{Name: "w", Demand: 1 + 9*r.Float64()}
		for j := range 3 {
			w.Variants = append(w.Variants, Variant{Name: string(rune('a' + j)), Capacity: 1 + r.Float64()})
		}
		addShapes(r, w)
		for s := range w.Shapes {
			w.Shapes[s].Share = max(w.Shapes[s].Share, 0.01) // the program knows no empty shapes
		}
		counts := []int{r.IntN(12), r.IntN(12), 0}
		p := newRouteProgram(w, counts)
		if len(running(p.replicas)) == 0 {
			continue
		}
		shares, served := p.balance()
		want := p.utilization()
		if served != (want <= 1+tolerance) {
			t.Fatalf("seed %d: served %v, utilization %v", seed, served, want)
		}
		if served {
			balanced++
			if got := p.busiest(shares); math.Abs(got-want) > 1e-9 || !p.complete(shares) {
				t.Errorf("seed %d: utilization %v, want %v; shares %v", seed, got, want, shares)
			}
			continue
		}
		unmet, shares := p.serveMost(p.replicas)
		if least := p.leastUnmet(); math.Abs(unmet-least) > 1e-9*w.Demand || p.busiest(shares) > 1+1e-9 {
			t.Errorf("seed %d: %v unmet, want %v; utilization %v", seed, unmet, least, p.busiest(shares))
		}
		overloaded++
	}
	if min(balanced, overloaded) < 200 {
		t.Errorf("%d balanced, %d overloaded", balanced, overloaded)
	}
}

// utilization is the least one by linear programming.
func (r *routeProgram) utilization() float64 {
	p := r.linear(r.replicas)
	utilization := lp.Column{Cost: 1, Upper: math.Inf(1)}
	for v, n := range r.replicas {
		p.RowUpper[2*len(r.rates)+v] = 0
		utilization.Rows = append(utilization.Rows, int32(2*len(r.rates)+v))
		utilization.Values = append(utilization.Values, -n)
	}
	p.Columns = append(p.Columns, utilization)
	if x := r.solve(p); x != nil {
		return x[len(x)-1]
	}
	return math.Inf(1)
}

// leastUnmet is that by linear programming.
func (r *routeProgram) leastUnmet() float64 {
	p := r.linear(r.replicas)
	first := len(p.Columns)
	for s, rate := range r.rates {
		p.Columns = append(p.Columns, lp.Column{Cost: rate, Upper: 1, Rows: []int32{int32(s)}, Values: []float64{1}})
	}
	unmet := 0.0
	for s, left := range r.solve(p)[first:] {
		unmet += left * r.rates[s]
	}
	return unmet
}

// busiest is the utilization of the busiest variant.
func (r *routeProgram) busiest(shares [][]float64) float64 {
	most := 0.0
	for v, n := range r.replicas {
		load := 0.0
		for s, share := range shares[v] {
			load += share * r.loads[v][s]
		}
		if load > 0 {
			most = max(most, load/n)
		}
	}
	return most
}

// complete says whether all of every shape goes to variants that serve it.
func (r *routeProgram) complete(shares [][]float64) bool {
	for s := range r.rates {
		total := 0.0
		for v := range shares {
			if shares[v][s] > 0 && r.loads[v][s] == 0 {
				return false
			}
			total += shares[v][s]
		}
		if math.Abs(total-1) > 1e-9 {
			return false
		}
	}
	return !slices.ContainsFunc(shares, func(of []float64) bool { return slices.Min(of) < 0 })
}
