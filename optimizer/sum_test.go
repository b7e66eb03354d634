package optimizer

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestSumIsCorrectlyRounded(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 13))
		terms := make([]float64, r.IntN(30))
		exact := new(big.Float).SetPrec(2000)
		for i := range terms {
			terms[i] = r.NormFloat64() * math.Pow(2, float64(r.IntN(120)-60))
			if i > 0 && r.IntN(3) == 0 {
				terms[i] = -terms[r.IntN(i)]
			}
			exact.Add(exact, new(big.Float).SetFloat64(terms[i]))
		}
		want, _ := exact.Float64()
		got := sum(terms)
		if got != want {
			t.Fatalf("seed %d: sum(%v) = %v, want %v", seed, terms, got, want)
		}
		r.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		if again := sum(terms); again != got {
			t.Fatalf("seed %d: shuffled %v, want %v", seed, again, got)
		}
		var running runningSum
		size := 0.0
		for _, x := range terms {
			running.add(x)
			size += math.Abs(x)
		}
		if math.Abs(running.total()-want) > 1e-15*size {
			t.Fatalf("seed %d: running sum %v, want %v", seed, running.total(), want)
		}
	}
}
