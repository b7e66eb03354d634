package autoscaler

import (
	"context"
	"slices"
	"time"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
)

// deployments are the variants of a cluster as those see them who scale one at a time.
type deployments struct {
	cluster *simulation.Cluster
	fleet   planner.Fleet
	// least and most replicas of each variant, by workload and variant.
	least, most [][]int
}

// unlimited is the most replicas where nothing limits them.
const unlimited = 10_000

// newDeployments are those of a cluster, for settings that are valid.
func newDeployments(s Settings, c *simulation.Cluster) (*deployments, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	fleet, _, err := c.Fleet(context.Background())
	if err != nil {
		return nil, err
	}
	return deploymentsOf(c, fleet), nil
}

func deploymentsOf(c *simulation.Cluster, fleet planner.Fleet) *deployments {
	d := &deployments{cluster: c, fleet: fleet}
	for i := range fleet.Workloads {
		n := len(fleet.Workloads[i].Variants)
		d.least, d.most = append(d.least, make([]int, n)), append(d.most, make([]int, n))
		for j := range n {
			d.most[i][j] = d.mostOf(i, j)
			d.least[i][j] = min(d.leastOf(i, j), d.most[i][j])
		}
	}
	return d
}

// perVariant is a zero value for every variant, by workload and variant.
func perVariant[T any](d *deployments) [][]T {
	all := make([][]T, len(d.least))
	for i := range all {
		all[i] = make([]T, len(d.least[i]))
	}
	return all
}

// each calls do for every variant.
func (d *deployments) each(do func(i, j int)) {
	for i := range d.least {
		for j := range d.least[i] {
			do(i, j)
		}
	}
}

// leastOf is what a person would set as minimum who deploys a variant.
func (d *deployments) leastOf(i, j int) int {
	w := &d.fleet.Workloads[i]
	least := w.Variants[j].MinReplicas
	if len(w.Variants) == 1 {
		least = max(least, w.MinReplicas)
	}
	if w.Variants[j].CurrentReplicas > 0 || d.first(i, j) {
		least = max(least, 1)
	}
	return least
}

// first tells whether a variant is the one that starts, as none of those do that serve the
// same phase of requests: the cheapest, of equals that with the first name.
func (d *deployments) first(i, j int) bool {
	w := &d.fleet.Workloads[i]
	v := &w.Variants[j]
	for k := range w.Variants {
		other := &w.Variants[k]
		if other.Role != v.Role || k == j {
			continue
		}
		if other.CurrentReplicas > 0 {
			return false
		}
		if cost := d.cost(other); cost < d.cost(v) || cost == d.cost(v) && other.Name < v.Name {
			return false
		}
	}
	return v.CurrentReplicas == 0
}

// cost of a replica per hour, in its cheapest pool.
func (d *deployments) cost(v *planner.Variant) float64 {
	cost := d.fleet.Price(v, v.Pools[0])
	for _, p := range v.Pools[1:] {
		cost = min(cost, d.fleet.Price(v, p))
	}
	return cost
}

// mostOf is the maximum that is declared, or what the pools of a variant hold.
func (d *deployments) mostOf(i, j int) int {
	w := &d.fleet.Workloads[i]
	v := &w.Variants[j]
	room := 0
	for _, p := range v.Pools {
		capacity := d.fleet.Pools[p].Capacity
		if !capacity.Limited || v.DevicesPerReplica == 0 {
			room = unlimited
			break
		}
		room += capacity.Value / v.DevicesPerReplica
	}
	most := min(room, unlimited)
	if v.MaxReplicas.Limited {
		most = min(most, v.MaxReplicas.Value)
	}
	if w.MaxReplicas.Limited {
		most = min(most, w.MaxReplicas.Value)
	}
	return max(most, 1)
}

// pods are those of a variant that do not drain, in the order in which they were asked for.
// There are as many as are asked for.
func (d *deployments) pods(i, j int) []simulation.ReplicaStatus {
	var pods []simulation.ReplicaStatus
	for pod := range d.cluster.Replicas(i, j) {
		if pod.Phase != simulation.Draining {
			pods = append(pods, pod)
		}
	}
	return pods
}

// raise gives every variant its minimum.
func (d *deployments) raise() {
	d.each(func(i, j int) {
		if d.cluster.Desired(i, j) < d.least[i][j] {
			d.cluster.SetReplicas(i, j, d.least[i][j])
		}
	})
}

// value of a metric that a pod reports.
func value(m Metric, pod *simulation.ReplicaStatus) float64 {
	switch m {
	case Queue:
		return float64(pod.Waiting)
	case KVUsage:
		return pod.KVUsage
	default:
		return float64(pod.Running + pod.Waiting)
	}
}

const (
	// ScrapeInterval is that of Prometheus in the manifests of llm-d.
	ScrapeInterval = 15 * time.Second
	// scrapeAge is how old the newest scrape is when somebody decides.
	scrapeAge = ScrapeInterval / 2
)

// prometheus remembers what pods reported.
type prometheus struct {
	deployments *deployments
	// keep is how long a scrape is remembered.
	keep  time.Duration
	ticks int
	// scrapes are in order of time, those of variants in the order of the fleet.
	scrapes []scrape
}

type scrape struct {
	at   time.Time
	pods [][][]simulation.ReplicaStatus
}

// tick is called every scrapeAge. It scrapes at every other call, and tells whether the
// others are a time to decide, which comes every so often.
func (p *prometheus) tick(now time.Time, every time.Duration) bool {
	p.ticks++
	if p.ticks%2 == 0 {
		return time.Duration(p.ticks)*scrapeAge%every == 0
	}
	s := scrape{at: now, pods: make([][][]simulation.ReplicaStatus, len(p.deployments.least))}
	p.deployments.each(func(i, j int) {
		pods := slices.DeleteFunc(p.deployments.pods(i, j), func(pod simulation.ReplicaStatus) bool {
			return pod.Phase != simulation.Serving
		})
		s.pods[i] = append(s.pods[i], pods)
	})
	p.scrapes = slices.DeleteFunc(p.scrapes, func(old scrape) bool { return !old.at.After(now.Add(-p.keep)) })
	p.scrapes = append(p.scrapes, s)
	return false
}

// newest is the last scrape of the pods of a variant, by their numbers.
func (p *prometheus) newest(i, j int) (map[int]simulation.ReplicaStatus, time.Time) {
	last := p.scrapes[len(p.scrapes)-1]
	pods := make(map[int]simulation.ReplicaStatus, len(last.pods[i][j]))
	for _, pod := range last.pods[i][j] {
		pods[pod.Number] = pod
	}
	return pods, last.at
}

// largest is the largest that each pod of a variant has reported of a metric in the scrapes
// that are remembered, by its number.
func (p *prometheus) largest(m Metric, i, j int) map[int]float64 {
	values := map[int]float64{}
	for _, s := range p.scrapes {
		for k := range s.pods[i][j] {
			pod := &s.pods[i][j][k]
			values[pod.Number] = max(values[pod.Number], value(m, pod))
		}
	}
	return values
}
