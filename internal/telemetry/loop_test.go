package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/telemetry"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/server"
)

// fleet has a workload with a profile and an SLO, and one that is held.
func fleet() planner.Fleet {
	w := planner.Workload{
		Namespace: "prod", Name: "chat", Priority: 1,
		Shape: queueing.Shape{InputTokens: 512, OutputTokens: 128, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1},
		SLO: queueing.SLO{Limits: []queueing.Limit{
			{Metric: queueing.TTFT, Quantile: 0.95, Value: 2}, {Metric: queueing.ITL, Value: 0.05},
		}},
		Variants: []planner.Variant{
			{Name: "h100", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1, CurrentReplicas: 1, Replica: &queueing.Replica{
				Profile: queueing.Profile{Alpha: 7e-3, Beta: 6e-5, Delta: 2.4e-6}, MaxBatch: 64,
			}},
			{Name: "a100", Pools: []int{1}, DevicesPerReplica: 1, NodesPerReplica: 1, CurrentReplicas: 2, Capacity: 3},
		},
	}
	held := w
	held.Name, held.Variants = "dark", []planner.Variant{w.Variants[1]}
	return planner.Fleet{
		Pools: []planner.Pool{
			{Name: "h100", Accelerator: "H100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: 8}},
			{Name: "a100", Accelerator: "A100", PricePerHour: 2},
		},
		Workloads: []planner.Workload{w, held},
	}
}

// observations are of the first workload alone.
func observations() []planner.Observation {
	seen := func(variant string, rate, ttft, itl float64) planner.VariantObservation {
		return planner.VariantObservation{Variant: variant, Replica: calibration.Observation{
			Window: 60, Rate: calibration.Of(rate), Running: calibration.Of(8), InputTokens: calibration.Of(512), OutputTokens: calibration.Of(128),
			ITL: calibration.Of(itl), TTFT: calibration.Of(ttft),
		}}
	}
	return []planner.Observation{{
		Workload: "prod/chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 200},
		Variants: []planner.VariantObservation{seen("h100", 8, 0.1, 0.008), seen("a100", 1, 0.4, 0.02)},
	}}
}

// cycle is one of that fleet.
func cycle(t *testing.T) telemetry.Cycle {
	t.Helper()
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	s := planner.Snapshot{Now: now, Fleet: fleet(), Observations: observations()}
	d, _, err := planner.New(lp.Simplex()).Plan(s, planner.Memory{}, nil)
	require.NoError(t, err)
	return telemetry.Cycle{
		Entry: controller.Entry{Sequence: 1, Snapshot: s, Decision: d}, At: now, Took: time.Second, Interval: 15 * time.Second,
	}
}

func newLoop(c telemetry.Config) (*telemetry.Loop, *prometheus.Registry) {
	registry := prometheus.NewPedanticRegistry()
	return telemetry.New(registry, c), registry
}

// values are those of a metric, by the values of its labels in the order of their names.
func values(t *testing.T, r *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, pair := range m.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
			all[strings.Join(labels, " ")] = value
		}
	}
	return all
}

