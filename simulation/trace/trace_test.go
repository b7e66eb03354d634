package trace_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/trace"
)

// poisson is Poisson arrivals with lognormal lengths.
func poisson(rate trace.Curve) trace.Generator {
	return trace.Generator{
		Arrivals: trace.Arrivals{Rate: rate},
		Input:    trace.Lengths{Distribution: trace.LogNormalLengths, Mean: 1000, SCV: 1},
		Output:   trace.Lengths{Distribution: trace.LogNormalLengths, Mean: 250, SCV: 0.5},
	}
}

func generate(tb testing.TB, g trace.Generator) trace.Source {
	tb.Helper()
	s, err := trace.Generate(g)
	require.NoError(tb, err)
	return s
}

// until returns the requests of a source before a time.
func until(tb testing.TB, s trace.Source, seed uint64, end float64) []trace.Request {
	tb.Helper()
	requests, failed := trace.Requests([]trace.Workload{{Name: "w", Source: s}}, seed)
	var all []trace.Request
	for r := range requests {
		if len(all) > 0 && r.At < all[len(all)-1].At {
			require.Fail(tb, "requests out of order")
		}
		if r.At >= end {
			break
		}
		all = append(all, r)
	}
	require.NoError(tb, failed())
	return all
}

// all returns the requests of a source that ends.
func all(tb testing.TB, s trace.Source, seed uint64) []trace.Request {
	tb.Helper()
	return until(tb, s, seed, math.Inf(1))
}
