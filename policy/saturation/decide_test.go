package saturation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/saturation"
)

// The arithmetic of the documentation's own example: spares of 0.15 and 0.08 are enough,
// 0.15 and 0.04 are not.
func TestDocumentedSpare(t *testing.T) {
	c := saturation.DefaultConfig()
	decide := func(kvB float64) saturation.Decision {
		return saturation.Decide(&c, []saturation.Variant{{
			Name: "a", Current: 2, Ready: []saturation.Replica{{KVUsage: 0.65}, {KVUsage: kvB}},
		}})
	}

	d := decide(0.72)
	assert.InDelta(t, 0.115, d.SpareKV, 1e-12)
	assert.Equal(t, []int{2}, d.Replicas)
	assert.Equal(t, saturation.Enough, d.Reason)

	d = decide(0.76)
	assert.InDelta(t, 0.095, d.SpareKV, 1e-12)
	assert.Equal(t, []int{3}, d.Replicas)
	assert.Equal(t, saturation.SpareKVLow, d.Reason)
}

// The documentation's example of several variants: five replicas of two variants count
// together, and the cheaper one grows.
func TestDocumentedVariants(t *testing.T) {
	c := saturation.DefaultConfig()
	variants := []saturation.Variant{
		{Name: "variant-1", Cost: 20, Current: 2, Ready: []saturation.Replica{{KVUsage: 0.70, Waiting: 2}, {KVUsage: 0.75, Waiting: 3}}},
		{Name: "variant-2", Cost: 15, Current: 3, Ready: []saturation.Replica{{KVUsage: 0.60, Waiting: 1}, {KVUsage: 0.65, Waiting: 2}, {KVUsage: 0.55, Waiting: 1}}},
	}
	d := saturation.Decide(&c, variants)
	assert.Equal(t, 5, d.NonSaturated)
	assert.InDelta(t, 0.15, d.SpareKV, 1e-12)
	assert.InDelta(t, 3.2, d.SpareQueue, 1e-12)
	assert.Equal(t, saturation.Enough, d.Reason, "one of five fewer has 0.8 − 3.25/4 < 0 to spare")
	assert.Equal(t, []int{2, 3}, d.Replicas)

	variants[0].Ready[0].Waiting = 4
	d = saturation.Decide(&c, variants)
	assert.Equal(t, saturation.SpareQueueLow, d.Reason)
	assert.Equal(t, []int{2, 4}, d.Replicas)
}

