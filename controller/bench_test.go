package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// cloud is a fleet that does what it is told at once.
type cloud struct {
	fleet        planner.Fleet
	observations []planner.Observation
	index        map[string]*planner.Variant
}

func (c *cloud) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	f := c.fleet
	f.Workloads = append([]planner.Workload(nil), f.Workloads...)
	for i := range f.Workloads {
		f.Workloads[i].Variants = append([]planner.Variant(nil), f.Workloads[i].Variants...)
	}
	return f, nil, nil
}

func (c *cloud) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	return c.observations, nil
}

func (c *cloud) Apply(_ context.Context, changes []planner.Change) []error {
	for _, change := range changes {
		c.index[change.Workload+"/"+change.Variant].CurrentReplicas = change.To
	}
	return make([]error, len(changes))
}

// newCloud has three pools that are tight, and three variants per workload whose
// requests are like those of no other.
func newCloud(workloads int) *cloud {
	random := rand.New(rand.NewPCG(1, 2))
	c := &cloud{index: make(map[string]*planner.Variant)}
	prices := []float64{4, 2.2, 1.1}
	for p, name := range []string{"h100", "a100", "l40s"} {
		c.fleet.Pools = append(c.fleet.Pools, planner.Pool{
			Name: name, Accelerator: name, PricePerHour: prices[p],
			Capacity: optimizer.Bound{Limited: true, Value: 2 * workloads},
		})
	}
	speeds := []float64{1, 1.6, 3}
	for i := range workloads {
		w := planner.Workload{
			Namespace: fmt.Sprintf("team-%d", i%50), Name: fmt.Sprintf("w%05d", i), Model: fmt.Sprintf("m%d", i%200), Priority: 1 + i%3,
			Shape: queueing.Shape{
				InputTokens: queueing.Tokens(200 + random.IntN(2000)), OutputTokens: queueing.Tokens(50 + random.IntN(400)),
				InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1,
			},
			SLO: queueing.SLO{Limits: []queueing.Limit{
				{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}, {Metric: queueing.ITL, Value: 0.05},
			}},
		}
		for p, pool := range c.fleet.Pools {
			slow := speeds[p] * (1 + float64(i%7)/20)
			w.Variants = append(w.Variants, planner.Variant{
				Name: pool.Name, Pools: []int{p}, DevicesPerReplica: 1, NodesPerReplica: 1, Startup: 2 * time.Minute,
				Replica: &queueing.Replica{
					Profile: queueing.Profile{Alpha: 7e-3 * slow, Beta: 6e-5 * slow, Delta: 2.4e-6 * slow, Gamma: 1e-3}, MaxBatch: 256,
				},
			})
		}
		c.fleet.Workloads = append(c.fleet.Workloads, w)
		c.observations = append(c.observations, planner.Observation{
			Workload:    w.QualifiedName(),
			ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 40 * random.Float64() * random.Float64()},
		})
	}
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		for j := range w.Variants {
			c.index[w.QualifiedName()+"/"+w.Variants[j].Name] = &w.Variants[j]
		}
	}
	c.fleet.Objective.RelativeGap = 0.001
	return c
}

// BenchmarkTick is a cycle without I/O of 10,000 workloads with three variants: the
// first one, those in which all demands move by up to 5 %, and those in which nothing
// changes. Heap is what is live afterwards, in MB; cpu is that of all processors.
func BenchmarkTick(b *testing.B) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, kind := range []string{"first", "moved", "unchanged"} {
		b.Run(kind, func(b *testing.B) {
			world := newCloud(10000)
			c := newTicker(world)
			now := start
			tick := func() {
				now = now.Add(15 * time.Second)
				_, err := c.Tick(b.Context(), now, nil)
				require.NoError(b, err)
			}
			if kind != "first" {
				for range 45 {
					tick()
				}
			}
			random := rand.New(rand.NewPCG(3, 4))
			var spent time.Duration
			for b.Loop() {
				b.StopTimer()
				switch kind {
				case "first":
					world = newCloud(10000)
					c = newTicker(world)
				case "moved":
					for i := range world.observations {
						world.observations[i].ArrivalRate.Value *= 0.95 + 0.1*random.Float64()
					}
				}
				b.StartTimer()
				began := cpu(b)
				tick()
				spent += cpu(b) - began
			}
			b.StopTimer()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
			b.ReportMetric(spent.Seconds()*1e3/float64(b.N), "cpu-ms/op")
			runtime.KeepAlive(c)
		})
	}
}

// cpu is the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func newTicker(world *cloud) *controller.Controller {
	return controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: world, Observer: world, Actuator: world})
}
