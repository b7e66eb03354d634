package calibration_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
)

// wrongBy is how far each coefficient of a prior is off, acceptable how far the
// capacity that follows from an estimate may be, after a number of windows.
const (
	wrongBy    = 0.3
	acceptable = 0.05
	windows    = 60
)

// signPatterns is the number of ways in which coefficients may be too high or too low.
const signPatterns = 1 << 7

// wrong returns a profile of which every coefficient is off: up where a bit of pattern
// is set, down elsewhere. σ goes the way of β.
func wrong(p queueing.Profile, pattern int) queueing.Profile {
	off := func(coefficient *float64, bit int) {
		if pattern>>bit&1 == 1 {
			*coefficient *= 1 + wrongBy
		} else {
			*coefficient *= 1 - wrongBy
		}
	}
	for bit, c := range []*float64{&p.Alpha, &p.Beta, &p.Kappa, &p.Gamma, &p.Delta, &p.Epsilon, &p.TTFTOffset} {
		off(c, bit)
	}
	off(&p.Sigma, 1)
	return p
}

func newFilter(t testing.TB, s scenario, prior queueing.Profile) calibration.Filter {
	t.Helper()
	r := s.replica
	r.Profile = prior
	f, err := calibration.NewFilter(r, calibration.FilterConfig{})
	require.NoError(t, err)
	return f
}

func values(p queueing.Profile) []float64 {
	return []float64{p.Alpha, p.Beta, p.Kappa, p.Sigma, p.Gamma, p.Delta, p.Epsilon, p.TTFTOffset}
}

// requireSane checks what a filter promises whatever it is shown: finite coefficients
// within a factor of 10 of the prior, zeros that stay, small steps, and a state that
// can be resumed, which has a symmetric and positive definite covariance.
func requireSane(t testing.TB, r queueing.Replica, before, after calibration.Filter) {
	t.Helper()
	prior, old := values(r.Profile), values(before.Profile())
	for i, value := range values(after.Profile()) {
		if prior[i] == 0 {
			require.Zero(t, value)
			continue
		}
		require.InDelta(t, 0, math.Log10(value/prior[i]), 1+1e-9)
		// Two latencies move a coefficient by a factor of 1.2 each.
		require.InDelta(t, 0, math.Log(value/old[i]), 2*math.Log(1.2)+1e-9)
	}
	_, err := calibration.ResumeFilter(r, calibration.FilterConfig{}, after.State())
	require.NoError(t, err)
}

// TestFilterConverges starts from every coefficient 30 % wrong, in every combination of
// signs, and requires the capacity to be within 5 % after 60 windows of a minute.
func TestFilterConverges(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) { requireConvergence(t, s, 0, 1) })
	}
}

// TestFilterConvergesOnGauges: a few samples of the number running are enough.
func TestFilterConvergesOnGauges(t *testing.T) {
	for _, s := range scenarios() {
		s.scraped = true
		t.Run(s.name, func(t *testing.T) { requireConvergence(t, s, 1, 5) })
	}
}

// requireConvergence starts from every step-th combination of signs.
func requireConvergence(t *testing.T, s scenario, seed uint64, step int) {
	t.Helper()
	observations := observe(t, s, windows, seed)
	worstBefore, worst := 0.0, 0.0
	for pattern := 0; pattern < signPatterns; pattern += step {
		f := newFilter(t, s, wrong(s.replica.Profile, pattern))
		worstBefore = max(worstBefore, math.Abs(capacityError(t, s, f.Profile())))
		for _, o := range observations {
			f, _ = f.Observe(o)
		}
		worst = max(worst, math.Abs(capacityError(t, s, f.Profile())))
	}
	t.Logf("worst capacity error %.1f %% before, %.1f %% after", 100*worstBefore, 100*worst)
	require.Greater(t, worstBefore, wrongBy)
	require.LessOrEqual(t, worst, acceptable)
}

// TestFilterWithstandsCorruption does the same with a share of the observations spoilt,
// and requires sanity after each of them.
func TestFilterWithstandsCorruption(t *testing.T) {
	for _, share := range []float64{0.1, 0.2} {
		for _, s := range scenarios() {
			t.Run(fmt.Sprintf("%s/%v", s.name, share), func(t *testing.T) {
				worst := 0.0
				for seed := range uint64(3) {
					clean := observe(t, s, windows, seed)
					for pattern := int(seed); pattern < signPatterns; pattern += 24 {
						f := newFilter(t, s, wrong(s.replica.Profile, pattern))
						r := s.replica
						r.Profile = wrong(s.replica.Profile, pattern)
						for _, o := range corrupt(clean, share, rand.New(rand.NewPCG(seed, uint64(pattern)))) {
							next, _ := f.Observe(o)
							requireSane(t, r, f, next)
							f = next
						}
						worst = max(worst, math.Abs(capacityError(t, s, f.Profile())))
					}
				}
				t.Logf("worst capacity error %.1f %%", 100*worst)
				require.LessOrEqual(t, worst, acceptable)
			})
		}
	}
}

// TestFilterStaysSaneOnGarbage: also when nothing is right.
func TestFilterStaysSaneOnGarbage(t *testing.T) {
	for seed := range uint64(8) {
		s := scenarios()[seed]
		random := rand.New(rand.NewPCG(seed, 2))
		observations := observe(t, s, 2*windows, seed)
		for range 3 {
			observations = corrupt(observations, 1, random)
		}
		f := newFilter(t, s, s.replica.Profile)
		for _, o := range observations {
			next, _ := f.Observe(o)
			requireSane(t, s.replica, f, next)
			f = next
		}
	}
}

// TestFilterFollowsChange: the replica becomes slower by half, as under a power cap,
// or faster by a third, as with another release of the server.
func TestFilterFollowsChange(t *testing.T) {
	for _, factor := range []float64{1.5, 0.67} {
		for _, s := range scenarios() {
			t.Run(fmt.Sprintf("%s/%v", s.name, factor), func(t *testing.T) {
				changed := s
				p := &changed.replica.Profile
				for _, c := range []*float64{&p.Alpha, &p.Beta, &p.Kappa, &p.Sigma, &p.Gamma, &p.Delta, &p.Epsilon} {
					*c *= factor
				}
				f := newFilter(t, s, s.replica.Profile)
				for _, o := range observe(t, s, windows, 3) {
					f, _ = f.Observe(o)
				}
				noticed := false
				for _, o := range observe(t, changed, windows, 4) {
					var r calibration.Report
					f, r = f.Observe(o)
					noticed = noticed || r.ITL.Drift.Alarm && r.ITL.Drift.Longer == (factor > 1)
				}
				require.True(t, noticed)
				require.InDelta(t, 0, capacityError(t, changed, f.Profile()), acceptable)
			})
		}
	}
}
