package autoscaler_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// start is when simulations begin.
var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// shape of the requests in tests.
var shape = queueing.Shape{ArrivalSCV: 1, InputTokens: 512, OutputTokens: 256}

// chat is a workload on a variant of each price, of replicas that sustain some 44 requests/s
// and hold 137 full requests in their KV cache.
func chat(prices ...float64) planner.Fleet {
	f := planner.Fleet{Workloads: []planner.Workload{{
		Name: "chat", Priority: 1, Shape: shape, ArrivalRate: 20,
		SLO: queueing.SLO{Limits: []queueing.Limit{
			{Metric: queueing.TTFT, Quantile: 0.99, Value: 1}, {Metric: queueing.ITL, Quantile: 0.99, Value: 0.05},
		}},
	}}}
	for j, price := range prices {
		name := string(rune('a' + j))
		f.Pools = append(f.Pools, planner.Pool{
			Name: name, Accelerator: name, PricePerHour: price, Capacity: optimizer.Bound{Limited: true, Value: 16},
		})
		f.Workloads[0].Variants = append(f.Workloads[0].Variants, planner.Variant{
			Name: name, Pools: []int{j}, DevicesPerReplica: 1, Startup: 30 * time.Second, CurrentReplicas: 1,
			Replica: &queueing.Replica{
				Profile:  queueing.Profile{Alpha: 6.83e-3, Beta: 57e-6, Delta: 2.4e-6, TTFTOffset: 15.6e-3},
				MaxBatch: 256, KVCacheTokens: 105_000, MaxBatchedTokens: 2048,
			},
		})
	}
	return f
}

// load is arrivals at a rate for each phase.
func load(phases ...replica.Phase) iter.Seq[trace.Request] {
	arrivals, err := replica.Load{Shape: shape, Phases: phases, Seed: 1}.Arrivals()
	if err != nil {
		panic(err) // the test's own mistake
	}
	return func(yield func(trace.Request) bool) {
		for r := range arrivals {
			if !yield(trace.Request{At: r.Arrival, Input: r.Input, Output: r.Output}) {
				return
			}
		}
	}
}

// quiet, busy, quiet again.
var quietAndBusy = []replica.Phase{{Duration: 600, Rate: 10}, {Duration: 600, Rate: 110}, {Duration: 1200, Rate: 10}}

// upAndDown is the same in short.
var upAndDown = []replica.Phase{{Duration: 60, Rate: 10}, {Duration: 240, Rate: 110}, {Duration: 300, Rate: 10}}

// change is a decision that changed replicas.
type change struct {
	at       time.Duration
	from, to [][]int
}

// outcome is a run of a cluster.
type outcome struct {
	windows           []simulation.Window
	changes           []change
	arrived, attained int
	cost              float64
}

func (o *outcome) attainment() float64 { return float64(o.attained) / float64(o.arrived) }

// serving is the mean number of replicas in the window that ends at a minute.
func (o *outcome) serving(minute, workload, variant int) float64 {
	return o.windows[minute-1].Workloads[workload].Variants[variant].Serving
}

// recorder notes what an autoscaler changes.
type recorder struct {
	simulation.Autoscaler
	cluster *simulation.Cluster
	fleet   planner.Fleet
	changes []change
}

func (r *recorder) desired() [][]int {
	desired := make([][]int, len(r.fleet.Workloads))
	for i := range desired {
		for j := range r.fleet.Workloads[i].Variants {
			desired[i] = append(desired[i], r.cluster.Desired(i, j))
		}
	}
	return desired
}

func (r *recorder) Scale(ctx context.Context, now time.Time) error {
	before := r.desired()
	err := r.Autoscaler.Scale(ctx, now)
	if after := r.desired(); !assert.ObjectsAreEqual(before, after) {
		r.changes = append(r.changes, change{now.Sub(start), before, after})
	}
	return err
}

