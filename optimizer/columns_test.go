package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is kept of configurations is what they are, however many are met, and where costs change in between.
func TestMetColumnsKeepWhatTheyAre(t *testing.T) {
	met := 0
	pricedPrograms(200, 31, func(seed uint64, r *rand.Rand, l *lagrangian, _ []float64) {
		for i := range l.workloads {
			w, columns := &l.workloads[i], &l.columns[i]
			if w.routing != nil {
				continue // what it leaves is worked out from what was worked out before, and may differ in the last bit
			}
			var want []column
			add := func() {
				x := make([]int32, w.items)
				for item := range x {
					x[item] = r.Int32N(4)
				}
				c, allowed := new(columnStore).newColumn(w, slices.Clone(x))
				k, ok := l.intern(i, x)
				require.Equal(t, allowed, ok, seed)
				if ok && int(k) == len(want) {
					want = append(want, c)
				}
			}
			for range 10 {
				add()
			}
			new(columnSlabs).grow(columns, w, columns.len()+3)
			if len(want) > 0 {
				want[0].entries[0]++
				columns.setCost(0, want[0].cost())
			}
			for range 30 {
				add()
			}
			require.Equal(t, len(want), columns.len(), seed)
			for n, c := range want {
				k := int32(n)
				again, ok := l.intern(i, c.x)
				require.True(t, ok)
				assert.Equal(t, k, again)
				assert.Equal(t, c.x, columns.x(k))
				assert.Equal(t, c.entries, columns.entries(k))
				assert.Equal(t, c.rest, columns.rest(k))
			}
			met += len(want)
		}
	})
	assert.Greater(t, met, 2000)
}

// Configurations with the same hash are told apart.
func TestMetColumnsWithTheSameHash(t *testing.T) {
	columns := &metColumns{items: 2, width: 1}
	for n := range int32(3) {
		x := []int32{n, 7}
		assert.Equal(t, none, columns.find(x, 5))
		assert.Equal(t, n, columns.add(&column{x: x, entries: entries{math.Pi}}, 5))
		assert.Equal(t, n, columns.find(x, 5))
	}
}

// What is added to a row does not reach the next one.
func TestRowsOfMetColumnsEnd(t *testing.T) {
	columns := &metColumns{items: 1, width: 1}
	for n := range int32(2) {
		columns.add(&column{x: []int32{n}, entries: entries{float64(n)}}, 0)
	}
	_, _ = append(columns.x(0), 9), append(columns.entries(0), 9)
	assert.Equal(t, []int32{1}, columns.x(1))
	assert.Equal(t, entries{1}, columns.entries(1))
}
