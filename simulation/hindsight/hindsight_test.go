package hindsight_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/hindsight"
)

// fleet has one workload with a variant of each price, all in pools of their own.
func fleet(startup time.Duration, capacity int, prices ...float64) planner.Fleet {
	f := planner.Fleet{Workloads: []planner.Workload{{Name: "chat", Priority: 1}}}
	for j, price := range prices {
		name := string(rune('a' + j))
		f.Pools = append(f.Pools, planner.Pool{Name: name, Accelerator: name, PricePerHour: price, Capacity: optimizer.Bound{Limited: true, Value: capacity}})
		f.Workloads[0].Variants = append(f.Workloads[0].Variants, planner.Variant{
			Name: name, Pools: []int{j}, DevicesPerReplica: 1, Capacity: 1, Startup: startup,
		})
	}
	return f
}

func windows(length time.Duration, rates ...queueing.Rate) []hindsight.Window {
	var all []hindsight.Window
	for _, r := range rates {
		all = append(all, hindsight.Window{Length: length, Rates: []queueing.Rate{r}})
	}
	return all
}

func find(t *testing.T, in hindsight.Input) *hindsight.Schedule {
	t.Helper()
	s, err := hindsight.Find(in, nil)
	require.NoError(t, err)
	return s
}

// A load that goes up and down like a day: with one price, each replica is paid while it
// is needed and while it starts.
func TestHill(t *testing.T) {
	in := hindsight.Input{
		Fleet:      fleet(30*time.Second, 16, 3600),
		Capacities: [][]queueing.Rate{{44.2}},
		Windows:    windows(time.Minute, 20, 40, 50, 80, 90, 100, 90, 80, 50, 40, 20),
	}
	in.Fleet.Workloads[0].Variants[0].CurrentReplicas = 1

	s := find(t, in)
	needed := 60.0 * (11 + 7 + 3)
	assert.InDelta(t, needed, s.ServingDeviceSeconds, 1e-9)
	assert.InDelta(t, needed+2*30, s.DeviceSeconds, 1e-9)
	assert.InEpsilon(t, needed+2*30, s.Cost, 1e-6)
	assert.InEpsilon(t, s.Cost, s.Bound, 1e-5)
	assert.Equal(t, []hindsight.Step{
		{At: 0, Replicas: 1},
		{At: 90 * time.Second, Replicas: 2},
		{At: 210 * time.Second, Replicas: 3},
		{At: 420 * time.Second, Replicas: 2},
		{At: 540 * time.Second, Replicas: 1},
		{At: 660 * time.Second, Replicas: 0},
	}, s.Steps[0][0])

	in.Fleet.Workloads[0].Variants[0].Startup = 0
	assert.InDelta(t, needed, find(t, in).DeviceSeconds, 1e-9)

	assert.Equal(t, [][]int{{3}}, s.Static)
	assert.InDelta(t, 3*3600, s.StaticPricePerHour, 1e-9)
}