// simulate runs settings on a fleet.
func simulate(t *testing.T, f planner.Fleet, s autoscaler.Settings, r autoscaler.Resources, phases []replica.Phase) *outcome {
	t.Helper()
	c, err := simulation.New(simulation.Config{
		Fleet: f, Requests: load(phases...), Start: start, Seed: 1, Gateway: simulation.DefaultGateway(),
	})
	require.NoError(t, err)
	a, err := s.New(c, r)
	require.NoError(t, err)
	var o outcome
	recorded := recorder{Autoscaler: a, cluster: c, fleet: f}
	require.NoError(t, c.Run(context.Background(), &recorded, start.Add(lengthOf(phases)), func(w simulation.Window) {
		o.windows = append(o.windows, w)
		o.cost += w.Cost()
		for i := range w.Workloads {
			o.arrived += w.Workloads[i].Arrived
			o.attained += w.Workloads[i].Attained
		}
	}))
	o.changes = recorded.changes
	return &o
}

func lengthOf(phases []replica.Phase) time.Duration {
	sum := time.Duration(0)
	for _, p := range phases {
		sum += seconds(p.Duration)
	}
	return sum
}

func seconds(s queueing.Seconds) time.Duration {
	return time.Duration(float64(s) * float64(time.Second))
}

func scheduleOf(t *testing.T, f planner.Fleet, phases []replica.Phase) *hindsight.Schedule {
	t.Helper()
	in := hindsight.Input{Fleet: f}
	for _, p := range phases {
		in.Windows = append(in.Windows, hindsight.Window{Length: seconds(p.Duration), Rates: []queueing.Rate{p.Rate}})
	}
	s, err := hindsight.Find(in, nil)
	require.NoError(t, err)
	return s
}

// Every autoscaler but the static one follows a load up and down, at its own interval, and
// keeps a replica. None that always has what a window needs is cheaper than the bound.
func TestEveryKindFollowsTheLoad(t *testing.T) {
	f := chat(3600)
	schedule := scheduleOf(t, f, quietAndBusy)
	intervals := map[string]time.Duration{
		"poolwright": 15 * time.Second, "hpa": 15 * time.Second, "kpa": 2 * time.Second, "kthena": 15 * time.Second,
		"llm-d": time.Minute, "inferno": time.Minute, "static": time.Second, "clairvoyant": time.Second,
	}
	for _, s := range autoscaler.Kinds() {
		t.Run(s.Name(), func(t *testing.T) {
			require.NoError(t, s.Validate())
			o := simulate(t, f, s, autoscaler.Resources{Schedule: schedule}, quietAndBusy)
			kind, _, _ := strings.Cut(s.Name(), " ")
			for _, c := range o.changes {
				assert.Zero(t, c.at%intervals[kind], "a change at %v", c.at)
			}
			most, enough := 0.0, true
			for m := 1; m <= len(o.windows); m++ {
				n := o.serving(m, 0, 0)
				assert.GreaterOrEqual(t, n, 1-1e-9, "minute %d", m)
				assert.LessOrEqual(t, n, 16+1e-9, "minute %d", m)
				most = max(most, n)
				enough = enough && n >= float64(schedule.Serving[phaseOf(m)][0][0])-1e-9
			}
			assert.GreaterOrEqual(t, most, 2.5, "busy")
			if enough {
				assert.GreaterOrEqual(t, o.cost, schedule.Bound-1e-6)
			}
			if kind == "static" {
				assert.Len(t, o.changes, 1)
				return
			}
			assert.InDelta(t, 1, o.serving(10, 0, 0), 1e-9, "quiet")
			assert.InDelta(t, 1, o.serving(40, 0, 0), 1e-9, "quiet again")
		})
	}
}

// phaseOf is the phase of quietAndBusy in which a minute lies.
func phaseOf(minute int) int {
	switch {
	case minute <= 10:
		return 0
	case minute <= 20:
		return 1
	}
	return 2
}

// Nobody whose replicas always sustain the rate pays less than the bound, with several
// variants too.
func TestNobodyWhoServesPaysLessThanTheBound(t *testing.T) {
	f := chat(3, 1)
	f.Pools[1].Capacity.Value = 2
	sizes, err := planner.New(nil).Capacities(f)
	require.NoError(t, err)
	phases := []replica.Phase{{Duration: 600, Rate: 20}, {Duration: 600, Rate: 120}, {Duration: 600, Rate: 20}}
	schedule := scheduleOf(t, f, phases)
	sustained := func(o *outcome, minute int) float64 {
		sum := 0.0
		for j := range f.Workloads[0].Variants {
			sum += o.serving(minute, 0, j) * float64(sizes[0][j].Served)
		}
		return sum
	}
	served := 0
	for _, s := range autoscaler.Kinds() {
		o := simulate(t, f, s, autoscaler.Resources{Schedule: schedule}, phases)
		enough := true
		for m := 1; m <= len(o.windows); m++ {
			enough = enough && sustained(o, m) >= float64(phases[(m-1)/10].Rate)-1e-6
		}
		if enough {
			served++
			assert.GreaterOrEqual(t, o.cost, schedule.Bound-1e-6, s.Name())
		}
	}
	assert.GreaterOrEqual(t, served, 2, "the static and the clairvoyant at least")
}

