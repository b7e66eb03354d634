package server

import (
	"runtime"
	"time"
)

// Limits say how much is answered at once, and how fast. What is zero has its default.
type Limits struct {
	// MaxRequestBytes is the size of the largest request, which is no more than there is
	// memory for. That of gRPC is the one at the start.
	MaxRequestBytes int
	// RequestMemory is the memory that requests take at once with all that comes of them, in
	// bytes. A quarter of that at the start is in addition for those that are being read.
	RequestMemory int64
	// Concurrency is how much is computed at once: a call for each 64 KiB of its request that
	// were begun, of which the largest take all there is. It is one less, and at least 1, while
	// there is work that goes before calls.
	Concurrency int
	// Queue is how many calls wait for their turn.
	Queue int
	// Rate is the number of calls per second of each caller, and Burst how many there may be
	// beyond it for a moment; 0 = any number, and those of a second.
	Rate  float64
	Burst int
	// Deadline is the longest time for a call but for streams, with waiting.
	Deadline time.Duration
	// Connections is how many there may be at once on each address.
	Connections int
	// Streams is how many are open at once, half of them of one caller at most, and how many calls
	// there are at once on a connection of gRPC. That at the start counts.
	Streams uint32
}

// What limits are by default.
const (
	DefaultMaxRequestBytes = 32 << 20
	DefaultQueue           = 64 // for each that is computed at once
	DefaultDeadline        = time.Minute
	DefaultConnections     = 1024
	DefaultStreams         = 1 << 14
)

// DefaultConcurrency is a call for each processor.
func DefaultConcurrency() int { return runtime.GOMAXPROCS(0) }

// orDefault has the default of what is zero.
func (l Limits) orDefault() Limits {
	fallback(&l.MaxRequestBytes, DefaultMaxRequestBytes)
	fallback(&l.RequestMemory, DefaultRequestMemory())
	l.MaxRequestBytes = int(min(int64(l.MaxRequestBytes), max(1, l.RequestMemory/memoryPerByte)))
	fallback(&l.Concurrency, DefaultConcurrency())
	fallback(&l.Queue, DefaultQueue*l.Concurrency)
	fallback(&l.Burst, max(1, int(l.Rate)))
	fallback(&l.Deadline, DefaultDeadline)
	fallback(&l.Connections, DefaultConnections)
	fallback(&l.Streams, DefaultStreams)
	return l
}

func fallback[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
