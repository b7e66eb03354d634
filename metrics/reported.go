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
	// replicas are by name, one of each.
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

// replica is what one replica reported.
type replica struct {
	pod string
	// variant is its place in the workload, -1 if unknown.
	variant int
	// gone: its pod is no more, so that it owes no report.
	gone   bool
	has    [quantities]bool
	values [quantities]float64
	// named are the metrics that policies follow; nil where there are none.
	named map[string]float64
}

// settle picks one target of each replica: a fresh one, the first by name among equals.
func (r *reported) settle(staleAfter float64) {
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
		return s.gateway || r.variant < 0 || s.workload.Variants[r.variant].Role != optimizer.Prefill
	}
	return true
}

// expected is the number of replicas that should report a quantity. Where some have
// fallen silent, it is all that may do so: only then is it sure that the silent ones
// are those that were removed.
func (s *scope) expected(q quantity, silent bool) int {
	if s.gateway {
		return 1
	}
	n := 0
	for j := range s.workload.Variants {
		v := &s.workload.Variants[j]
		if !s.counts(q, &replica{variant: j}) {
			continue
		}
		n += v.CurrentReplicas
		if silent {
			n += v.LeavingReplicas
		} else {
			n -= v.StartingReplicas
		}
	}
	return n
}

// measure adds up a quantity over replicas. Of rates those count too that were there
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
