package queueing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// poisson are requests without variation but for Poisson arrivals and exponential
// lengths: the shape for which the chain is exact.
func poisson(in, out queueing.Tokens) queueing.Shape {
	return queueing.Shape{InputTokens: in, OutputTokens: out, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}
}

func limited(places int) queueing.Waiting { return queueing.Waiting{Limited: true, Places: places} }

func station(t testing.TB, r queueing.Replica, s queueing.Shape) *queueing.Station {
	t.Helper()
	st, err := queueing.NewStation(r, s)
	require.NoError(t, err)
	return st
}

// TestSingleServer: one request at a time is M/M/1.
func TestSingleServer(t *testing.T) {
	for _, model := range []queueing.ServiceModel{queueing.ContinuousBatching, queueing.LLMDV2} {
		s := station(t, queueing.Replica{Model: model, Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 1}, poisson(0, 100))
		mu := float64(s.SaturationRate())
		require.InEpsilon(t, 1, mu, 1e-12)
		for _, load := range []float64{0.1, 0.5, 0.9, 0.999} {
			p := s.Evaluate(queueing.Rate(load * mu))
			require.Equal(t, queueing.Steady, p.Outcome)
			require.InEpsilon(t, 1-load, p.EmptyProbability, 1e-12)
			require.InEpsilon(t, load/(1-load), p.Running+p.Queued, 1e-11)
			require.InEpsilon(t, load/(mu-load*mu), float64(p.Wait.Mean()), 1e-11)
			require.Zero(t, p.BlockedShare)
			for _, q := range []float64{0.05, 0.5, 0.95, 0.999} {
				want := math.Max(0, math.Log(load/(1-q))/(mu-load*mu))
				require.InDelta(t, want, float64(p.Wait.Quantile(q)), 1e-11*(1+want))
			}
		}
	}
}

// TestSharedProcessor: where only the KV cache is read, the time in service grows
// with the batch, and the batch shares one processor: M/M/1.
func TestSharedProcessor(t *testing.T) {
	s := station(t, queueing.Replica{Profile: queueing.Profile{Kappa: 1e-5}, MaxBatch: 20}, poisson(0, 100))
	// 99 steps read 100 tokens each: exponential outputs are met after their mean length.
	require.InEpsilon(t, 1/(99*1e-5*100), float64(s.SaturationRate()), 1e-12)
	for _, load := range []float64{0.2, 0.9} {
		p := s.Evaluate(s.SaturationRate() * queueing.Rate(load))
		require.InEpsilon(t, 1-load, p.EmptyProbability, 1e-12)
		require.InEpsilon(t, load/(1-load), p.Running+p.Queued, 1e-11)
	}
}

// TestConstantIteration: an iteration of constant length is M/M/c.
func TestConstantIteration(t *testing.T) {
	const servers, stay = 12, 2.0
	s := station(t, queueing.Replica{Profile: queueing.Profile{Alpha: stay / 50}, MaxBatch: servers}, poisson(0, 50))
	for _, load := range []float64{0.05, 0.6, 0.97} {
		arrivals := load * servers / stay
		offered := arrivals * stay
		// Erlang B by recursion over servers, then Erlang C.
		lost := 1.0
		for n := 1.0; n <= servers; n++ {
			lost = offered * lost / (n + offered*lost)
		}
		delayed := lost / (1 - load*(1-lost))
		p := s.Evaluate(queueing.Rate(arrivals))
		require.InEpsilon(t, delayed*stay/servers/(1-load), float64(p.Wait.Mean()), 1e-11)
		require.InEpsilon(t, 1-delayed, p.Wait.CDF(0), 1e-11)
		require.InEpsilon(t, offered, p.Running, 1e-12)

		loss := station(t, queueing.Replica{
			Profile: queueing.Profile{Alpha: stay / 50}, MaxBatch: servers, MaxQueue: limited(0),
		}, poisson(0, 50)).Evaluate(queueing.Rate(arrivals))
		require.InEpsilon(t, lost, loss.BlockedShare, 1e-11)
		require.Zero(t, loss.Wait.Mean())
		require.Zero(t, loss.Queued)
	}
}