// Who knows the future pays what the bound says, and what drains, and serves everything.
func TestClairvoyantPaysTheBound(t *testing.T) {
	f := chat(3600)
	for _, startup := range []time.Duration{0, 30 * time.Second, 4 * time.Minute} {
		f.Workloads[0].Variants[0].Startup = startup
		schedule := scheduleOf(t, f, quietAndBusy)
		o := simulate(t, f, autoscaler.Clairvoyant{}, autoscaler.Resources{Schedule: schedule}, quietAndBusy)
		assert.Greater(t, o.attainment(), 0.999, "start-up %v", startup)
		assert.GreaterOrEqual(t, o.cost, schedule.Bound-1e-6)
		assert.Less(t, o.cost, 1.01*schedule.Bound)
	}
}

func TestStaticKeepsThePeak(t *testing.T) {
	f := chat(3600)
	schedule := scheduleOf(t, f, quietAndBusy)
	require.Len(t, schedule.Static, 1)
	f.Workloads[0].Variants[0].CurrentReplicas = schedule.Static[0][0]
	o := simulate(t, f, autoscaler.Static{}, autoscaler.Resources{Schedule: schedule}, quietAndBusy)
	assert.Empty(t, o.changes)
	assert.InDelta(t, schedule.StaticPricePerHour*lengthOf(quietAndBusy).Hours(), o.cost, 1e-6)
	assert.Greater(t, o.attainment(), 0.999)
}

func TestTheFutureMustBeKnown(t *testing.T) {
	for _, s := range []autoscaler.Settings{autoscaler.Static{}, autoscaler.Clairvoyant{}} {
		c, err := simulation.New(simulation.Config{Fleet: chat(1), Requests: load(), Start: start})
		require.NoError(t, err)
		_, err = s.New(c, autoscaler.Resources{})
		assert.ErrorContains(t, err, "autoscaler: the schedule is not known")
	}
}

// The future of traffic is the rates of its windows.
func TestFuture(t *testing.T) {
	var list trace.List
	for r := range load(quietAndBusy...) {
		list = append(list, r)
	}
	f := chat(3600)
	s, err := autoscaler.Future{
		Fleet: f, Traffic: []trace.Workload{{Name: "chat", Source: list}}, Seed: 1, Duration: 40 * time.Minute, Window: 10 * time.Minute,
	}.Schedule(nil)
	require.NoError(t, err)
	want := scheduleOf(t, f, quietAndBusy)
	assert.Equal(t, want.Steps, s.Steps)
	assert.InDelta(t, want.Bound, s.Bound, 1e-9)

	s, err = autoscaler.Future{
		Fleet: f, Traffic: []trace.Workload{{Name: "chat", Source: list}}, Seed: 1, Duration: 25 * time.Minute, Window: 10 * time.Minute,
	}.Schedule(nil)
	require.NoError(t, err)
	last := s.Steps[0][0][len(s.Steps[0][0])-1]
	assert.Equal(t, hindsight.Step{At: 25 * time.Minute}, last)
}

// Minimums are held where there is no load, and maximums where there is too much.
func TestBounds(t *testing.T) {
	f := chat(3600)
	v := &f.Workloads[0].Variants[0]
	v.MinReplicas, v.MaxReplicas = 2, optimizer.Bound{Limited: true, Value: 3}
	for _, s := range autoscaler.Kinds() {
		switch s.(type) {
		case autoscaler.Static, autoscaler.Clairvoyant:
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			o := simulate(t, f, s, autoscaler.Resources{}, []replica.Phase{{Duration: 900, Rate: 0.1}, {Duration: 900, Rate: 150}})
			assert.InDelta(t, 2, o.serving(15, 0, 0), 1e-9)
			if _, planned := s.(autoscaler.Inferno); !planned { // its plan serves a whole demand or nothing
				assert.InDelta(t, 3, o.serving(30, 0, 0), 1e-9)
			}
			for _, c := range o.changes {
				assert.LessOrEqual(t, c.to[0][0], 3)
				assert.GreaterOrEqual(t, c.to[0][0], 2)
			}
		})
	}
}