func TestWhatIsShownOfACycle(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	c.Conditions = []telemetry.Condition{{"prod/chat", "OwnershipConflict"}, {"prod/dark", "DemandUnknown"}, {"gone", "Any"}}
	c.Advised = map[telemetry.Variant]bool{{Workload: "prod/chat", Variant: "a100"}: true, {Workload: "gone", Variant: "a100"}: true}
	l.Done(c)
	of := func(name string) map[string]float64 { return values(t, r, name) }
	d := &c.Entry.Decision
	h100, a100 := float64(d.Plans[0].Variants[0].Total()), float64(d.Plans[0].Variants[1].Total())
	require.NotEmpty(t, d.Changes)
	assert.Equal(t, map[string]float64{"": 15}, of("poolwright_cycle_interval_seconds"))
	assert.Equal(t, map[string]float64{"": float64(c.At.Unix())}, of("poolwright_cycle_timestamp_seconds"))
	assert.Equal(t, map[string]float64{"": d.PricePerHour}, of("poolwright_plan_price_per_hour"))
	assert.Equal(t, map[string]float64{"held": 1, "planned": 1}, of("poolwright_workloads"))
	assert.Equal(t, map[string]float64{"h100": 8}, of("poolwright_pool_devices"), "the other has no limit")
	assert.Equal(t, map[string]float64{"h100": h100, "a100": a100 + 2}, of("poolwright_planned_devices"))
	assert.Equal(t, map[string]float64{"prod/chat": 200}, of("poolwright_arrivals_per_second"))
	assert.Equal(t, map[string]float64{"prod/chat": 0}, of("poolwright_unmet_arrivals_per_second"))
	assert.Equal(t, map[string]float64{"OwnershipConflict prod/chat": 1, "DemandUnknown prod/dark": 1}, of("poolwright_workload_condition"))
	assert.Equal(t, map[string]float64{"ttft p95 prod/chat": 2, "itl mean prod/chat": 0.05, "ttft p95 prod/dark": 2, "itl mean prod/dark": 0.05},
		of("poolwright_slo_latency_seconds"))
	assert.Equal(t, map[string]float64{"h100 prod/chat": 1, "a100 prod/chat": 2, "a100 prod/dark": 2}, of("poolwright_current_replicas"))
	assert.Equal(t, map[string]float64{"h100 prod/chat": h100, "a100 prod/chat": a100, "a100 prod/dark": 2}, of("poolwright_planned_replicas"))
	assert.Equal(t, map[string]float64{"h100 prod/chat": math.Abs(h100 - 1), "a100 prod/chat": math.Abs(a100 - 2), "a100 prod/dark": 0},
		of("poolwright_residual_replicas"))
	assert.Equal(t, map[string]float64{"a100 prod/chat": 1}, of("poolwright_variant_advised"))
	observed := of("poolwright_observed_latency_seconds")
	assert.InDelta(t, (8*0.1+2*0.4)/10, observed["ttft prod/chat"], 1e-12, "the mean over requests: two replicas of one variant, one of the other")
	assert.InDelta(t, (8*0.008+2*0.02)/10, observed["itl prod/chat"], 1e-12)
	deviation := of("poolwright_calibration_deviation")
	require.Len(t, d.Calibrations, 1)
	assert.Equal(t, d.Calibrations[0].ITL.Deviation, deviation["itl h100 prod/chat"])
	assert.NotZero(t, deviation["itl h100 prod/chat"])
	assert.Equal(t, map[string]float64{"": 1}, of("poolwright_cycle_duration_seconds"))
	assert.Equal(t, map[string]float64{"served": 1, "partial": 0, "infeasible": 0}, of("poolwright_decisions_total"))
	total := 0.0
	for _, n := range of("poolwright_changes_total") {
		total += n
	}
	assert.Equal(t, float64(len(d.Changes)), total)
}

// A variant without a profile has no prediction, so there is none of a plan that uses it.
func TestPredictions(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	p := &planner.Prediction{
		TTFT: planner.Quantiles{Mean: 0.3, P95: 0.9}, ITL: planner.Quantiles{Mean: 0.01},
	}
	c.Entry.Decision.Plans[0].Prediction = p
	l.Done(c)
	assert.Equal(t, map[string]float64{"ttft mean prod/chat": 0.3, "ttft p95 prod/chat": 0.9, "itl mean prod/chat": 0.01},
		values(t, r, "poolwright_predicted_latency_seconds"))
	p.Saturated = true
	l.Done(c)
	assert.Empty(t, values(t, r, "poolwright_predicted_latency_seconds"))
}

func TestMetricsOfLLMD(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	c.Entry.Decision.Plans[0].Variants[0].Replicas = []int{3}
	c.Entry.Decision.Plans[0].Variants[1].Replicas = []int{1}
	c.Entry.Decision.Fleet.Workloads[1].Variants[0].CurrentReplicas = 0
	l.Done(c)
	assert.Equal(t, map[string]float64{"H100 prod chat": 3, "A100 prod chat": 1, "A100 prod dark": 2}, values(t, r, "inferno_desired_replicas"))
	assert.Equal(t, map[string]float64{"H100 prod chat": 1, "A100 prod chat": 2, "A100 prod dark": 0}, values(t, r, "inferno_current_replicas"))
	assert.Equal(t, map[string]float64{"H100 prod chat": 3, "A100 prod chat": 0.5, "A100 prod dark": 2}, values(t, r, "inferno_desired_ratio"))
}

// Objects that declare a workload together are variants of llm-d each.
func TestObjectsOfLLMD(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	c.Entry.Decision.Plans[0].Variants[0].Replicas = []int{3}
	c.Entry.Decision.Plans[0].Variants[1].Replicas = []int{1}
	c.Objects = map[telemetry.Variant]string{{Workload: "prod/chat", Variant: "h100"}: "chat-fast"}
	l.Done(c)
	assert.Equal(t, map[string]float64{"H100 prod chat-fast": 3, "A100 prod chat": 1, "A100 prod dark": 2}, values(t, r, "inferno_desired_replicas"))
}