// TestLimitedSingleServer: one request at a time with waiting places is M/M/1/K.
func TestLimitedSingleServer(t *testing.T) {
	const places = 7
	s := station(t, queueing.Replica{
		Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 1, MaxQueue: limited(places),
	}, poisson(0, 100))
	for _, load := range []float64{0.2, 1, 1.7} {
		p := s.Evaluate(queueing.Rate(load))
		sum, first := 0.0, 0.0
		for n := range places + 2 {
			sum += math.Pow(load, float64(n))
			first += float64(n) * math.Pow(load, float64(n))
		}
		require.InEpsilon(t, math.Pow(load, places+1)/sum, p.BlockedShare, 1e-12)
		require.InEpsilon(t, first/sum, p.Running+p.Queued, 1e-12)
	}
}

// randomReplica draws from all models, sizes and modes.
func randomReplica(r *rand.Rand) (queueing.Replica, queueing.Shape) {
	scale := func(typical float64) float64 {
		if r.IntN(4) == 0 {
			return 0
		}
		return typical * math.Exp(r.NormFloat64())
	}
	replica := queueing.Replica{
		Model: queueing.ServiceModel(r.IntN(5)),
		Profile: queueing.Profile{
			Alpha: 0.007 * math.Exp(r.NormFloat64()), Beta: scale(5e-5),
			Kappa: scale(3e-8), Sigma: scale(1e-4), TTFTOffset: scale(0.01),
		},
		MaxBatch:    1 + r.IntN(200),
		PrefillMode: queueing.PrefillMode(r.IntN(2)),
	}
	switch replica.Model {
	case queueing.LLMDV2, queueing.LLMDV3:
		replica.Profile.Gamma = scale(3e-7)
	default:
		replica.Profile.Gamma, replica.Profile.Delta, replica.Profile.Epsilon = scale(0.01), scale(5e-6), scale(1e-10)
	}
	if r.IntN(2) == 0 {
		replica.MaxQueue = limited(r.IntN(300))
	}
	if r.IntN(3) == 0 {
		replica.MaxBatchedTokens = queueing.Tokens(int(512) << r.IntN(5))
	}
	if r.IntN(3) == 0 {
		replica.KVCacheTokens = queueing.Tokens(20_000 + r.IntN(500_000))
	}
	if r.IntN(3) == 0 {
		replica.AcceptedTokens = 1 + 2*r.Float64()
	}
	shape := queueing.Shape{
		InputTokens:  queueing.Tokens(scale(700)),
		OutputTokens: queueing.Tokens(1 + scale(200)),
		InputSCV:     scale(1), OutputSCV: scale(1), ArrivalSCV: scale(1),
		PrefixHitRatio: float64(r.IntN(3)) / 2,
	}
	if shape.OutputTokens == 1 {
		// Nothing but prefill takes time in LLMDV1 then.
		replica.Profile.Gamma = 0.01
		shape.InputTokens++
	}
	return replica, shape
}

// TestLittle: requests in the batch and waiting are throughput times the time spent
// there, for every model.
func TestLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		replica, shape := randomReplica(r)
		s := station(t, replica, shape)
		p := s.Evaluate(s.SaturationRate() * queueing.Rate(1.2*r.Float64()))
		if p.Outcome != queueing.Steady || p.Throughput == 0 {
			continue
		}
		x := float64(p.Throughput)
		require.InEpsilon(t, p.Running, x*float64(p.Service), 1e-12)
		require.InDelta(t, p.Queued, x*float64(p.Wait.Mean()), 1e-12*(1+p.Queued))
		require.InDelta(t, p.Running, p.Utilization*float64(s.BatchLimit()), 1e-9)
	}
}

// TestMonotoneInLoad: more arrivals never make anything better.
func TestMonotoneInLoad(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		replica, shape := randomReplica(r)
		if replica.Model == queueing.LLMDV3 {
			// Its number of chunks jumps with the batch, and latency with it.
			continue
		}
		s := station(t, replica, shape)
		last := s.Evaluate(0)
		for step := 1.0; step <= 40; step++ {
			p := s.Evaluate(s.SaturationRate() * queueing.Rate(step/40*0.999))
			const slack = 1 - 1e-9
			require.GreaterOrEqual(t, float64(p.Throughput), slack*float64(last.Throughput))
			require.GreaterOrEqual(t, p.BlockedShare, slack*last.BlockedShare)
			require.GreaterOrEqual(t, p.Utilization, slack*last.Utilization)
			require.GreaterOrEqual(t, float64(p.Service), slack*float64(last.Service))
			require.GreaterOrEqual(t, float64(p.ITL.Mean()), slack*float64(last.ITL.Mean()))
			require.GreaterOrEqual(t, float64(p.TTFT.Mean()), slack*float64(last.TTFT.Mean()), "%+v %+v %v", replica, shape, step)
			require.GreaterOrEqual(t, float64(p.E2E.Mean()), slack*float64(last.E2E.Mean()), "%+v %+v %v", replica, shape, step)
			last = p
		}
	}
}