func TestDecide(t *testing.T) {
	c := saturation.DefaultConfig()
	idle := slices.Repeat([]saturation.Replica{{}}, 9)
	full := slices.Repeat([]saturation.Replica{{KVUsage: 0.8}}, 9)
	queued := slices.Repeat([]saturation.Replica{{Waiting: 5}}, 9)
	for _, test := range []struct {
		name     string
		variants []saturation.Variant
		want     []int
		reason   saturation.Reason
	}{
		{"without metrics", []saturation.Variant{{Name: "a", Current: 2}}, []int{2}, saturation.NoMetrics},
		{"without metrics, what was decided stays", []saturation.Variant{{Name: "a", Current: 2, Desired: 3}}, []int{3}, saturation.NoMetrics},
		{"all at the KV threshold", []saturation.Variant{{Name: "a", Current: 2, Ready: full[:2]}}, []int{3}, saturation.SpareKVLow},
		{"all at the queue threshold", []saturation.Variant{{Name: "a", Current: 2, Ready: queued[:2]}}, []int{3}, saturation.SpareKVLow},
		{"a saturated one does not count", []saturation.Variant{{Name: "a", Current: 3, Ready: append(queued[:1:1], idle[:2]...)}}, []int{2}, saturation.SpareAfterRemoval},
		{"one of two is saturated", []saturation.Variant{{Name: "a", Current: 2, Ready: append(full[:1:1], idle[:1]...)}}, []int{2}, saturation.Enough},
		{"the queue of one replica more would be too long", []saturation.Variant{{Name: "a", Current: 2, Ready: []saturation.Replica{{Waiting: 1}, {Waiting: 1.01}}}}, []int{2}, saturation.Enough},
		{"the queue of one replica more is just short enough", []saturation.Variant{{Name: "a", Current: 2, Ready: []saturation.Replica{{Waiting: 1}, {Waiting: 1}}}}, []int{1}, saturation.SpareAfterRemoval},
		{"a replica starts", []saturation.Variant{{Name: "a", Current: 3, Ready: full[:2]}}, []int{3}, saturation.InTransition},
		{"a decision is not carried out", []saturation.Variant{{Name: "a", Current: 2, Desired: 3, Ready: full[:2]}}, []int{3}, saturation.InTransition},
		{
			"one variant holds the model",
			[]saturation.Variant{{Name: "a", Cost: 1, Current: 2, Ready: full[:2]}, {Name: "b", Cost: 2, Current: 2, Ready: full[:1]}},
			[]int{2, 2},
			saturation.InTransition,
		},
		{
			"a variant that has none ready does not hold the model",
			[]saturation.Variant{{Name: "a", Cost: 2, Current: 2, Ready: full[:2]}, {Name: "b", Cost: 1, Current: 1}},
			[]int{3, 1},
			saturation.SpareKVLow,
		},
		{
			"the cheapest grows",
			[]saturation.Variant{{Name: "a", Cost: 20, Current: 1, Ready: full[:1]}, {Name: "b", Cost: 5, Current: 1, Ready: full[:1]}},
			[]int{1, 2},
			saturation.SpareKVLow,
		},
		{
			"of equal ones the first name grows",
			[]saturation.Variant{{Name: "b", Current: 1, Ready: full[:1]}, {Name: "a", Current: 1, Ready: full[:1]}},
			[]int{1, 2},
			saturation.SpareKVLow,
		},
		{
			"the cheapest is at its maximum",
			[]saturation.Variant{{Name: "a", Cost: 20, Current: 1, Ready: full[:1]}, {Name: "b", Cost: 5, MaxReplicas: 1, Current: 1, Ready: full[:1]}},
			[]int{2, 1},
			saturation.SpareKVLow,
		},
		{"all are at their maximum", []saturation.Variant{{Name: "a", MaxReplicas: 2, Current: 2, Ready: full[:2]}}, []int{2}, saturation.AtMaximum},
		{
			"the dearest shrinks",
			[]saturation.Variant{{Name: "a", Cost: 20, Current: 2, Ready: idle[:2]}, {Name: "b", Cost: 5, Current: 2, Ready: idle[:2]}},
			[]int{1, 2},
			saturation.SpareAfterRemoval,
		},
		{
			"of equal ones the last name shrinks",
			[]saturation.Variant{{Name: "b", Current: 2, Ready: idle[:2]}, {Name: "a", Current: 2, Ready: idle[:2]}},
			[]int{1, 2},
			saturation.SpareAfterRemoval,
		},
		{
			"the last replica of the dearest stays",
			[]saturation.Variant{{Name: "a", Cost: 20, Current: 1, Ready: idle[:1]}, {Name: "b", Cost: 5, Current: 2, Ready: idle[:2]}},
			[]int{1, 1},
			saturation.SpareAfterRemoval,
		},
		{"the minimum stays", []saturation.Variant{{Name: "a", MinReplicas: 3, Current: 3, Ready: idle[:3]}}, []int{3}, saturation.AtMinimum},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := saturation.Decide(&c, test.variants)
			assert.Equal(t, test.want, d.Replicas)
			assert.Equal(t, test.reason, d.Reason, d.Reason.Text())
		})
	}
}

