package trace

import (
	"hash/fnv"
	"math/rand/v2"
)

// seed is the root of streams of random numbers that are independent of each other.
type seed struct{ high, low uint64 }

// seedOf is that of a workload in a run.
func seedOf(run uint64, workload string) seed {
	name := fnv.New64a()
	_, _ = name.Write([]byte(workload)) // never fails
	return seed{mix(run), mix(name.Sum64())}
}

// of is the seed of a part or a purpose. Different numbers give different seeds.
func (s seed) of(n uint64) seed {
	return seed{mix(s.high ^ mix(n+1)), mix(s.low + n)}
}

func (s seed) random() *rand.Rand { return rand.New(rand.NewPCG(s.high, s.low)) }

// Purposes of streams of random numbers within one source.
const (
	ofGaps uint64 = iota
	ofStates
	ofInputs
	ofOutputs
	ofPrefixes
	ofResampling
	ofReplication
	// ofParts is the first of those of parts.
	ofParts
)

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014), a bijection whose values look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