// Workloads of several objects of one name, of different kinds, are one variant of llm-d: a metric
// that came twice would fail all of them.
func TestObjectsOfLLMDThatShareAName(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	c.Entry.Decision.Plans[0].Variants[1].Replicas = []int{1}
	c.Objects = map[telemetry.Variant]string{
		{Workload: "prod/chat", Variant: "a100"}: "llama", {Workload: "prod/dark", Variant: "a100"}: "llama",
	}
	l.Done(c)
	assert.InDelta(t, 3, values(t, r, "inferno_desired_replicas")["A100 prod llama"], 0)
	assert.InDelta(t, 4, values(t, r, "inferno_current_replicas")["A100 prod llama"], 0)
	assert.InDelta(t, 0.75, values(t, r, "inferno_desired_ratio")["A100 prod llama"], 0)
}

func TestNothingIsLeftOfWhatIsGone(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	l.Done(c)
	before, err := testutil.GatherAndCount(r)
	require.NoError(t, err)
	gone := cycle(t)
	gone.Entry.Snapshot.Fleet.Workloads, gone.Entry.Snapshot.Observations = nil, nil
	gone.Entry.Decision.Fleet.Workloads, gone.Entry.Decision.Plans, gone.Entry.Decision.Calibrations = nil, nil, nil
	l.Done(gone)
	assert.Empty(t, values(t, r, "poolwright_planned_replicas"))
	assert.Empty(t, values(t, r, "poolwright_observed_latency_seconds"))
	assert.Empty(t, values(t, r, "inferno_desired_replicas"))
	l.Done(c)
	again, err := testutil.GatherAndCount(r)
	require.NoError(t, err)
	assert.Equal(t, before, again)
	l.Rest()
	assert.Empty(t, values(t, r, "poolwright_cycle_timestamp_seconds"), "another process decides")
	assert.NotEmpty(t, values(t, r, "poolwright_decisions_total"), "what was counted stays")
}

func TestLatenciesAreForgotten(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	c := cycle(t)
	l.Done(c)
	c.Entry.Snapshot.Observations, c.Entry.Decision.Calibrations = nil, nil
	c.At = c.At.Add(15 * time.Minute)
	l.Done(c)
	assert.Len(t, values(t, r, "poolwright_observed_latency_seconds"), 2)
	assert.NotEmpty(t, values(t, r, "poolwright_calibration_deviation"))
	c.At = c.At.Add(time.Second)
	l.Done(c)
	assert.Empty(t, values(t, r, "poolwright_observed_latency_seconds"))
	assert.Empty(t, values(t, r, "poolwright_calibration_deviation"))
}

func TestLabelsAreBounded(t *testing.T) {
	l, r := newLoop(telemetry.Config{MostWorkloads: 1})
	c := cycle(t)
	c.Conditions = []telemetry.Condition{{"prod/dark", "OwnershipConflict"}}
	l.Done(c)
	assert.Equal(t, map[string]float64{"": 1}, values(t, r, "poolwright_workloads_hidden"))
	assert.Equal(t, map[string]float64{"held": 1, "planned": 1}, values(t, r, "poolwright_workloads"))
	families, err := r.Gather()
	require.NoError(t, err)
	for _, family := range families {
		assert.NotContains(t, family.String(), "dark")
	}
}

func TestFailuresAreCounted(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	l.Done(telemetry.Cycle{Err: errors.New("the fleet could not be read"), Took: time.Second})
	assert.Empty(t, values(t, r, "poolwright_cycle_timestamp_seconds"), "it did not decide")
	c := cycle(t)
	c.Entry.Failure, c.Entry.Dropped = "observe: no", make([]controller.Drop, 3)
	l.Done(c)
	assert.Equal(t, map[string]float64{"": 2}, values(t, r, "poolwright_cycle_failures_total"))
	assert.Equal(t, map[string]float64{"": 3}, values(t, r, "poolwright_changes_dropped_total"))
	l.Observed(metrics.Report{Queries: 4, Pods: 7, Failures: make([]error, 2), Warnings: make([]string, 5)})
	l.Observed(metrics.Report{Queries: 4, Warnings: make([]string, 1)})
	assert.Equal(t, map[string]float64{"": 8}, values(t, r, "poolwright_observe_queries_total"))
	assert.Equal(t, map[string]float64{"": 7}, values(t, r, "poolwright_observe_pods_total"))
	assert.Equal(t, map[string]float64{"": 2}, values(t, r, "poolwright_observe_failures_total"))
	assert.Equal(t, map[string]float64{"": 1}, values(t, r, "poolwright_observe_warnings"))
}

// slow takes its time for everything.
type slow struct{ fleet planner.Fleet }

func (s slow) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	time.Sleep(time.Second)
	return s.fleet, nil, nil
}

