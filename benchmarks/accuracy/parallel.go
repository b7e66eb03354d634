package main

import (
	"runtime"
	"sync"
)

// parallel calls f for 0 … n-1 on all processors and returns when all are done.
func parallel(n int, f func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}
