package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Count returns how many blocks of at most size elements a list of n has.
func Count(n, size int) int { return (n + size - 1) / size }

// Blocks calls do for each block of at most size elements of a list of n, with the
// block's index and the range of its elements, and returns when all are done. The
// calls run on as many goroutines as there are processors, in any order, so each may
// write only what belongs to its block or elements. Where a call panics, Blocks
// panics with the same value in the goroutine of its caller.
func Blocks(n, size int, do func(block, from, to int)) {
	blocks := Count(n, size)
	var next atomic.Int64
	work := func() {
		for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
			do(b, b*size, min(n, (b+1)*size))
		}
	}
	workers := min(runtime.GOMAXPROCS(0), blocks)
	if workers < 2 {
		work()
		return
	}
	var group sync.WaitGroup
	panics := make(chan any, workers)
	for range workers {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
				}
			}()
			work()
		})
	}
	group.Wait()
	close(panics)
	if p, ok := <-panics; ok {
		panic(p)
	}
}
