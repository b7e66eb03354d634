package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// oracleCase is a replica and a shape; its points differ in the rate.
type oracleCase struct {
	name    string
	profile string
	replica queueing.Replica
	shape   queueing.Shape
	lengths replica.Distribution
	seed    uint64
}

// tuning tells in which half of the grid a case is: constants of the model may be
// tuned on the one half, errors are reported of the other.
func (c *oracleCase) tuning() bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.name)) // never fails
	return h.Sum32()&1 == 0
}

// namedProfile is a profile of a kind of machine; coefficients are round numbers of
// the magnitude that such machines have.
type namedProfile struct {
	name    string
	profile queueing.Profile
}

func oracleProfiles() []namedProfile {
	return []namedProfile{
		{"small", queueing.Profile{
			Alpha: 6.5e-3, Beta: 1e-5, Kappa: 7e-8, Gamma: 2e-4, Delta: 2e-5, Epsilon: 3e-10, TTFTOffset: 5e-3,
		}},
		{"large", queueing.Profile{
			Alpha: 20e-3, Beta: 5e-5, Kappa: 1e-7, Gamma: 1e-3, Delta: 9e-5, Epsilon: 1e-9, TTFTOffset: 10e-3,
		}},
		{"experts", queueing.Profile{
			Alpha: 8e-3, Beta: 2e-5, Kappa: 4e-8, Sigma: 1.2e-3, Gamma: 5e-4, Delta: 3e-5, Epsilon: 5e-10, TTFTOffset: 8e-3,
		}},
		{"slow prefill", queueing.Profile{
			Alpha: 5e-3, Beta: 1e-5, Kappa: 3e-8, Gamma: 2e-3, Delta: 1.5e-4, Epsilon: 4e-9,
		}},
		{"slow decode", queueing.Profile{
			Alpha: 12e-3, Beta: 3e-4, Kappa: 3e-7, Delta: 8e-6, TTFTOffset: 15e-3,
		}},
		{"two coefficients", queueing.Profile{Alpha: 20e-3, Beta: 4e-4}},
	}
}

// oracleCases draws n cases. A case depends on its number only, so that a smaller grid
// is the beginning of a larger one.
func oracleCases(n int) []oracleCase {
	cases := make([]oracleCase, n)
	for i := range cases {
		cases[i] = drawCase(i)
	}
	return cases
}

func drawCase(i int) oracleCase {
	random := rand.New(rand.NewPCG(uint64(i), 20)) //nolint:gosec // i is a small index
	profiles := oracleProfiles()
	p := profiles[i%len(profiles)]
	scv := []float64{0, 0, 0.3, 1, 1, 2}
	c := oracleCase{
		profile: p.name,
		shape: queueing.Shape{
			InputTokens:  queueing.Tokens(math.Round(logUniform(random, 16, 16000))),
			OutputTokens: queueing.Tokens(math.Round(logUniform(random, 1, 2000))),
			InputSCV:     pick(random, scv),
			OutputSCV:    pick(random, scv),
			ArrivalSCV:   pick(random, []float64{1, 1, 1, 1, 1, 0, 0.5, 2, 4, 16}),
		},
		lengths: pick(random, []replica.Distribution{replica.Gamma, replica.LogNormal}),
		seed:    uint64(i), //nolint:gosec // i is a small index
	}
	c.shape.PrefixHitRatio = pick(random, []float64{0, 0, 0, 0, 0.5, 0.9})
	c.replica = drawReplica(random, c.shape)
	c.replica.Profile = p.profile
	c.name = fmt.Sprintf("%03d %s %s", i, p.name, describe(c.replica, c.shape))
	return c
}

// drawReplica draws all but the profile. A KV cache that limits the batch has room
// for six requests of the longest usual length at least: a queue of requests that
// fill the cache one by one is another system.
func drawReplica(random *rand.Rand, s queueing.Shape) queueing.Replica {
	r := queueing.Replica{
		MaxBatch:         pick(random, []int{16, 64, 256, 256}),
		MaxBatchedTokens: pick(random, []queueing.Tokens{512, 2048, 2048, 8192, 0}),
		AcceptedTokens:   pick(random, []float64{0, 0, 0, 0, 0, 2.5}),
	}
	if random.IntN(5) == 0 {
		r.PrefillMode = queueing.Blocking
	}
	if random.IntN(4) == 0 {
		longest := float64(s.InputTokens)*(1+2*math.Sqrt(s.InputSCV)) + float64(s.OutputTokens)*(1+2*math.Sqrt(s.OutputSCV))
		share := 0.3 * float64(r.MaxBatch) * float64(s.InputTokens+s.OutputTokens)
		r.KVCacheTokens = queueing.Tokens(math.Round(max(share, 6*longest)))
	}
	if random.IntN(6) == 0 {
		r.MaxQueue = queueing.Waiting{Limited: true, Places: pick(random, []int{0, 10, 100})}
	}
	return r
}

func pick[T any](random *rand.Rand, values []T) T { return values[random.IntN(len(values))] }

func logUniform(random *rand.Rand, low, high float64) float64 {
	return low * math.Exp(random.Float64()*math.Log(high/low))
}

// describe names what differs from the ordinary in a replica and its load.
func describe(r queueing.Replica, s queueing.Shape) string {
	text := fmt.Sprintf("%g/%g cv² %g/%g/%g B%d", float64(s.InputTokens), float64(s.OutputTokens),
		s.InputSCV, s.OutputSCV, s.ArrivalSCV, r.MaxBatch)
	if r.PrefillMode == queueing.Blocking {
		text += " blocking"
	}
	if r.MaxBatchedTokens > 0 {
		text += fmt.Sprintf(" T%g", float64(r.MaxBatchedTokens))
	}
	if r.KVCacheTokens > 0 {
		text += fmt.Sprintf(" M%g", float64(r.KVCacheTokens))
	}
	if s.PrefixHitRatio > 0 {
		text += fmt.Sprintf(" h%g", s.PrefixHitRatio)
	}
	if r.AcceptedTokens > 0 {
		text += fmt.Sprintf(" a%g", r.AcceptedTokens)
	}
	if r.MaxQueue.Limited {
		text += fmt.Sprintf(" Q%d", r.MaxQueue.Places)
	}
	return text
}

// oracleLoads are the rates of a case as shares of its saturation rate. Only where
// waiting places are limited may they exceed it.
func oracleLoads(c *oracleCase) []float64 {
	loads := []float64{0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95}
	if c.replica.MaxQueue.Limited {
		loads = append(loads, 1.2)
	}
	return loads
}