// A gap is bridged where that costs no more than a start-up.
func TestGaps(t *testing.T) {
	for _, test := range []struct {
		startup time.Duration
		rates   []queueing.Rate
		current int
		want    float64 // device-seconds
		steps   []hindsight.Step
	}{
		{time.Minute, []queueing.Rate{1, 0, 1}, 1, 180, []hindsight.Step{{0, 1}, {3 * time.Minute, 0}}},
		{59 * time.Second, []queueing.Rate{1, 0, 1}, 1, 179, []hindsight.Step{{0, 1}, {time.Minute, 0}, {61 * time.Second, 1}, {3 * time.Minute, 0}}},
		{time.Minute, []queueing.Rate{2, 1, 2, 0, 0, 1}, 2, 60 * (2 + 2 + 2 + 1 + 1), []hindsight.Step{{0, 2}, {3 * time.Minute, 0}, {4 * time.Minute, 1}, {6 * time.Minute, 0}}},
		// What is there at first is kept, or given back.
		{2 * time.Minute, []queueing.Rate{0, 1}, 1, 120, []hindsight.Step{{0, 1}, {2 * time.Minute, 0}}},
		{time.Second, []queueing.Rate{0, 1}, 1, 61, []hindsight.Step{{0, 0}, {59 * time.Second, 1}, {2 * time.Minute, 0}}},
		// What is not can't start before the beginning.
		{2 * time.Minute, []queueing.Rate{0, 1}, 0, 120, []hindsight.Step{{0, 1}, {2 * time.Minute, 0}}},
	} {
		in := hindsight.Input{Fleet: fleet(test.startup, 16, 3600), Windows: windows(time.Minute, test.rates...)}
		in.Fleet.Workloads[0].Variants[0].CurrentReplicas = test.current
		s := find(t, in)
		assert.InDelta(t, test.want, s.DeviceSeconds, 1e-9, "%v %v", test.startup, test.rates)
		assert.InEpsilon(t, test.want, s.Bound, 1e-5, "%v %v", test.startup, test.rates)
		assert.Equal(t, test.steps, s.Steps[0][0], "%v %v", test.startup, test.rates)
	}
}

func TestWarmupIsNotPaid(t *testing.T) {
	in := hindsight.Input{Fleet: fleet(time.Minute, 16, 3600), Windows: windows(time.Minute, 2, 0, 0, 2, 1), From: 150 * time.Second}
	s := find(t, in)
	assert.InDelta(t, 2*30+2*60+60, s.DeviceSeconds, 1e-9)
	assert.InEpsilon(t, s.DeviceSeconds, s.Bound, 1e-5)
}

// A workload can do no better than its own dynamic program over all numbers of replicas.
func TestAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		startup := r.IntN(4) // in windows
		rates := make([]queueing.Rate, 1+r.IntN(8))
		needed := make([]int, len(rates))
		for t := range rates {
			needed[t] = r.IntN(4)
			rates[t] = queueing.Rate(needed[t])
		}
		in := hindsight.Input{Fleet: fleet(time.Duration(startup)*time.Minute, 16, 60), Windows: windows(time.Minute, rates...)}
		in.Fleet.Workloads[0].Variants[0].CurrentReplicas = 3
		s := find(t, in)
		want := float64(cheapest(needed, startup, 3))
		require.InDelta(t, want, s.Cost, 1e-6, "%v, start-up %d", needed, startup)
		require.InDelta(t, want, s.Bound, 1e-4*(1+want))
		require.LessOrEqual(t, s.Bound, s.Cost+1e-9)
	}
}

// cheapest tries every number of replicas to ask for in every window. What is asked for
// in window t serves from t + startup on, and a removal takes what starts last.
func cheapest(needed []int, startup, serving int) int {
	type state struct {
		t, serving int
		starting   [4]int // by windows until they serve
	}
	known := map[state]int{}
	const never = 1 << 30
	var least func(s state) int
	least = func(s state) int {
		if s.t == len(needed) {
			return 0
		}
		if value, ok := known[s]; ok {
			return value
		}
		best := never
		for asked := range 4 {
			next := s
			change(&next.serving, &next.starting, asked, startup)
			next.serving += next.starting[0]
			if next.serving < needed[s.t] {
				continue
			}
			next.starting = later(next.starting)
			next.t++
			if rest := least(next); rest < never {
				best = min(best, asked+rest)
			}
		}
		known[s] = best
		return best
	}
	return least(state{serving: serving})
}

// change adds or removes replicas until so many are asked for.
func change(serving *int, starting *[4]int, asked, startup int) {
	all := *serving
	for _, n := range starting {
		all += n
	}
	for ; all < asked; all++ {
		starting[startup]++
	}
	for k := len(starting) - 1; k >= 0; k-- {
		gone := min(starting[k], all-asked)
		starting[k] -= gone
		all -= gone
	}
	*serving -= all - asked
}

