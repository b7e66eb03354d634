package parallel_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/parallel"
)

func onProcessors(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, processors := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("processors=%d", processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			test(t)
		})
	}
}

func TestBlocksCoverTheList(t *testing.T) {
	onProcessors(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 9, 10, 11, 1000} {
			elements := make([]int, n)
			blocks := make([]int, parallel.Count(n, 10))
			starts := make([]int, len(blocks))
			parallel.Blocks(n, 10, func(block, from, to int) {
				blocks[block]++
				starts[block] = from
				for i := from; i < to; i++ {
					elements[i]++
				}
			})
			for _, calls := range elements {
				require.Equal(t, 1, calls)
			}
			for block, calls := range blocks {
				require.Equal(t, 1, calls)
				require.Equal(t, block*10, starts[block])
			}
		}
	})
}

func TestBlocksPassPanicsOn(t *testing.T) {
	onProcessors(t, func(t *testing.T) {
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
	})
}
