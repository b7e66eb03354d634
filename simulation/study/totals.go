package study

import (
	"math"
	"time"

	"github.com/poolwright/poolwright/simulation"
)

// totals is what became of the requests and replicas of one run.
type totals struct {
	config    *Config
	workloads []workloadTotals
	// series are kept of one run only.
	series      bool
	costPerHour []float64
	processor   time.Duration
}

type workloadTotals struct {
	arrived, attained, unmet int64
	ttft, itl                simulation.Sketch
	cost, deviceHours        float64
	scaleEvents              int64
	arrivalRate              []float64
	latency                  LatencySeries
	replicas                 []ReplicaSeries
}

func newTotals(c *Config, series bool) *totals {
	t := &totals{config: c, series: series, workloads: make([]workloadTotals, len(c.Cluster.Fleet.Workloads))}
	for i := range t.workloads {
		t.workloads[i].replicas = make([]ReplicaSeries, len(c.Cluster.Fleet.Workloads[i].Variants))
	}
	return t
}

// add counts a window.
func (t *totals) add(w *simulation.Window) {
	hours := w.End.Sub(w.Start).Hours()
	cost := 0.0
	for i := range w.Workloads {
		before := t.workloads[i].cost
		t.workload(i, &w.Workloads[i], hours)
		cost += t.workloads[i].cost - before
	}
	if t.series {
		t.costPerHour = append(t.costPerHour, cost/hours)
	}
}

func (t *totals) workload(i int, w *simulation.WorkloadWindow, hours float64) {
	of := &t.workloads[i]
	of.arrived += int64(w.Arrived)
	of.attained += int64(w.Attained)
	of.unmet += int64(w.Unmet)
	of.ttft.Merge(&w.TTFT)
	of.itl.Merge(&w.ITL)
	for j := range w.Variants {
		v := &w.Variants[j]
		devices := max(1, t.config.Cluster.Fleet.Workloads[i].Variants[j].DevicesPerReplica)
		of.cost += v.Cost
		of.deviceHours += v.Paid * float64(devices) * hours
		of.scaleEvents += int64(v.ScaleEvents)
	}
	if t.series {
		of.addSeries(w, hours)
	}
}

// secondsPerHour converts hours into the seconds that rates are per.
const secondsPerHour = 3600

func (of *workloadTotals) addSeries(w *simulation.WorkloadWindow, hours float64) {
	of.arrivalRate = append(of.arrivalRate, float64(w.Arrived)/(hours*secondsPerHour))
	of.latency.TTFTMean = append(of.latency.TTFTMean, w.TTFT.Mean())
	of.latency.TTFTP95 = append(of.latency.TTFTP95, w.TTFT.Quantile(0.95))
	of.latency.ITLMean = append(of.latency.ITLMean, w.ITL.Mean())
	of.latency.Attainment = append(of.latency.Attainment, share(int64(w.Attained), int64(w.Arrived)))
	for j := range w.Variants {
		r := &of.replicas[j]
		r.Serving = append(r.Serving, w.Variants[j].Serving)
		r.Paid = append(r.Paid, w.Variants[j].Paid)
	}
}

// share is NaN of nothing.
func share(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// run sums up the workloads.
func (t *totals) run(seed uint64) SimulationRun {
	r := SimulationRun{Seed: seed, Processor: t.processor}
	attained := int64(0)
	for i := range t.workloads {
		of := &t.workloads[i]
		r.Cost += of.cost
		r.DeviceHours += of.deviceHours
		r.Requests += of.arrived
		r.UnmetRequests += of.unmet
		r.ScaleEvents += of.scaleEvents
		attained += of.attained
	}
	r.Attainment = share(attained, r.Requests)
	return r
}