// later is what starts, a window later.
func later(starting [4]int) [4]int {
	var next [4]int
	copy(next[:], starting[1:])
	return next
}

// With several variants the bound is that of each window alone, which no schedule, and so
// not this one, goes below; nor does what serves in it miss a rate.
func TestSeveralVariants(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	dearer := 0
	for range 200 {
		in := hindsight.Input{
			Fleet:      fleet(time.Duration(r.IntN(180))*time.Second, 3, 1+4*r.Float64(), 1+4*r.Float64()),
			Capacities: [][]queueing.Rate{{queueing.Rate(1 + r.IntN(3)), queueing.Rate(1 + r.IntN(3))}},
		}
		for range 1 + r.IntN(10) {
			in.Windows = append(in.Windows, windows(time.Minute, queueing.Rate(6*r.Float64()))...)
		}
		s := find(t, in)
		require.Zero(t, s.Unserved)
		require.LessOrEqual(t, s.Bound, s.Cost+1e-9)
		if s.Bound < s.Cost-1e-9 {
			dearer++
		}
		alone := 0.0
		for w, window := range in.Windows {
			served, most := 0.0, 1e9
			for a := range 4 {
				for b := range 4 {
					if sustained := a*int(in.Capacities[0][0]) + b*int(in.Capacities[0][1]); float64(sustained) >= float64(window.Rates[0]) {
						most = min(most, float64(a)*in.Fleet.Pools[0].PricePerHour+float64(b)*in.Fleet.Pools[1].PricePerHour)
					}
				}
			}
			for j, n := range s.Serving[w][0] {
				served += float64(n) * float64(in.Capacities[0][j])
			}
			require.GreaterOrEqual(t, served, float64(window.Rates[0])-1e-6)
			alone += most / 60
		}
		require.InEpsilon(t, alone, s.Bound, 1e-5)
		require.LessOrEqual(t, s.Bound, alone+1e-9)
	}
	assert.Positive(t, dearer)
}

// Plans do not jump between variants that cost almost the same: a start-up costs more.
func TestScheduleStaysOnAVariant(t *testing.T) {
	in := hindsight.Input{
		Fleet:      fleet(5*time.Minute, 8, 1, 1.9),
		Capacities: [][]queueing.Rate{{1, 2}},
		Windows:    windows(time.Minute, 2, 3, 2, 3, 2, 3, 2),
	}
	in.Fleet.Workloads[0].Variants[0].CurrentReplicas = 2
	s := find(t, in)
	for w := range in.Windows {
		assert.GreaterOrEqual(t, s.Serving[w][0][0], 2, "window %d", w)
	}
}

func TestPoolsThatDoNotSuffice(t *testing.T) {
	s := find(t, hindsight.Input{Fleet: fleet(0, 2, 60), Windows: windows(time.Minute, 1, 5, 2)})
	assert.Equal(t, time.Minute, s.Unserved)
	assert.InDelta(t, 1+2+2, s.Cost, 1e-9)
}

// Workloads that share a pool add up, and the order in which they stand does not matter.
func TestWorkloadsShareAPool(t *testing.T) {
	f := fleet(time.Minute, 8, 60)
	other := f.Workloads[0]
	other.Name = "batch"
	f.Workloads = append(f.Workloads, other)
	in := hindsight.Input{Fleet: f, Capacities: [][]queueing.Rate{{1}, {2}}, Windows: []hindsight.Window{
		{Length: time.Minute, Rates: []queueing.Rate{2, 3}},
		{Length: time.Minute, Rates: []queueing.Rate{0, 5}},
		{Length: 2 * time.Minute, Rates: []queueing.Rate{3, 0}},
	}}
	s := find(t, in)
	assert.InDelta(t, (2+2+2*3+1)+(2+3+1), s.Cost, 1e-6)
	assert.InEpsilon(t, s.Cost, s.Bound, 1e-5)

	in.Fleet.Workloads[0], in.Fleet.Workloads[1] = in.Fleet.Workloads[1], in.Fleet.Workloads[0]
	in.Capacities[0], in.Capacities[1] = in.Capacities[1], in.Capacities[0]
	for _, w := range in.Windows {
		w.Rates[0], w.Rates[1] = w.Rates[1], w.Rates[0]
	}
	swapped := find(t, in)
	assert.InDelta(t, s.Cost, swapped.Cost, 1e-9)
	assert.Equal(t, s.Steps[0], swapped.Steps[1])
}

