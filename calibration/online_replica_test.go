package calibration_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// scenario is a replica in production.
type scenario struct {
	name    string
	replica queueing.Replica
	shape   queueing.Shape
	limits  []queueing.Limit
	// scraped: the number running is a gauge, of which scrapes samples are taken in
	// each window, and the number waiting is not known.
	scraped bool
}

const scrapes = 4

// scenarios are of the sizes that models of 8 to 70 billion parameters have on one to
// eight accelerators.
func scenarios() []scenario {
	limits := func(ttft, itl float64) []queueing.Limit {
		return []queueing.Limit{{Metric: queueing.TTFT, Value: ttft}, {Metric: queueing.ITL, Value: itl}}
	}
	small := queueing.Profile{
		Alpha: 0.0068, Beta: 5.5e-5, Kappa: 4.5e-8, Gamma: 0.002, Delta: 2.6e-5, Epsilon: 3e-10, TTFTOffset: 0.012,
	}
	large := queueing.Profile{
		Alpha: 0.021, Beta: 1.2e-4, Kappa: 9e-8, Gamma: 0.004, Delta: 1.1e-4, Epsilon: 1.2e-9, TTFTOffset: 0.02,
	}
	experts := queueing.Profile{
		Alpha: 0.008, Beta: 4e-5, Kappa: 5e-8, Sigma: 0.0011, Gamma: 0.003, Delta: 3e-5, Epsilon: 4e-10, TTFTOffset: 0.015,
	}
	varied := func(in, out queueing.Tokens) queueing.Shape {
		return queueing.Shape{InputTokens: in, OutputTokens: out, InputSCV: 0.8, OutputSCV: 0.7, ArrivalSCV: 1}
	}
	cached := varied(3000, 180)
	cached.PrefixHitRatio = 0.6
	bursty := varied(700, 250)
	bursty.ArrivalSCV = 3
	return []scenario{
		{name: "chat", replica: queueing.Replica{Profile: small, MaxBatch: 128, MaxBatchedTokens: 8192}, shape: varied(600, 250), limits: limits(0.3, 0.02)},
		{name: "long prompts", replica: queueing.Replica{Profile: small, MaxBatch: 128, MaxBatchedTokens: 8192}, shape: varied(3000, 150), limits: limits(0.6, 0.04)},
		{name: "long outputs", replica: queueing.Replica{Profile: small, MaxBatch: 256, MaxBatchedTokens: 8192}, shape: varied(200, 700), limits: limits(0.3, 0.025)},
		{name: "large model", replica: queueing.Replica{Profile: large, MaxBatch: 96, MaxBatchedTokens: 4096}, shape: varied(800, 200), limits: limits(1, 0.06)},
		{name: "mixture of experts", replica: queueing.Replica{Profile: experts, MaxBatch: 128, MaxBatchedTokens: 8192}, shape: varied(500, 300), limits: limits(0.4, 0.04)},
		{name: "prefix cache", replica: queueing.Replica{Profile: small, MaxBatch: 128, MaxBatchedTokens: 8192}, shape: cached, limits: limits(0.5, 0.03)},
		{name: "bursts", replica: queueing.Replica{Profile: small, MaxBatch: 128, MaxBatchedTokens: 8192}, shape: bursty, limits: limits(0.4, 0.025)},
		{name: "blocking prefill", replica: queueing.Replica{Profile: small, MaxBatch: 128, MaxBatchedTokens: 8192, PrefillMode: queueing.Blocking}, shape: varied(600, 250), limits: limits(0.4, 0.03)},
	}
}

// minute is the window of production metrics.
const minute = 60.0

// cycle is the number of windows in a quickened day.
const cycle = 60

// diurnal is the course of quickened days: load from 0.2 to 0.9 of saturation with
// noise from window to window.
func diurnal(saturation queueing.Rate, windows int, r *rand.Rand) []replica.Phase {
	phases := make([]replica.Phase, windows)
	start := r.Float64()
	for i := range phases {
		wave := math.Sin(2 * math.Pi * (start + float64(i)/cycle))
		load := (0.55 + 0.33*wave) * math.Exp(0.08*r.NormFloat64())
		phases[i] = replica.Phase{Duration: minute, Rate: queueing.Rate(max(0.2, min(load, 0.9))) * saturation}
	}
	return phases
}

// produce simulates a scenario under a rate over time and returns what would be seen
// of it minute by minute.
func produce(t testing.TB, s scenario, phases []replica.Phase, seed uint64, windows int) []calibration.Observation {
	t.Helper()
	arrivals, err := replica.Load{Shape: s.shape, Phases: phases, Seed: seed}.Arrivals()
	require.NoError(t, err)
	server, err := replica.New(s.replica)
	require.NoError(t, err)
	log := newLog(s.shape, windows)
	next, stop := iter.Pull(arrivals)
	defer stop()
	req, more := next()
	var before replica.Totals
	for k := range windows * scrapes {
		end := float64(k+1) * minute / scrapes
		w := &log[k/scrapes]
		for more && req.Arrival < end {
			log.stepUntil(server, req.Arrival)
			require.Equal(t, replica.Accepted, server.Arrive(req))
			w.arrived++
			req, more = next()
		}
		log.stepUntil(server, end)
		w.running += float64(server.Running()) / scrapes
		if k%scrapes == scrapes-1 {
			w.totals = server.Totals().Since(before)
			before = server.Totals()
		}
	}
	log.stepUntil(server, math.Inf(1))
	return log.observations(s.scraped)
}

