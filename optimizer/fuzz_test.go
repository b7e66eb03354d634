package optimizer

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzSolve solves random problems with some numbers replaced by what the fuzzer
// chooses. Whatever Validate accepts must be solved without panic, by a plan that
// Evaluate accepts.
func FuzzSolve(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte{})
	}
	f.Add(uint64(1), binary.LittleEndian.AppendUint64([]byte{0, 1, 2, 3, 4, 5, 6, 7}, math.Float64bits(1e15)))
	// A demand so small that a fraction of a replica serves it many times over.
	f.Add(uint64(33), []byte(")000000 \x00"))
	// A shape that a variant serves next to nothing of, however many replicas it has.
	f.Add(uint64(197), []byte(")0000101\x10"))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		p := randomSmall(rand.New(rand.NewPCG(seed, 14)))
		distort(p, data)
		if p.Validate() != nil {
			if _, err := Solve(p, Options{}); err == nil {
				t.Fatal("Solve accepts what Validate does not")
			}
			return
		}
		s, err := Solve(p, Options{Effort: 3000})
		if err != nil {
			t.Fatal(err)
		}
		checkSolution(t, p, s)
	})
}

// distort replaces numbers of p: each 9 bytes are a place and a value.
func distort(p *Problem, data []byte) {
	var numbers []*float64
	var counts []*int
	for g := range p.Pools {
		counts = append(counts, &p.Pools[g].Capacity, &p.Pools[g].DevicesPerNode)
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		numbers = append(numbers, &w.Demand, &w.UnmetPenalty)
		counts = append(counts, &w.Redundancy, &w.MinReplicas, &w.MaxReplicas.Value)
		for s := range w.Shapes {
			numbers = append(numbers, &w.Shapes[s].Share)
		}
		for j := range w.Variants {
			v := &w.Variants[j]
			for s := range v.ShapeCapacities {
				numbers = append(numbers, &v.ShapeCapacities[s])
			}
			numbers = append(numbers, &v.Capacity, &v.SwitchUp, &v.SwitchDown, &v.Placements[0].PricePerHour)
			counts = append(counts, &v.DevicesPerReplica, &v.NodesPerReplica, &v.MinReplicas, &v.MaxReplicas.Value, &v.CurrentReplicas, &v.Placements[0].Pool)
		}
	}
	numbers = append(numbers, &p.BudgetPerHour)
	for ; len(data) >= 9; data = data[9:] {
		value := binary.LittleEndian.Uint64(data[1:])
		if k := int(data[0]); k < 128 {
			*numbers[k%len(numbers)] = math.Float64frombits(value)
		} else {
			*counts[k%len(counts)] = int(int32(value))
		}
	}
}