// Who scales one variant at a time leaves one alone that does not run.
func TestVariantThatDoesNotRun(t *testing.T) {
	f := chat(2, 1)
	f.Workloads[0].Variants[1].CurrentReplicas = 0
	for _, s := range []autoscaler.Settings{
		autoscaler.DefaultHPA(autoscaler.Concurrency), autoscaler.DefaultKPA(), autoscaler.DefaultKthena(autoscaler.Queue), autoscaler.DefaultSaturation(),
	} {
		for _, c := range simulate(t, f, s, autoscaler.Resources{}, upAndDown).changes {
			assert.Zero(t, c.to[0][1], s.Name())
		}
	}
	f.Workloads[0].Variants[0].CurrentReplicas = 0
	for _, s := range autoscaler.Kinds()[1:8] {
		o := simulate(t, f, s, autoscaler.Resources{}, upAndDown)
		require.NotEmpty(t, o.changes, s.Name())
		assert.Equal(t, [][]int{{0, 1}}, o.changes[0].to, "%s: the cheapest starts", s.Name())
	}
}

// Kthena's heterogeneous target is filled in batches, the cheapest first: 1, then 2 of the
// cheap variant for 1 and 2, then 1 of the dear one for 2.5.
func TestKthenaSharesOutInBatches(t *testing.T) {
	f := chat(2.5, 1)
	targets := []greedy.Target{{Cost: 2.5, MaxReplicas: 16}, {Cost: 1, MinReplicas: 1, MaxReplicas: 16}}
	s := autoscaler.DefaultKthenaHeterogeneous(autoscaler.Concurrency)
	o := simulate(t, f, s, autoscaler.Resources{}, quietAndBusy)
	require.Greater(t, len(o.changes), 3)
	largest := 0
	for _, c := range o.changes {
		total := c.to[0][0] + c.to[0][1]
		largest = max(largest, total)
		assert.Equal(t, greedy.Distribute(targets, total, greedy.DefaultExpansionRate), c.to[0], "of %d", total)
	}
	assert.Greater(t, largest, 4)
}

// The saturation analyzer moves a replica at a time: the cheapest is added, the dearest
// removed.
func TestSaturationMovesOneReplica(t *testing.T) {
	o := simulate(t, chat(2, 1), autoscaler.DefaultSaturation(), autoscaler.Resources{}, quietAndBusy)
	ups, downs := 0, 0
	for _, c := range o.changes {
		dear, cheap := c.to[0][0]-c.from[0][0], c.to[0][1]-c.from[0][1]
		switch {
		case dear == 0 && cheap == 1:
			ups++
		case dear == -1 && cheap == 0, dear == 0 && cheap == -1 && c.from[0][0] == 1:
			downs++
		default:
			assert.Fail(t, "moved otherwise", "%v", c)
		}
	}
	assert.Positive(t, ups)
	assert.Positive(t, downs)
}

// A HorizontalPodAutoscaler decides on what was scraped half a scrape before: requests that
// come within that time are not seen yet.
func TestMetricsHaveAnAge(t *testing.T) {
	f := chat(3600)
	s := autoscaler.DefaultHPA(autoscaler.Concurrency)
	s.Target = 1
	early := simulate(t, f, s, autoscaler.Resources{}, []replica.Phase{{Duration: 37, Rate: 0}, {Duration: 60, Rate: 40}})
	require.NotEmpty(t, early.changes)
	assert.Equal(t, 45*time.Second, early.changes[0].at)
	late := simulate(t, f, s, autoscaler.Resources{}, []replica.Phase{{Duration: 38, Rate: 0}, {Duration: 60, Rate: 40}})
	require.NotEmpty(t, late.changes)
	assert.Equal(t, time.Minute, late.changes[0].at)
}

