package calibration

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// workloads returns closed-loop samples grouped by their lengths.
func workloads() []Sample {
	var samples []Sample
	for _, w := range []struct {
		group   string
		in, out float64
	}{{"a", 100, 300}, {"b", 1000, 100}, {"c", 4000, 200}, {"d", 500, 500}, {"e", 2000, 1000}, {"f", 8000, 100}} {
		for _, clients := range []float64{1, 4, 16, 64} {
			samples = append(samples, Sample{Group: w.group, Concurrency: Of(clients), InputTokens: Of(w.in), OutputTokens: Of(w.out)})
		}
	}
	return samples
}

func TestLeaveOneGroupOut(t *testing.T) {
	samples := measure(workloads(), dense, Options{}, 0.01, seeded(30))
	options := Options{Ignore: loadOnly, SquareRoot: SquareRootNever}
	v, err := LeaveOneGroupOut(samples, options)
	require.NoError(t, err)
	assert.Less(t, v.Errors.ITL.Median, 0.03)
	assert.Equal(t, len(samples), v.Errors.ITL.Count)
	assert.Zero(t, v.Errors.TTFT.Count)
	require.Len(t, v.Groups, 6)

	// Each group is predicted by the very fit to the others.
	for i, g := range v.Groups {
		assert.Equal(t, string(rune('a'+i)), g.Group)
		var rest, held []Sample
		for _, s := range samples {
			if s.Group == g.Group {
				held = append(held, s)
			} else {
				rest = append(rest, s)
			}
		}
		e, err := Fit(rest, options)
		require.NoError(t, err)
		residuals, err := Predict(e.Profile, held, options)
		require.NoError(t, err)
		assert.Equal(t, Summarize(residuals), g.Errors)
	}
	assert.True(t, slices.IsSortedFunc(v.Residuals, func(a, b Residual) int { return a.Sample - b.Sample }))

	e, err := Fit(samples, Options{Ignore: loadOnly, SquareRoot: SquareRootNever, HeldOut: true})
	require.NoError(t, err)
	assert.Equal(t, v, e.HeldOut)
	assert.Less(t, e.Errors.ITL.Median, v.Errors.ITL.Median, "what a fit has not seen is harder")
}

// A group that is unlike all others is what leaving it out must reveal.
func TestLeaveOneGroupOutRevealsAStranger(t *testing.T) {
	samples := measure(workloads(), dense, Options{}, 0.01, seeded(31))
	for i := range samples {
		if samples[i].Group == "d" {
			samples[i].ITL.Value *= 1.5
		}
	}
	v, err := LeaveOneGroupOut(samples, Options{Ignore: loadOnly, SquareRoot: SquareRootNever})
	require.NoError(t, err)
	stranger := slices.IndexFunc(v.Groups, func(g GroupErrors) bool { return g.Group == "d" })
	most := v.Groups[stranger].Errors.ITL.Median
	assert.InDelta(t, 1-1/1.5, most, 0.05)
	for i, g := range v.Groups {
		if i != stranger {
			assert.Less(t, g.Errors.ITL.Median, 0.75*most, g.Group)
		}
	}
}

func TestLeaveOneGroupOutNeedsGroups(t *testing.T) {
	one := []Sample{{Group: "a", InputTokens: Of(5), TTFT: Of(1)}}
	_, err := LeaveOneGroupOut(one, Options{})
	require.ErrorContains(t, err, "at least two groups")

	e, err := Fit(one, Options{HeldOut: true})
	require.NoError(t, err)
	assert.Equal(t, Validation{}, e.HeldOut)
	assert.Contains(t, strings.Join(e.Notes, "\n"), "no held-out errors: leaving one group out needs at least two groups")

	two := slices.Concat(one, []Sample{{Group: "b", InputTokens: Of(5), OutputTokens: Of(5), Concurrency: Of(1), TTFT: Of(1)}})
	_, err = LeaveOneGroupOut(two, Options{Ignore: []Use{{ClosedLoop, queueing.TTFT}}})
	require.ErrorContains(t, err, `without group "a"`)
	_, err = LeaveOneGroupOut([]Sample{{}}, Options{})
	require.ErrorContains(t, err, "samples[0]")
}