// TestMonotoneInCoefficients: a slower replica serves less.
func TestMonotoneInCoefficients(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	slo := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Value: 0.5}, {Metric: queueing.ITL, Value: 0.02}, {Metric: queueing.E2E, Value: 20},
	}}
	for range 500 {
		replica, shape := randomReplica(r)
		if replica.Model == queueing.LLMDV3 {
			continue
		}
		fast, err := station(t, replica, shape).Capacity(slo)
		require.NoError(t, err)
		p := &replica.Profile
		for _, coefficient := range []*float64{&p.Alpha, &p.Beta, &p.Gamma, &p.Delta, &p.Kappa, &p.Sigma, &p.Epsilon, &p.TTFTOffset} {
			saved := *coefficient
			*coefficient *= 1.1
			slow, err := station(t, replica, shape).Capacity(slo)
			require.NoError(t, err)
			// More arrivals may be blocked, and the mean is over the others.
			require.LessOrEqual(t, float64(slow.Served), float64(fast.Served)*(1+1e-9), "%+v %+v", replica, shape)
			*coefficient = saved
		}
	}
}

// TestSaturated: unlimited waiting has no steady state from μ(B) on.
func TestSaturated(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01, Beta: 0.001}, MaxBatch: 8}
	s := station(t, r, poisson(10, 50))
	for _, rate := range []queueing.Rate{s.SaturationRate(), 10 * s.SaturationRate(), queueing.Rate(math.Inf(1))} {
		p := s.Evaluate(rate)
		require.Equal(t, queueing.Saturated, p.Outcome)
		require.Equal(t, s.SaturationRate(), p.Throughput)
		require.Equal(t, 1.0, p.Utilization)
		require.True(t, math.IsInf(float64(p.TTFT.Mean()), 1))
		require.True(t, math.IsInf(float64(p.E2E.Quantile(0.01)), 1))
		require.Zero(t, p.Wait.CDF(1e9))
		// The 7 others decode in 49 of 50 iterations.
		require.InEpsilon(t, 0.01+0.001*(1+7*49.0/50), float64(p.ITL.Mean()), 1e-12)
	}
	require.Equal(t, queueing.Steady, s.Evaluate(s.SaturationRate()*(1-1e-12)).Outcome)

	r.MaxQueue = limited(0)
	require.Equal(t, queueing.Steady, station(t, r, poisson(10, 50)).Evaluate(s.SaturationRate()*2).Outcome)
}

// TestNoLoad: without arrivals the means are those of the first request.
func TestNoLoad(t *testing.T) {
	for model := queueing.ContinuousBatching; model <= queueing.LLMDV3; model++ {
		s := station(t, queueing.Replica{
			Model: model, Profile: queueing.Profile{Alpha: 0.01, Beta: 0.001}, MaxBatch: 8,
		}, poisson(10, 50))
		for _, rate := range []queueing.Rate{0, -1, queueing.Rate(math.NaN())} {
			p := s.Evaluate(rate)
			require.Equal(t, queueing.Steady, p.Outcome)
			require.Zero(t, p.Throughput)
			require.Zero(t, p.Running)
			require.Equal(t, 1.0, p.EmptyProbability)
			require.InEpsilon(t, float64(s.Evaluate(1e-9).Service), float64(p.Service), 1e-6)
			require.InEpsilon(t, float64(s.Evaluate(1e-9).ITL.Mean()), float64(p.ITL.Mean()), 1e-6)
			require.InEpsilon(t, float64(s.Evaluate(1e-9).E2E.Mean()), float64(p.E2E.Mean()), 1e-6)
		}
	}
}

