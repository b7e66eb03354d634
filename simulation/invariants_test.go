package simulation

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/trace"
)

// world is a cluster that a test drives at random and looks into.
type world struct {
	*testing.T
	*Cluster
	random  *rand.Rand
	arrived int
	ended   int
}

// randomConfig is a fleet of every kind.
func randomConfig(random *rand.Rand) Config {
	c := Config{
		Start: time.Unix(0, 0), Seed: random.Uint64(), Routing: Routing(random.IntN(3)),
		Gateway:    Gateway{MostHeld: random.IntN(50), Timeout: time.Duration(1+random.IntN(40)) * time.Second},
		Window:     time.Duration(1+random.IntN(60)) * time.Second,
		StartupSCV: float64(random.IntN(2)),
	}
	for _, name := range []string{"a", "b", "c"} {
		c.Fleet.Pools = append(c.Fleet.Pools, planner.Pool{
			Name: name, PricePerHour: 1 + 9*random.Float64(), DevicesPerNode: []int{0, 1, 4, 8}[random.IntN(4)],
			Capacity: optimizer.Bound{Limited: random.IntN(4) > 0, Value: random.IntN(40)},
			Quotas:   []planner.Quota{{Namespace: "n", Devices: random.IntN(30)}},
		})
	}
	for _, name := range []string{"x", "y"} {
		w := planner.Workload{Name: name, Priority: 1, Shape: queueing.Shape{InputTokens: 100, OutputTokens: 50}}
		if random.IntN(2) == 0 {
			w.Namespace = "n"
		}
		roles := []optimizer.Phase{optimizer.Whole, optimizer.Whole}
		if random.IntN(2) == 0 {
			roles = append(roles, optimizer.Prefill, optimizer.Decode)
		}
		for j, role := range roles {
			w.Variants = append(w.Variants, randomVariant(random, string(rune('p'+j)), role))
		}
		c.Fleet.Workloads = append(c.Fleet.Workloads, w)
	}
	for range random.IntN(5) {
		c.Disruptions = append(c.Disruptions, Disruption{
			At: time.Duration(random.IntN(120e9)), Pool: c.Fleet.Pools[random.IntN(3)].Name, Devices: 1 + random.IntN(20),
			ReturnsAfter: time.Duration(random.IntN(2) * random.IntN(60e9)), Notice: time.Duration(random.IntN(2) * random.IntN(60e9)),
		})
	}
	return c
}

func randomVariant(random *rand.Rand, name string, role optimizer.Phase) planner.Variant {
	v := planner.Variant{
		Name: name, Pools: random.Perm(3)[:1+random.IntN(3)], Role: role, DevicesPerReplica: 1 + random.IntN(9),
		NodesPerReplica: 1 + random.IntN(2), Startup: time.Duration(random.IntN(20e9)), CurrentReplicas: random.IntN(4),
		Transfer: queueing.Transfer{Base: queueing.Seconds(random.Float64())},
		Replica: &queueing.Replica{
			Profile:  queueing.Profile{Alpha: 0.01 + 0.02*random.Float64(), Beta: 1e-4, Delta: 1e-5},
			MaxBatch: 1 + random.IntN(16), KVCacheTokens: queueing.Tokens(500 + random.IntN(5000)),
			MaxQueue: queueing.Waiting{Limited: random.IntN(2) == 0, Places: random.IntN(10)},
		},
	}
	if role == optimizer.Whole && random.IntN(4) == 0 {
		v.Replica, v.Capacity = nil, queueing.Rate(1+5*random.Float64())
	}
	return v
}

// requestsOf arrive while a test looks.
func (w *world) requestsOf(rate, seconds float64) func(func(trace.Request) bool) {
	random := rand.New(rand.NewPCG(w.random.Uint64(), 1))
	return func(yield func(trace.Request) bool) {
		for at := 0.0; ; {
			if at += random.ExpFloat64() / rate; at >= seconds {
				return
			}
			w.arrived++
			r := trace.Request{At: at, Workload: random.IntN(2), Input: 1 + random.IntN(200), Output: 1 + random.IntN(100)}
			if random.IntN(2) == 0 {
				r.BlockTokens, r.Prefix = 16, []uint64{random.Uint64N(3), 10 + random.Uint64N(20)}
			}
			if random.IntN(200) == 0 {
				r.Input = 4000
			}
			if !yield(r) {
				return
			}
			w.check()
		}
	}
}

func (w *world) Interval() time.Duration { return 3 * time.Second }

// Scale asks for anything.
func (w *world) Scale(context.Context, time.Time) error {
	for i := range w.workloads {
		for j := range w.workloads[i].variants {
			if w.random.IntN(4) == 0 {
				w.SetReplicas(i, j, w.random.IntN(6))
				w.check()
			}
		}
	}
	return nil
}

// must is require.True without its cost.
func (w *world) must(holds bool, otherwise string) {
	if !holds {
		w.Helper()
		w.Fatalf("at %v s: %s", w.now, otherwise)
	}
}

// check looks at what always holds.
func (w *world) check() {
	w.checkPools()
	on := make(map[*server]int)
	for i := range w.requests.held() {
		on[w.requests.at(i).server]++
	}
	for _, one := range w.workloads {
		for _, v := range one.variants {
			w.checkVariant(v, on)
		}
	}
	w.must(w.requests.number == w.ended+w.requests.inside(), "a request is lost")
}