// Without capacities the planner sizes replicas within the SLO.
func TestSizedByThePlanner(t *testing.T) {
	f := fleet(0, 16, 60)
	w := &f.Workloads[0]
	w.Shape = queueing.Shape{ArrivalSCV: 1, InputTokens: 512, OutputTokens: 256}
	w.Variants[0].Capacity = 0
	w.Variants[0].Replica = &queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch: 256,
	}
	loose := find(t, hindsight.Input{Fleet: f, Windows: windows(time.Minute, 120)})
	assert.InDelta(t, 3, loose.Cost, 1e-9)

	w.SLO.Limits = []queueing.Limit{{Metric: queueing.ITL, Value: 0.009}}
	strict := find(t, hindsight.Input{Fleet: f, Windows: windows(time.Minute, 120)})
	assert.Greater(t, strict.Cost, loose.Cost)
}

func TestInputMistakes(t *testing.T) {
	in := hindsight.Input{Fleet: fleet(0, 1, 1), From: -1, Capacities: [][]queueing.Rate{{1, 2}}, Windows: []hindsight.Window{
		{Length: 0, Rates: []queueing.Rate{-1}}, {Length: 1},
	}}
	_, err := hindsight.Find(in, nil)
	for _, mistake := range []string{"from:", "windows[0].length:", "windows[0].rates[0]:", "windows[1].rates: 0 for 1", "capacities[0]: of 2 variants for 1"} {
		require.ErrorContains(t, err, "hindsight: "+mistake)
	}

	in = hindsight.Input{Fleet: fleet(0, 1, 1), Capacities: [][]queueing.Rate{}, Windows: windows(1, 1)}
	_, err = hindsight.Find(in, nil)
	assert.ErrorContains(t, err, "hindsight: capacities: of 0 workloads for 1")
}

// Twice the work at the same rate takes twice the replicas: capacities of a window count there,
// also for what is static.
func TestCapacitiesOfWindows(t *testing.T) {
	in := hindsight.Input{Fleet: fleet(0, 16, 3600), Capacities: [][]queueing.Rate{{10}}, Windows: windows(time.Minute, 15, 15, 15)}
	in.Windows[1].Capacities = [][]queueing.Rate{{5}}
	in.Windows[2].Capacities = [][]queueing.Rate{{20}}
	s := find(t, in)
	assert.Equal(t, [][][]int{{{2}}, {{3}}, {{1}}}, s.Serving)
	assert.Equal(t, [][]int{{3}}, s.Static)
	assert.InDelta(t, 360, s.DeviceSeconds, 1e-9)

	two := hindsight.Input{Fleet: fleet(0, 16, 3600, 1), Capacities: [][]queueing.Rate{{10, 0}}, Windows: slices.Clone(in.Windows)}
	for i, c := range []queueing.Rate{10, 5, 20} {
		two.Windows[i].Capacities = [][]queueing.Rate{{c, 0}}
	}
	s = find(t, two)
	assert.Equal(t, [][][]int{{{2, 0}}, {{3, 0}}, {{1, 0}}}, s.Serving, "a cheap one that sustains nothing changes nothing")
	assert.Equal(t, [][]int{{3, 0}}, s.Static)

	in.Windows[1].Capacities = [][]queueing.Rate{{0, 5}, {1}}
	_, err := hindsight.Find(in, nil)
	assert.ErrorContains(t, err, "windows[1].capacities: of 2 workloads for 1")
}