// A fleet whose lengths of requests nobody tells is scaled all the same.
func TestUndeclaredLengths(t *testing.T) {
	f := chat(3600)
	for _, s := range autoscaler.Kinds()[:9] {
		c, err := simulation.New(simulation.Config{
			Fleet: f, Undeclared: []bool{true}, Requests: load(upAndDown...), Start: start, Gateway: simulation.DefaultGateway(),
		})
		require.NoError(t, err)
		a, err := s.New(c, autoscaler.Resources{})
		require.NoError(t, err)
		most := 0
		require.NoError(t, c.Run(t.Context(), a, start.Add(lengthOf(upAndDown)), func(simulation.Window) {
			most = max(most, c.Desired(0, 0))
		}), s.Name())
		assert.Greater(t, most, 1, s.Name())
	}
}

// Equal input gives equal decisions.
func TestDecisionsAreRepeatable(t *testing.T) {
	f := chat(2, 1)
	schedule := scheduleOf(t, f, upAndDown)
	for _, s := range autoscaler.Kinds() {
		first := simulate(t, f, s, autoscaler.Resources{Schedule: schedule}, upAndDown)
		second := simulate(t, f, s, autoscaler.Resources{Schedule: schedule}, upAndDown)
		assert.Equal(t, first.changes, second.changes, s.Name())
		assert.Equal(t, first.windows, second.windows, s.Name())
	}
}

// The ledger of a simulation replays to the same decisions.
func TestLedgerReplays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	writer, _, err := ledger.Open(ledger.Config{Path: path})
	require.NoError(t, err)
	o := simulate(t, chat(2, 1), autoscaler.Poolwright{}, autoscaler.Resources{Ledger: writer}, quietAndBusy)
	require.NoError(t, writer.Close())
	require.NotEmpty(t, o.changes)

	file, err := os.Open(path) //nolint:gosec // the test's own file
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	r := ledger.NewReplayer(planner.New(nil))
	require.NoError(t, r.Read(file, path, func(c ledger.Cycle) error {
		assert.Fail(t, "another decision", "%+v", c)
		return nil
	}))
	report := r.Report()
	assert.Equal(t, int(lengthOf(quietAndBusy)/(15*time.Second))-1, report.Cycles)
	assert.Equal(t, report.Cycles, report.Reproduced)
}

// All settings of all grids are valid, named by what they are, and among them are the
// defaults.
func TestGrids(t *testing.T) {
	names := map[string]bool{}
	for _, kind := range autoscaler.Kinds() {
		assert.Contains(t, kind.Grid(), kind)
		for _, s := range kind.Grid() {
			require.NoError(t, s.Validate(), s.Name())
			assert.False(t, names[s.Name()], "%s is there twice", s.Name())
			names[s.Name()] = true
		}
	}
}

func TestSettingsMistakes(t *testing.T) {
	k := autoscaler.DefaultKthenaHeterogeneous(autoscaler.Queue)
	k.ExpansionRate, k.Target, k.Metric = -1, 0, 7
	h := autoscaler.DefaultHPA(autoscaler.Queue)
	h.Target = 0
	kpa := autoscaler.DefaultKPA()
	kpa.Policy.Target = 0
	sat := autoscaler.DefaultSaturation()
	sat.Interval, sat.Policy.KVCacheThreshold = 20*time.Second, 2
	for _, test := range []struct {
		settings autoscaler.Settings
		mistakes []string
	}{
		{k, []string{"costExpansionRatePercent", "targetValue", "metric: 7"}},
		{h, []string{"autoscaler: target: 0"}},
		{kpa, []string{"knative: target"}},
		{sat, []string{"interval: 20s", "kvCacheThreshold"}},
		{autoscaler.Inferno{}, []string{"interval: 0s"}},
		{autoscaler.Inferno{Interval: time.Minute, Greedy: greedy.Options{Saturation: 9}}, []string{"saturationPolicy: 9"}},
	} {
		err := test.settings.Validate()
		for _, mistake := range test.mistakes {
			require.ErrorContains(t, err, mistake)
		}
		c, failure := simulation.New(simulation.Config{Fleet: chat(1), Requests: load(), Start: start})
		require.NoError(t, failure)
		_, err = test.settings.New(c, autoscaler.Resources{})
		assert.Error(t, err)
	}
}