func (w *world) checkPools() {
	for _, p := range w.pools {
		used := make([]int, len(p.nodes))
		lost := make([]int, len(p.nodes))
		inNamespace := 0
		for _, s := range w.servers {
			if s == nil || s.phase == Pending || s.variant.pools[s.pool] != p {
				continue
			}
			for _, one := range s.shares {
				used[one.node] += one.devices - one.lost
				lost[one.node] += one.lost
			}
			if s.variant.workload.config.Namespace == "n" {
				inNamespace += s.variant.config.DevicesPerReplica
			}
		}
		for i, n := range p.nodes {
			w.must(n.free >= 0, "more devices are used than there are")
			w.must(n.size == n.free+used[i]+n.lost, "a device is neither free nor used nor lost")
			w.must(lost[i] <= n.lost, "a replica lost more devices than its node")
		}
		if q := p.quotaOf("n"); q != nil {
			w.must(inNamespace == q.used && q.used <= q.limit, "a quota is not kept")
		}
	}
}

func (w *world) checkVariant(v *variant, on map[*server]int) {
	w.must(v.desired == len(v.leastWantedFirst()), "there are more or fewer replicas than asked for")
	serving, paid := 0, 0
	for _, s := range v.servers {
		if s.phase != Pending {
			paid++
		}
		if s.phase == Serving {
			serving++
			w.must(v.takes.servers[s.place] == s, "a server is not in its place")
		}
		if s.phase == Draining {
			w.must(s.inside() > 0, "a replica drains that has nothing to do")
		}
		if s.replica != nil {
			w.must(on[s] == s.inside(), "requests are not where they were placed")
			w.must(s.prefix.tokens <= v.prefixRoom(), "more is cached than there is room for")
		}
	}
	w.must(serving == v.meter.serving && paid == v.meter.paid, "replicas are counted wrongly")
}

// runAtRandom simulates two minutes of a random fleet and returns its windows and records.
func runAtRandom(t *testing.T, seed uint64, change func(*Config)) ([]Window, []Record) {
	random := rand.New(rand.NewPCG(seed, 6))
	config := randomConfig(random)
	if change != nil {
		change(&config)
	}
	w := &world{T: t, random: random}
	var records []Record
	config.OnRequest = func(r Record) {
		records = append(records, r)
		w.ended++
	}
	config.Requests = w.requestsOf(5+30*random.Float64(), 120)
	var err error
	w.Cluster, err = New(config)
	require.NoError(t, err)
	var windows []Window
	require.NoError(t, w.Cluster.Run(t.Context(), w, config.Start.Add(120*time.Second), func(one Window) { windows = append(windows, one) }))
	require.Zero(t, w.requests.inside())
	w.checkWindows(windows, records)
	return windows, records
}

// checkWindows compares windows with what became of each request.
func (w *world) checkWindows(windows []Window, records []Record) {
	var arrived, attained, completed, unmet int
	for i := range windows {
		require.Equal(w, i, windows[i].Index)
		if i > 0 {
			require.Equal(w, windows[i-1].End, windows[i].Start)
		}
		for k := range windows[i].Workloads {
			of := &windows[i].Workloads[k]
			arrived += of.Arrived
			attained += of.Attained
			completed += of.Completed
			unmet += of.Unmet
			require.LessOrEqual(w, of.Attained+of.Unmet, of.Arrived)
			require.Equal(w, of.Completed, of.TTFT.Count())
			for _, v := range of.Variants {
				require.LessOrEqual(w, v.Serving, v.Paid+1e-9)
			}
		}
	}
	require.Equal(w, w.arrived, arrived)
	require.Len(w, records, arrived)
	require.Equal(w, arrived, completed+unmet)
	for _, r := range records {
		if r.Attained {
			attained--
		}
		require.Equal(w, r.Outcome == Completed, r.TTFT > 0)
	}
	require.Zero(w, attained)
}

func TestWhatAlwaysHolds(t *testing.T) {
	for seed := range uint64(60) {
		runAtRandom(t, seed, nil)
	}
}

func TestEqualSeedsGiveEqualResults(t *testing.T) {
	for seed := range uint64(10) {
		windows, records := runAtRandom(t, seed, nil)
		again, recordsAgain := runAtRandom(t, seed, nil)
		require.Equal(t, windows, again)
		require.Equal(t, records, recordsAgain)
	}
}

// Neither names nor the order of disruptions matter.
func TestNamesDoNotMatter(t *testing.T) {
	names := map[string]string{"a": "zz", "b": "y", "c": "x"}
	for seed := range uint64(20) {
		windows, records := runAtRandom(t, seed, nil)
		renamed, recordsRenamed := runAtRandom(t, seed, func(c *Config) {
			for i := range c.Fleet.Pools {
				c.Fleet.Pools[i].Name = names[c.Fleet.Pools[i].Name]
			}
			for i := range c.Disruptions {
				c.Disruptions[i].Pool = names[c.Disruptions[i].Pool]
			}
			slices.Reverse(c.Disruptions)
			for i := range c.Fleet.Workloads {
				w := &c.Fleet.Workloads[i]
				w.Name = "other-" + w.Name
				for j := range w.Variants {
					w.Variants[j].Name = string(rune('z' - j))
				}
			}
		})
		require.Equal(t, windows, renamed)
		require.Equal(t, records, recordsRenamed)
	}
}

func FuzzCluster(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { runAtRandom(t, seed, nil) })
}
