package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// reported is what the replicas of one workload reported.
type reported struct {
	targets map[target]*replica
	// replicas are by the name of the pod, one of each.
	replicas []*replica
	// buckets are those of all replicas together, of promptBuckets and outputBuckets.
	buckets map[quantity]buckets
	// ambiguous: nothing tells some series from those of another workload.
	ambiguous bool
}

// addBuckets adds those of a replica.
func (r *reported) addBuckets(of map[quantity]buckets) {
	for q, more := range of {
		for bound, count := range more {
			r.bucket(q, bound, count)
		}
	}
}

// bucket adds to one bucket.
func (r *reported) bucket(q quantity, bound, count float64) {
	if r.buckets == nil {
		r.buckets = map[quantity]buckets{promptBuckets: {}, outputBuckets: {}}
	}
	if of := r.buckets[q]; of != nil {
		of[bound] += count
	}
}

// target is where Prometheus scrapes a replica. Where two jobs do so, they report the
// same requests.
type target struct{ name, job string }

// replica is what one replica reported, or one pod of it where several do.
type replica struct {
	pod string
	// of is the name of the replica: that of its pod, where no other reports.
	of string
	// variant is its place in the workload, -1 if unknown.
	variant int
	// prefill: requests go on from it to another pod of the replica. Other: it is of none of
	// the parts of a replica that report, and counts for nothing.
	prefill, other bool
	// gone: its pod is no more, so that it owes no report.
	gone   bool
	has    [quantities]bool
	values [quantities]float64
	// named are the metrics that policies follow; nil where there are none.
	named map[string]float64
}

// settle picks one target of each replica: a fresh one, the first by name among equals. Those of
// pods that count for nothing are dropped.
func (r *reported) settle(staleAfter float64) {
	maps.DeleteFunc(r.targets, func(_ target, one *replica) bool { return one.other })
	keys := slices.SortedFunc(maps.Keys(r.targets), func(a, b target) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.job, b.job))
	})
	for i, key := range keys {
		this := r.targets[key]
		this.pod = key.name
		if i == 0 || keys[i-1].name != key.name {
			r.replicas = append(r.replicas, this)
		} else if last := &r.replicas[len(r.replicas)-1]; !(*last).isFresh(staleAfter) && this.isFresh(staleAfter) {
			*last = this
		}
	}
}

// bury finds the silent replicas whose pods are gone. That pods tell is sure only where all
// replicas that report have the name of one.
func (r *reported) bury(pods []Pod, staleAfter float64) {
	exists := make(map[string]bool, len(pods))
	for i := range pods {
		exists[pods[i].Name] = true
	}
	named := func(one *replica) bool { return exists[one.pod] }
	strange := func(one *replica) bool { return one.isFresh(staleAfter) && !named(one) }
	if !slices.ContainsFunc(r.replicas, named) || slices.ContainsFunc(r.replicas, strange) {
		return
	}
	for _, one := range r.replicas {
		one.gone = !named(one)
	}
}

// newReplica is what a pod reports of a replica of a variant with such parts.
func newReplica(pod string, variant int, parts []Part) *replica {
	r := &replica{of: pod, variant: variant, other: len(parts) > 0}
	for k := range parts {
		if match := parts[k].Pods.FindStringSubmatch(pod); match != nil {
			r.of, r.prefill, r.other = match[1], parts[k].Prefill, parts[k].Count == 0
			break
		}
	}
	return r
}

// add counts a value. Series of one replica add up, and the latest scrape counts.
func (r *replica) add(q quantity, value float64) {
	switch {
	case !r.has[q]:
		r.values[q] = value
	case q == age:
		r.values[q] = min(r.values[q], value)
	default:
		r.values[q] += value
	}
	r.has[q] = true
}

// name counts a value of a metric that a policy follows.
func (r *replica) name(metric string, value float64) {
	if r.named == nil {
		r.named = map[string]float64{}
	}
	r.named[metric] = value
}

// isFresh tells whether the replica was scraped lately.
func (r *replica) isFresh(staleAfter float64) bool { return r.has[age] && r.values[age] <= staleAfter }

