package simulation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

func TestRaceFindsTheEarliest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var r race
	for _, n := range []int32{1, 2, 3, 7, 64} {
		r.grow(int(n))
		for range 1000 {
			i := random.Int32N(n)
			moment := math.Inf(1)
			if random.IntN(4) > 0 {
				moment = float64(random.IntN(10))
			}
			r.set(i, moment)
			first, at := r.first()
			least := slices.Min(r.moments)
			require.Equal(t, math.Float64bits(least), math.Float64bits(at))
			require.Equal(t, slices.Index(r.moments, least), int(first), "the smallest index of equals")
		}
	}
}

func TestCalendarIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var c calendar
	for range 100 {
		var want []event
		for range random.IntN(40) {
			at, k := float64(random.IntN(5)), []kind{windowEnds, devicesReturn, lossIsAnnounced}[random.IntN(3)]
			c.add(at, k, random.Int32N(9))
			want = append(want, event{at: at, kind: k, number: c.number})
		}
		slices.SortFunc(want, func(a, b event) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		for _, w := range want {
			got := c.pop()
			got.subject = 0
			require.Equal(t, w, got)
		}
		require.Empty(t, c.events)
	}
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	var all table
	var q queue
	for range 5 {
		q.push(&all, all.add())
	}
	assert.Equal(t, int32(0), q.pop(&all))
	first := q.pop(&all)
	assert.Equal(t, int32(1), first)
	q.unpop(&all, first)
	for want := range int32(4) {
		assert.Equal(t, want+1, q.pop(&all))
	}
	assert.Zero(t, q.count)
	q.unpop(&all, 3)
	q.push(&all, 4)
	assert.Equal(t, int32(3), q.pop(&all))
	assert.Equal(t, int32(4), q.pop(&all))
}

// Quantiles are within 1 % of those of the values themselves, in parts as in the whole.
func TestSketchQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var whole Sketch
	parts := make([]Sketch, 7)
	var values []float64
	sum := 0.0
	for range 20000 {
		x := math.Exp(3*random.NormFloat64() - 5)
		if random.IntN(50) == 0 {
			x = 0
		}
		values = append(values, x)
		sum += x
		whole.Add(x)
		parts[random.IntN(len(parts))].Add(x)
	}
	var merged Sketch
	for i := range parts {
		merged.Merge(&parts[i])
	}
	slices.Sort(values)
	for _, q := range []float64{0, 0.01, 0.02, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
		exact := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
		require.InDelta(t, exact, whole.Quantile(q), sketchError*exact, "quantile %v", q)
		require.Equal(t, math.Float64bits(whole.Quantile(q)), math.Float64bits(merged.Quantile(q)), "quantile %v of parts", q)
	}
	assert.Equal(t, len(values), merged.Count())
	assert.InEpsilon(t, sum, merged.Sum(), 1e-9)
	assert.InEpsilon(t, sum/float64(len(values)), merged.Mean(), 1e-9)
	assert.Less(t, len(whole.counts), 1500)
}

func TestSketchOfNothing(t *testing.T) {
	var s Sketch
	assert.True(t, math.IsNaN(s.Quantile(0.5)))
	assert.True(t, math.IsNaN(s.Mean()))
	s.Merge(&Sketch{})
	assert.Zero(t, s.Count())
	s.Add(math.Inf(1))
	s.Add(1e-12)
	assert.Zero(t, s.Quantile(0.5))
	assert.InEpsilon(t, sketchMost, s.Quantile(1), 0.03, "what is endless counts as the most")
}

// naiveCache is a prefix cache as a list of blocks, the newest first.
type naiveCache struct {
	blocks []uint64
	room   int
}

func (n *naiveCache) held(prefix []uint64) int {
	for i, name := range prefix {
		if !slices.Contains(n.blocks, name) {
			return i
		}
	}
	return len(prefix)
}

func (n *naiveCache) use(prefix []uint64) {
	for _, name := range slices.Backward(prefix) {
		n.blocks = slices.DeleteFunc(n.blocks, func(b uint64) bool { return b == name })
		n.blocks = slices.Insert(n.blocks, 0, name)
		n.blocks = n.blocks[:min(len(n.blocks), n.room)]
	}
}

func TestPrefixCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, room := range []int{0, 1, 3, 20} {
		var p prefixCache
		n := naiveCache{room: room}
		for range 2000 {
			prefix := make([]uint64, random.IntN(6))
			for k := range prefix {
				prefix[k] = 10*random.Uint64N(4) + uint64(k)
			}
			require.Equal(t, n.held(prefix), p.held(prefix))
			n.use(prefix)
			p.use(prefix, 16, 16*room+5)
			require.Len(t, p.index, len(n.blocks))
			require.Equal(t, 16*len(n.blocks), p.tokens)
			for _, name := range n.blocks {
				require.Contains(t, p.index, name)
			}
			require.LessOrEqual(t, len(p.blocks), room+2)
		}
	}
}

// Blocks of different sizes count as their tokens.
func TestPrefixCacheCountsTokens(t *testing.T) {
	var p prefixCache
	for name := range uint64(10) {
		p.use([]uint64{name}, 10, 100)
	}
	p.use([]uint64{100}, 35, 100)
	assert.Equal(t, 60+35, p.tokens)
	assert.Zero(t, p.held([]uint64{3}))
	assert.Equal(t, 1, p.held([]uint64{4}))
	for name := range uint64(4) {
		p.use([]uint64{200 + name}, 10, 100)
	}
	assert.Equal(t, 1, p.held([]uint64{100}))
	assert.Equal(t, 60-40+35+40, p.tokens)
	assert.Len(t, p.blocks, 11, "places are used again")
	p.use([]uint64{300}, 101, 100)
	assert.Zero(t, p.held([]uint64{300}), "it is larger than the cache")
}

func TestPoolTakesWholeNodes(t *testing.T) {
	variant := func(devices, nodes int) *planner.Variant {
		return &planner.Variant{DevicesPerReplica: devices, NodesPerReplica: nodes}
	}
	limited := func(devices, perNode int) *pool {
		return newPool(&planner.Pool{DevicesPerNode: perNode, Capacity: optimizer.Bound{Limited: true, Value: devices}})
	}
	room := func(p *pool, v *planner.Variant) int {
		n := 0
		for ; ; n++ {
			if _, ok := p.take("", v); !ok {
				return n
			}
		}
	}
	assert.Equal(t, 5, room(limited(20, 0), variant(4, 1)))
	assert.Equal(t, 3, room(limited(20, 0), variant(6, 2)), "nodes do not matter")
	assert.Equal(t, 5, room(limited(20, 8), variant(4, 1)), "two a node, one in the partial node")
	assert.Equal(t, 2, room(limited(20, 8), variant(5, 1)), "one a node")
	assert.Equal(t, 2, room(limited(20, 8), variant(8, 1)))
	assert.Equal(t, 1, room(limited(20, 8), variant(16, 1)), "two whole nodes")
	assert.Equal(t, 1, room(limited(20, 8), variant(16, 2)))
	assert.Equal(t, 2, room(limited(20, 8), variant(8, 2)), "parts of four")
	assert.Equal(t, 2, room(limited(4, 4), variant(2, 2)), "both parts on the only node")
	assert.Equal(t, 0, room(limited(4, 4), variant(8, 2)), "there is one node, and the other part needs another")
	spread, ok := limited(8, 4).take("", variant(4, 2))
	require.True(t, ok)
	assert.Equal(t, []share{{node: 0, devices: 2}, {node: 1, devices: 2}}, spread, "different nodes where there are")
	p := limited(16, 8)
	small, ok := p.take("", variant(2, 1))
	require.True(t, ok)
	_, ok = p.take("", variant(4, 1))
	require.True(t, ok)
	assert.Equal(t, 2, p.nodes[0].free, "the node with the fewest free devices is filled first")
	p.give("", variant(2, 1), small)
	assert.Equal(t, 4, p.nodes[0].free)
	unlimited := newPool(&planner.Pool{DevicesPerNode: 8})
	for range 100 {
		_, ok := unlimited.take("", variant(8, 1))
		require.True(t, ok)
	}
	assert.Len(t, unlimited.nodes, 100)
}

func TestQuotaLimitsANamespace(t *testing.T) {
	p := newPool(&planner.Pool{
		Capacity: optimizer.Bound{Limited: true, Value: 10}, Quotas: []planner.Quota{{Namespace: "a", Devices: 4}},
	})
	v := &planner.Variant{DevicesPerReplica: 3, NodesPerReplica: 1}
	shares, ok := p.take("a", v)
	require.True(t, ok)
	_, ok = p.take("a", v)
	assert.False(t, ok)
	_, ok = p.take("b", v)
	assert.True(t, ok)
	p.give("a", v, shares)
	_, ok = p.take("a", v)
	assert.True(t, ok)
}