func (s slow) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	time.Sleep(2 * time.Second)
	return observations(), nil
}

func (s slow) Apply(_ context.Context, changes []planner.Change) []error {
	time.Sleep(4 * time.Second)
	return make([]error, len(changes))
}

func (s slow) Checkpoint(m planner.Memory) (planner.Memory, error) {
	time.Sleep(8 * time.Second)
	return m, nil
}

func (s slow) Intend(uint64, []planner.Change) error { return nil }

func (s slow) Append(controller.Entry) error {
	time.Sleep(16 * time.Second)
	return nil
}

func TestStagesAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := newLoop(telemetry.Config{})
		world := slow{fleet()}
		loop := controller.New(l.Timed(controller.Config{
			Planner: planner.New(lp.Simplex()), Catalog: world, Observer: world, Actuator: world, Ledger: world,
		}))
		for n := range 2 {
			began := time.Now()
			entry, err := loop.Tick(t.Context(), time.Now(), nil)
			require.NoError(t, err)
			require.NotEmpty(t, entry.Decision.Changes)
			l.Done(telemetry.Cycle{Entry: entry, Took: time.Since(began) + 32*time.Second})
			of := values(t, r, "poolwright_cycle_stage_duration_seconds")
			assert.InDelta(t, 2*float64(n+1), of["read"], 1e-9, "before planning, and before acting")
			assert.InDelta(t, 2*float64(n+1), of["observe"], 1e-9)
			assert.InDelta(t, 24*float64(n+1), of["record"], 1e-9)
			assert.InDelta(t, 32*float64(n+1), of["plan"], 1e-9, "the rest")
			assert.GreaterOrEqual(t, of["act"], 4*float64(n+1))
		}
	})
}

// The page lists what is registered, and Prometheus's own linter has nothing to say.
func TestPageListsAllMetrics(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	r.MustRegister(telemetry.ConfigValid("loop", func() bool { return true }), telemetry.ConfigValid("server", func() bool { return false }))
	answerOnce(t, r)
	c := cycle(t)
	c.Entry.Decision.Plans[0].Prediction = &planner.Prediction{}
	c.Advised = map[telemetry.Variant]bool{{Workload: "prod/chat", Variant: "a100"}: true}
	l.Done(c)
	askOnce(t, l)
	problems, err := testutil.GatherAndLint(r)
	require.NoError(t, err)
	assert.Empty(t, problems)
	families, err := r.Gather()
	require.NoError(t, err)
	var registered []string
	for _, family := range families {
		if !regexp.MustCompile("^(poolwright|inferno)_").MatchString(family.GetName()) {
			continue // of a library
		}
		labels := map[string]bool{}
		for _, m := range family.GetMetric() {
			for _, pair := range m.GetLabel() {
				labels["`"+pair.GetName()+"`"] = true
			}
		}
		names := slices.Sorted(maps.Keys(labels))
		row := fmt.Sprintf("| %#q | %s | %s | %s |", family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(names, ", "), family.GetHelp())
		registered = append(registered, strings.ReplaceAll(row, "|  |", "| |"))
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	listed := regexp.MustCompile("(?m)^\\| `(?:poolwright|inferno)_.*\\|$").FindAllString(string(page), -1)
	slices.Sort(listed)
	slices.Sort(registered)
	assert.Equal(t, strings.Join(registered, "\n"), strings.Join(listed, "\n"))
}

// askOnce asks what stands for an API server.
func askOnce(t *testing.T, l *telemetry.Loop) {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
	require.NoError(t, err)
	response, err := l.Transport(http.DefaultTransport).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

// What is asked of the API server counts by its answer.
func TestRequestsToTheAPIServerCount(t *testing.T) {
	l, r := newLoop(telemetry.Config{})
	askOnce(t, l)
	askOnce(t, l)
	assert.Equal(t, map[string]float64{"404 get": 2}, values(t, r, "poolwright_kubernetes_requests_total"))
}

// answerOnce registers the metrics of calls, and answers one.
func answerOnce(t *testing.T, r *prometheus.Registry) {
	t.Helper()
	s, err := server.New(server.Config{
		Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex()))}, Registry: r,
	})
	require.NoError(t, err)
	var listeners [2]net.Listener
	for i := range listeners {
		listeners[i], err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listeners[0], listeners[1]) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listeners[1].Addr().String()+"/v1/none", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	end()
	require.NoError(t, <-done)
}

func TestConfigValid(t *testing.T) {
	for valid, is := range map[bool]float64{true: 1, false: 0} {
		assert.Equal(t, is, testutil.ToFloat64(telemetry.ConfigValid("loop", func() bool { return valid })))
	}
}