// scope is which replicas a quantity is measured of, and how many should report it.
type scope struct {
	reported *reported
	workload *planner.Workload
	// parts are those of the replicas of variants, by name.
	parts map[string][]Part
	// staleAfter is in seconds.
	staleAfter float64
	// gateway: the replicas are those of gateways.
	gateway bool
}

// counts tells whether a quantity is taken of a replica. A request that one replica
// prefills and another decodes would count twice; the one that ends it counts.
func (s *scope) counts(q quantity, r *replica) bool {
	switch q {
	case arrivals, completions, generation, recentCompletions, requests, promptSum, answers, outputSum:
		return s.gateway || !r.prefill && (r.variant < 0 || s.workload.Variants[r.variant].Role != optimizer.Prefill)
	}
	return true
}

// pods is how many of each replica of a variant should report a quantity.
func (s *scope) pods(q quantity, variant int) int {
	parts := s.parts[s.workload.Variants[variant].Name]
	if len(parts) == 0 {
		parts = []Part{{Count: 1}}
	}
	n := 0
	for k := range parts {
		if s.counts(q, &replica{variant: variant, prefill: parts[k].Prefill}) {
			n += parts[k].Count
		}
	}
	return n
}

// expected is the number of pods that should report a quantity. Where some have
// fallen silent, it is all that may do so: only then is it sure that the silent ones
// are those that were removed.
func (s *scope) expected(q quantity, silent bool) int {
	if s.gateway {
		return 1
	}
	n := 0
	for j := range s.workload.Variants {
		v := &s.workload.Variants[j]
		replicas := v.CurrentReplicas - v.StartingReplicas
		if silent {
			replicas = v.CurrentReplicas + v.LeavingReplicas
		}
		n += replicas * s.pods(q, j)
	}
	return n
}

// measure adds up a quantity over all that report it. Of rates those count too that were there
// in the window and are no more.
func (s *scope) measure(m *metric) planner.Measurement {
	if s.reported == nil {
		return planner.Measurement{State: planner.Missing}
	}
	if s.reported.ambiguous {
		return planner.Measurement{State: planner.Invalid}
	}
	var fresh, silent, reporting int
	sum, found := 0.0, false
	for _, r := range s.reported.replicas {
		if !s.counts(m.quantity, r) {
			continue
		}
		isFresh := r.isFresh(s.staleAfter)
		switch {
		case isFresh:
			fresh++
		case !r.gone && (r.has[age] || r.has[known]):
			silent++
		}
		if !r.has[m.quantity] || (!isFresh && m.isGauge()) {
			continue
		}
		value := r.values[m.quantity]
		if !isValid(value) {
			return planner.Measurement{State: planner.Invalid}
		}
		sum, found = sum+value, true
		if isFresh {
			reporting++
		}
	}
	switch expected := s.expected(m.quantity, silent > 0); {
	case fresh == 0 && silent > 0:
		return planner.Measurement{State: planner.Stale}
	case !found || fresh == 0:
		return planner.Measurement{State: planner.Missing}
	case reporting >= expected, m.late && fresh >= expected:
		return planner.Measurement{State: planner.Fresh, Value: sum}
	}
	return planner.Measurement{State: planner.Incomplete, Value: sum}
}

// age is the mean of the replicas that were scraped lately.
func (s *scope) age() time.Duration {
	if s.reported == nil {
		return 0
	}
	sum, n := 0.0, 0
	for _, r := range s.reported.replicas {
		if r.isFresh(s.staleAfter) {
			sum, n = sum+r.values[age], n+1
		}
	}
	return time.Duration(sum / float64(max(1, n)) * float64(time.Second))
}

// largest is more than any engine can count, and so little that sums stay finite.
const largest = 1e15

// isValid tells whether a number or rate can be one: NaN is none, and neither is
// infinity.
func isValid(value float64) bool { return value >= 0 && value <= largest }

func (m *metric) isGauge() bool { return m.quantity == running || m.quantity == waiting }