// TestUnservable: a request that never fits is an outcome, not an error.
func TestUnservable(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 8, KVCacheTokens: 4096}
	s := station(t, r, poisson(4000, 200))
	require.Zero(t, s.SaturationRate())
	require.Zero(t, s.BatchLimit())
	p := s.Evaluate(1)
	require.Equal(t, queueing.Unservable, p.Outcome)
	require.True(t, math.IsInf(float64(p.ITL.Mean()), 1))
	c, err := s.Capacity(queueing.SLO{})
	require.NoError(t, err)
	require.False(t, c.Feasible)
	require.False(t, c.Bound)
	require.Equal(t, "a request of 4200 tokens does not fit a KV cache of 4096 tokens", c.Unservable)

	r.Model = queueing.LLMDV1
	require.Equal(t, 8, station(t, r, poisson(4000, 200)).BatchLimit(), "the family does not know the KV cache")
}

func TestNewStationNamesEveryMistake(t *testing.T) {
	nan := math.NaN()
	_, err := queueing.NewStation(queueing.Replica{
		Model: 9, PrefillMode: -1, MaxQueue: limited(-1), KVCacheTokens: -1, MaxBatchedTokens: queueing.Tokens(math.Inf(1)),
		AcceptedTokens: 0.5,
		Profile: queueing.Profile{
			Alpha: -1, Beta: nan, Gamma: -1, Delta: -1, Kappa: 1e7, Sigma: -1, Epsilon: math.Inf(-1), TTFTOffset: -1,
		},
	}, queueing.Shape{InputTokens: -1, InputSCV: -1, OutputSCV: nan, ArrivalSCV: -1, LengthCorrelation: -1.1, PrefixHitRatio: 1.5})
	require.EqualError(t, err, `queueing: serviceModel: 9 is none
queueing: prefillMode: -1 is none
queueing: maxBatch: 0 is not in [1, 65536]
queueing: maxQueue: -1 is not in [0, 2.147483647e+09]
queueing: kvCacheTokens: -1 is not in [0, 6.5536e+13]
queueing: maxBatchedTokens: +Inf is not in [1, 1e+09]
queueing: acceptedTokens: 0.5 is not in [1, 1e+09]
queueing: profile.alpha: -1 is not in [0, 1e+06]
queueing: profile.beta: NaN is not in [0, 1e+06]
queueing: profile.gamma: -1 is not in [0, 1e+06]
queueing: profile.delta: -1 is not in [0, 1e+06]
queueing: profile.kappa: 1e+07 is not in [0, 1e+06]
queueing: profile.sigma: -1 is not in [0, 1e+06]
queueing: profile.epsilon: -Inf is not in [0, 1e+06]
queueing: profile.ttftOffset: -1 is not in [0, 1e+06]
queueing: inputTokens: -1 is not in [0, 1e+09]
queueing: outputTokens: 0 is not in [1, 1e+09]
queueing: inputTokensScv: -1 is not in [0, 1e+06]
queueing: outputTokensScv: NaN is not in [0, 1e+06]
queueing: arrivalScv: -1 is not in [0, 1e+06]
queueing: lengthCorrelation: -1.1 is not in [-1, 1]
queueing: prefixHitRatio: 1.5 is not in [0, 1]`)

	_, err = queueing.NewStation(queueing.Replica{MaxBatch: 1}, poisson(1, 1))
	require.ErrorContains(t, err, "profile: a request takes 0 s")
	_, err = queueing.NewStation(queueing.Replica{MaxBatch: 1, MaxBatchedTokens: 0.5}, poisson(1, 1))
	require.EqualError(t, err, "queueing: maxBatchedTokens: 0.5 is not in [1, 1e+09]")
}

// TestNoAllocation: questions to a station cost no memory.
func TestNoAllocation(t *testing.T) {
	slo := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.3},
		{Metric: queueing.E2E, Value: 10},
		{Metric: queueing.ITL, Quantile: 0.99, Value: 0.02},
		{Metric: queueing.TokensPerSecond, Value: 30},
	}}
	for model := queueing.ContinuousBatching; model <= queueing.LLMDV3; model++ {
		s := station(t, queueing.Replica{
			Model: model, Profile: queueing.Profile{Alpha: 0.007, Beta: 5e-5}, MaxBatch: 64, MaxQueue: limited(100),
		}, poisson(100, 200))
		rate := s.SaturationRate() * 0.9
		var p queueing.Performance
		require.Zero(t, testing.AllocsPerRun(100, func() { p = s.Evaluate(rate) }))
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = s.Capacity(slo) }))
		require.Zero(t, testing.AllocsPerRun(100, func() { p.E2E.Quantile(0.9) }))
		require.Zero(t, testing.AllocsPerRun(100, func() { p.TTFT.Quantile(0.99) }))
	}
}
