package trace_test

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/trace"
)

// randomLists are requests at few different times, so that many are at the same.
func randomLists(random *rand.Rand) []trace.Workload {
	var workloads []trace.Workload
	for _, name := range []string{"d", "a", "c", "b"} {
		var l trace.List
		for range random.IntN(50) {
			l = append(l, trace.Request{At: float64(random.IntN(20)), Input: random.IntN(1000), Output: 1})
		}
		slices.SortStableFunc(l, func(x, y trace.Request) int { return int(x.At - y.At) })
		workloads = append(workloads, trace.Workload{Name: name, Source: l})
	}
	return append(workloads, trace.Workload{Name: "none"})
}

// The merge is a stable sort by time and the names of workloads.
func TestMergeOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		workloads := randomLists(random)
		var want []trace.Request
		for i, w := range workloads {
			if w.Source == nil {
				continue
			}
			for r := range each(t, trace.Workload{Source: w.Source}) {
				r.Workload = i
				want = append(want, r)
			}
		}
		slices.SortStableFunc(want, func(x, y trace.Request) int {
			if x.At != y.At {
				return int(x.At - y.At)
			}
			return strings.Compare(workloads[x.Workload].Name, workloads[y.Workload].Name)
		})
		require.Equal(t, want, slices.Collect(each(t, workloads...)))
	}
}

func each(t *testing.T, workloads ...trace.Workload) func(func(trace.Request) bool) {
	t.Helper()
	requests, failed := trace.Requests(workloads, 1)
	return func(yield func(trace.Request) bool) {
		requests(yield)
		require.NoError(t, failed())
	}
}

// Other workloads, and their order, leave the requests of a workload as they are.
func TestWorkloadsAreIndependent(t *testing.T) {
	a := trace.Workload{Name: "a", Source: generate(t, poisson(trace.Constant(5).Until(100)))}
	b := trace.Workload{Name: "b", Source: generate(t, poisson(trace.Constant(5).Until(100)))}
	of := func(workload int, all []trace.Request) (of []trace.Request) {
		for _, r := range all {
			if r.Workload == workload {
				r.Workload = 0
				of = append(of, r)
			}
		}
		return of
	}
	alone := slices.Collect(each(t, a))
	both, turned := slices.Collect(each(t, a, b)), slices.Collect(each(t, b, a))
	assert.Equal(t, alone, of(0, both))
	assert.Equal(t, alone, of(1, turned))
	assert.Equal(t, of(1, both), of(0, turned))
	assert.NotEqual(t, of(0, both), of(1, both), "workloads do not share random numbers")
}

func TestEnd(t *testing.T) {
	assert.Zero(t, trace.End(nil))
	list := trace.List{{At: 3}, {At: 8}}
	assert.InDelta(t, 8, trace.End([]trace.Workload{{Source: list}, {}}), 0)
	assert.True(t, math.IsInf(trace.End([]trace.Workload{{Source: list}, {Source: generate(t, poisson(trace.Constant(1)))}}), 1))
}

func TestRatesOfAList(t *testing.T) {
	rates, err := trace.Rates(trace.Workload{Source: trace.List{{At: 0}, {At: 9.9}, {At: 10}, {At: 35}, {At: 40}}}, 1, 10, 4)
	require.NoError(t, err)
	assert.Equal(t, []float64{0.2, 0.1, 0, 0.1}, rates)
	rates, err = trace.Rates(trace.Workload{}, 1, 10, 2)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0}, rates)
	_, err = trace.Rates(trace.Workload{}, 1, 0, 2)
	require.EqualError(t, err, "trace: rates: 2 windows of 0 s")
}

// A file that can no longer be read ends the requests, and is not silent.
func TestFailureWhileReading(t *testing.T) {
	text := "t,in,out\n1,2,3\n"
	s, err := trace.Read(trace.File{Name: "x.csv", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	require.NoError(t, err)
	w := trace.Workload{Name: "w", Source: s}
	requests, failed := trace.Requests([]trace.Workload{w}, 1)
	text += "0,2,3\n"
	require.Len(t, slices.Collect(requests), 1)
	require.EqualError(t, failed(), "x.csv:3: time 0 s is before 1 s, that of the request before")
	_, err = trace.Rates(w, 1, 10, 1)
	require.Error(t, err)
}

// Each opened file is closed, also where the loop ends early.
func TestFilesAreClosed(t *testing.T) {
	var open int
	s, err := trace.Read(trace.File{Name: "x.csv", Open: func() (io.ReadCloser, error) {
		open++
		return closer{strings.NewReader("t,in,out\n1,2,3\n2,2,3\n"), func() { open-- }}, nil
	}})
	require.NoError(t, err)
	require.Zero(t, open)
	for range each(t, trace.Workload{Source: trace.Sum(s, s)}) {
		require.Equal(t, 2, open)
		break
	}
	require.Zero(t, open)
	var days []trace.Source
	for i := range 20 {
		days = append(days, place(t, s, trace.Placement{At: float64(i) * 10}))
	}
	n := 0
	for range each(t, trace.Workload{Source: trace.Sum(days...)}) {
		require.LessOrEqual(t, open, 2, "files one after another are not open at once")
		n++
	}
	require.Equal(t, 40, n)
	require.Zero(t, open)
	_, err = trace.Read(trace.File{Name: "x.csv", Open: func() (io.ReadCloser, error) { return nil, errors.New("it is away") }})
	require.EqualError(t, err, "x.csv: it is away")
}

type closer struct {
	io.Reader
	closed func()
}

func (c closer) Close() error {
	c.closed()
	return nil
}