// randomVariants are of a model all of whose replicas report.
func randomVariants(r *rand.Rand) []saturation.Variant {
	variants := make([]saturation.Variant, 1+r.IntN(3))
	for i := range variants {
		v := &variants[i]
		v.Name, v.Cost = fmt.Sprint(i), float64(r.IntN(3))
		v.Current, v.MinReplicas, v.MaxReplicas = 1+r.IntN(5), r.IntN(4), 4+r.IntN(3)
		for range v.Current {
			v.Ready = append(v.Ready, saturation.Replica{KVUsage: r.Float64(), Waiting: float64(r.IntN(7))})
		}
	}
	return variants
}

func TestNeverDownWhileSaturated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := saturation.DefaultConfig()
	ups, downs := 0, 0
	for range 20_000 {
		variants := randomVariants(r)
		d := saturation.Decide(&c, variants)
		changed := 0
		for i, n := range d.Replicas {
			switch v := &variants[i]; {
			case n > v.Current:
				ups++
				changed++
				require.LessOrEqual(t, n, v.MaxReplicas)
			case n < v.Current:
				downs++
				changed++
				require.GreaterOrEqual(t, n, max(1, v.MinReplicas))
				require.GreaterOrEqual(t, d.SpareKV, c.KVSpareTrigger)
				require.GreaterOrEqual(t, d.SpareQueue, c.QueueSpareTrigger)
				require.GreaterOrEqual(t, d.NonSaturated, 2)
			}
		}
		require.LessOrEqual(t, changed, 1)
	}
	assert.Greater(t, ups, 1000)
	assert.Greater(t, downs, 100)
}

func TestOrderOfVariantsDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := saturation.DefaultConfig()
	for range 5_000 {
		variants := randomVariants(r)
		d := saturation.Decide(&c, variants)
		slices.Reverse(variants)
		reversed := saturation.Decide(&c, variants)
		slices.Reverse(reversed.Replicas)
		require.Equal(t, d.Replicas, reversed.Replicas)
		require.Equal(t, d.Reason, reversed.Reason)
	}
}

// A constant load that is spread evenly comes to rest, whatever it starts from: what was
// taken away as superfluous is not asked for again.
func TestConstantLoadComesToRest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := saturation.DefaultConfig()
	for range 2_000 {
		kv, waiting := 10*r.Float64(), 10*r.Float64()
		n, down := 1+r.IntN(30), false
		for range 60 {
			variants := []saturation.Variant{{Name: "a", Current: n, Ready: slices.Repeat([]saturation.Replica{
				{KVUsage: min(1, kv/float64(n)), Waiting: waiting / float64(n)},
			}, n)}}
			next := saturation.Decide(&c, variants).Replicas[0]
			require.False(t, down && next > n, "%v KV, %v waiting: up from %d after down", kv, waiting, n)
			down = down || next < n
			n = next
		}
		before := n
		last := saturation.Decide(&c, []saturation.Variant{{Name: "a", Current: n, Ready: slices.Repeat([]saturation.Replica{
			{KVUsage: min(1, kv/float64(n)), Waiting: waiting / float64(n)},
		}, n)}})
		require.Equal(t, before, last.Replicas[0])
	}
}

func TestValidate(t *testing.T) {
	c := saturation.DefaultConfig()
	require.NoError(t, c.Validate())

	c = saturation.Config{KVCacheThreshold: 1.5, KVSpareTrigger: 2, QueueSpareTrigger: -1}
	err := c.Validate()
	for _, path := range []string{"kvCacheThreshold", "queueLengthThreshold", "kvSpareTrigger", "queueSpareTrigger"} {
		assert.ErrorContains(t, err, "saturation: "+path+":")
	}
}

func TestReasonsHaveWords(t *testing.T) {
	for reason := saturation.NoMetrics; reason <= saturation.AtMinimum; reason++ {
		assert.NotEmpty(t, reason.String())
		assert.Greater(t, len(reason.Text()), len(reason.String()))
	}
	assert.Equal(t, "NoMetrics", saturation.NoMetrics.String())
}
