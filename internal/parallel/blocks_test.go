package parallel_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/parallel"
)

func TestBlocksCoverTheList(t *testing.T) {
	for _, processors := range []int{1, 2, 7} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for _, n := range []int{0, 1, 9, 10, 11, 1000} {
			seen := make([]int, n)
			blocks := make([]int, parallel.Count(n, 10))
			parallel.Blocks(n, 10, func(block, from, to int) {
				blocks[block]++
				require.Equal(t, block*10, from)
				for i := from; i < to; i++ {
					seen[i]++
				}
			})
			for _, calls := range append(seen, blocks...) {
				require.Equal(t, 1, calls)
			}
		}
	}
}

func TestBlocksPassPanicsOn(t *testing.T) {
	for _, processors := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var running atomic.Int32
		require.PanicsWithValue(t, "block 3", func() {
			parallel.Blocks(100, 1, func(block, _, _ int) {
				running.Add(1)
				defer running.Add(-1)
				if block == 3 {
					panic("block 3")
				}
			})
		})
		require.Zero(t, running.Load(), "no call outlives Blocks")
	}
}
