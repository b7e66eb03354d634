package simulation_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// cachedOf serves requests one after the other, and returns what was cached of each.
func cachedOf(t *testing.T, config simulation.Config, requests ...trace.Request) []int {
	t.Helper()
	var cached []int
	config.Requests = slices.Values(requests)
	config.OnRequest = func(r simulation.Record) { cached = append(cached, r.Cached) }
	run(t, newCluster(t, config), nil, 1000)
	return cached
}

func ask(at float64, input int, prefix ...uint64) trace.Request {
	return trace.Request{At: at, Input: input, Output: 10, Prefix: prefix, BlockTokens: 100}
}

func TestReplicaHoldsTheBlocksOfItsPrompts(t *testing.T) {
	fleet := chat(1, 1)
	fleet.Workloads[0].Variants[0].Replica.KVCacheTokens = 1000
	cached := cachedOf(t, simulation.Config{Fleet: fleet},
		ask(1, 350, 1, 2, 3), ask(11, 350, 1, 2, 3), ask(21, 250, 1, 2, 4), ask(31, 300, 1, 2, 3), ask(41, 300, 9, 2, 3),
		// Eight others leave room for two of those, and three of those then for seven of them.
		ask(51, 800, 21, 22, 23, 24, 25, 26, 27, 28), ask(61, 300, 1, 2, 3), ask(71, 900, 21, 22, 23, 24, 25, 26, 27, 28))
	assert.Equal(t, []int{0, 300, 200, 299, 0, 0, 0, 700}, cached,
		"from the beginning on, never the whole prompt, and what was used longest ago is forgotten first")
}

func TestPrefixAwareRouterFindsTheHolder(t *testing.T) {
	share := func(routing simulation.Routing) (hits float64) {
		var requests []trace.Request
		for i := range 4000 {
			// Forty conversations on four replicas that hold ten each.
			c := uint64(i*7919) % 40
			requests = append(requests, trace.Request{
				At: 0.02 * float64(i), Input: 1000, Output: 10, BlockTokens: 100,
				Prefix: []uint64{10*c + 1, 10*c + 2, 10*c + 3, 10*c + 4, 10*c + 5, 10*c + 6, 10*c + 7, 10*c + 8, 10*c + 9},
			})
		}
		fleet := chat(4, 4)
		fleet.Workloads[0].Variants[0].Replica.KVCacheTokens = 12000
		for _, tokens := range cachedOf(t, simulation.Config{Fleet: fleet, Routing: routing}, requests...) {
			hits += float64(tokens) / 900 / 4000
		}
		return hits
	}
	assert.Greater(t, share(simulation.PrefixAware), 0.95)
	assert.Less(t, share(simulation.CapacityWeighted), 0.5)
}

// A prefix that all requests have would go to one replica, if load did not count.
func TestPrefixAwareRouterLeavesBusyReplicas(t *testing.T) {
	fleet := chat(4, 4)
	var requests []trace.Request
	for i := range 2000 {
		requests = append(requests, ask(0.002*float64(i), 500, 1, 2, 3))
	}
	c := newCluster(t, simulation.Config{Fleet: fleet, Routing: simulation.PrefixAware, Requests: slices.Values(requests)})
	run(t, c, nil, 100)
	for s := range c.Replicas(0, 0) {
		assert.Positive(t, s.Totals.Completed)
	}
}

func TestDeclaredHitsCountWhereNoBlocksAreNamed(t *testing.T) {
	fleet := chat(1, 1)
	fleet.Workloads[0].Shape.PrefixHitRatio = 0.6
	assert.Equal(t, []int{60, 9, 0}, cachedOf(t, simulation.Config{Fleet: fleet}, ask(1, 100), ask(2, 15), ask(3, 0)))
}