// windowLog is what the metrics of a server count in one window: vLLM counts lengths
// when requests finish and latencies when tokens appear.
type windowLog struct {
	shape          queueing.Shape
	totals         replica.Totals
	running        float64
	arrived        int
	finished       int
	input, output  float64
	first          int
	ttft           float64
	tokens, spaced float64
}

type windowLogs []windowLog

func newLog(shape queueing.Shape, windows int) windowLogs {
	return slices.Repeat(windowLogs{{shape: shape}}, windows)
}

func (l windowLogs) stepUntil(server *replica.Replica, moment float64) {
	for server.Next() < moment {
		for _, c := range server.Step() {
			l.record(&c)
		}
	}
}

func (l windowLogs) at(moment float64) *windowLog {
	if i := int(moment / minute); i < len(l) {
		return &l[i]
	}
	return &windowLog{}
}

func (l windowLogs) record(c *replica.Completion) {
	w := l.at(c.Finished)
	w.finished++
	w.input += float64(c.Input)
	w.output += float64(c.Output)
	w = l.at(c.FirstToken)
	w.first++
	w.ttft += float64(c.TTFT())
	for from := c.FirstToken; from < c.Finished; {
		to := min(c.Finished, minute*(1+math.Floor(from/minute)))
		w := l.at(from)
		w.spaced += to - from
		w.tokens += (to - from) / float64(c.ITL())
		from = to
	}
}

func (l windowLogs) observations(scraped bool) []calibration.Observation {
	all := make([]calibration.Observation, len(l))
	for i, w := range l {
		all[i] = calibration.Observation{
			Window:         minute,
			Rate:           calibration.Of(float64(w.arrived) / minute),
			Running:        calibration.Of(w.totals.MeanRunning()),
			Waiting:        calibration.Of(w.totals.MeanWaiting()),
			InputTokens:    calibration.Of(w.input / float64(w.finished)),
			OutputTokens:   calibration.Of(w.output / float64(w.finished)),
			InputSCV:       calibration.Of(w.shape.InputSCV),
			OutputSCV:      calibration.Of(w.shape.OutputSCV),
			ArrivalSCV:     calibration.Of(w.shape.ArrivalSCV),
			PrefixHitRatio: calibration.Of(w.shape.PrefixHitRatio),
			ITL:            calibration.Of(w.spaced / w.tokens),
			TTFT:           calibration.Of(w.ttft / float64(w.first)),
		}
		if scraped {
			all[i].Running, all[i].Waiting = calibration.Of(w.running), calibration.Quantity{}
		}
	}
	return all
}

func observe(t testing.TB, s scenario, windows int, seed uint64) []calibration.Observation {
	t.Helper()
	station, err := queueing.NewStation(s.replica, s.shape)
	require.NoError(t, err)
	phases := diurnal(station.SaturationRate(), windows, rand.New(rand.NewPCG(seed, 1)))
	return produce(t, s, phases, seed, windows)
}

// capacityError is the relative error of the capacity that an estimate leads to.
func capacityError(t testing.TB, s scenario, estimate queueing.Profile) float64 {
	t.Helper()
	rate := func(p queueing.Profile) float64 {
		r := s.replica
		r.Profile = p
		station, err := queueing.NewStation(r, s.shape)
		require.NoError(t, err)
		c, err := station.Capacity(queueing.SLO{Limits: s.limits})
		require.NoError(t, err)
		return float64(c.Rate)
	}
	return rate(estimate)/rate(s.replica.Profile) - 1
}

// corrupt spoils a share of the observations, each in one way that metrics are spoilt
// in.
func corrupt(clean []calibration.Observation, share float64, r *rand.Rand) []calibration.Observation {
	all := slices.Clone(clean)
	for i := range all {
		if r.Float64() < share {
			spoil(&all[i], clean[max(i-1, 0)], r)
		}
	}
	return all
}

func spoil(o *calibration.Observation, last calibration.Observation, r *rand.Rand) {
	fields := []*calibration.Quantity{
		&o.Rate, &o.Running, &o.Waiting, &o.InputTokens, &o.OutputTokens, &o.ITL, &o.TTFT,
	}
	q := fields[r.IntN(len(fields))]
	switch r.IntN(9) {
	case 0:
		q.Value = math.NaN()
	case 1:
		q.Value = 0
	case 2:
		q.Value *= 100
	case 3:
		q.Value /= 100
	case 4:
		*q = calibration.Quantity{}
	case 5:
		// A counter that began anew, not noticed: the difference is negative.
		o.Rate.Value = -o.Rate.Value * 1000
	case 6:
		// A counter that began anew within the window, noticed: a part is missing.
		o.Rate.Value *= r.Float64()
	case 7:
		// The sum began anew, the count did not, or the other way round.
		factor := r.Float64()
		if r.IntN(2) == 0 {
			factor = 1 / factor
		}
		[]*calibration.Quantity{&o.ITL, &o.TTFT}[r.IntN(2)].Value *= factor
	case 8:
		*o = last
	}
}
