package planner

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/policy/kthena"
)

// Policy says how fast a plan may be followed: as the one of its fields does that is
// not nil. Where all are, it is that of [Control], or [policy.DefaultNative].
//
// The configurations of other autoscalers count as far as they limit how fast replicas
// change. What a plan wants takes the place of metrics, and bounds on replicas are those of
// the fleet.
type Policy struct {
	Native  *policy.Native
	HPA     *hpa.Config
	Kthena  *kthena.Config
	Knative *knative.Config
}

// Validate returns all that is wrong, nil if nothing is.
func (p Policy) Validate() error {
	var errs []error
	set := 0
	if p.Native != nil {
		set++
		errs = append(errs, p.Native.Validate())
	}
	if p.HPA != nil {
		set++
		errs = append(errs, p.hpa().Validate())
	}
	if p.Kthena != nil {
		set++
		errs = append(errs, p.kthena().Validate())
	}
	if p.Knative != nil {
		set++
		errs = append(errs, p.knative().Validate())
	}
	if set > 1 {
		errs = append(errs, fmt.Errorf("planner: policy: %d of native, hpa, kthena and knative, of which at most one counts", set))
	}
	return errors.Join(errs...)
}

func (p Policy) hpa() *hpa.Config {
	c := *p.HPA
	c.MinReplicas, c.MaxReplicas, c.Metrics = 0, math.MaxInt32, nil
	return &c
}

func (p Policy) kthena() *kthena.Config {
	c := *p.Kthena
	c.MinReplicas, c.MaxReplicas, c.Metrics = 0, kthena.MostReplicas, nil
	return &c
}

func (p Policy) knative() *knative.Config {
	c := *p.Knative
	c.MinReplicas, c.MaxReplicas, c.Target = 0, 0, 1
	return &c
}

// PodMetrics are the names of the metrics that the policy of a workload follows on its pods,
// sorted.
func (f *Fleet) PodMetrics(w *Workload) []string {
	p := w.Policy
	if p == (Policy{}) {
		p = f.Control.Policy
	}
	names := map[string]bool{}
	if p.Kthena != nil {
		for _, m := range p.Kthena.Metrics {
			names[m.Name] = true
		}
	}
	if p.HPA != nil {
		for _, m := range p.HPA.Metrics {
			if m.Source == hpa.PodsMetric {
				names[m.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// policy is that of a workload.
func (c *cycle) policy(w *Workload) Policy {
	chosen := c.fleet.Control.Policy
	if w.Policy != (Policy{}) {
		chosen = w.Policy
	}
	native := policy.DefaultNative()
	switch {
	case chosen == (Policy{}):
	case chosen.Native != nil:
		native = *chosen.Native
	default:
		return chosen
	}
	native.ZeroGrace = cmp.Or(w.ZeroGrace, native.ZeroGrace)
	return Policy{Native: &native}
}

// demand is what to plan for, when the last plan was made for one demand and another is
// expected now. Only the native policy tolerates a difference.
func (p Policy) demand(last, expected float64) float64 {
	if p.Native == nil {
		return expected
	}
	return p.Native.Demand(last, expected)
}

// permit asks a policy that looks at one variant by itself. Between the replicas now and
// those that it would scale to all is permitted.
func (p Policy) permit(m *VariantMemory, now time.Time, w *policy.Workload, v *policy.Variant) policy.Permission {
	if !w.Known {
		return policy.Stay(v.Current, policy.DemandUnknown)
	}
	wanted := v.Wanted
	if !w.Complete {
		wanted = max(wanted, v.Current)
	}
	goal, why := p.follow(m, now, v.Current, wanted)
	permission := policy.Permission{Min: min(v.Current, goal), Max: max(v.Current, goal), Limited: true}
	if !w.Complete {
		permission.Min = v.Current
	}
	switch {
	case permission.Allows(v.Wanted):
	case wanted != v.Wanted:
		permission.Reason = policy.DemandIncomplete
	default:
		permission.Reason = why.inWords()
	}
	return permission
}

// most is the number of replicas up to which a policy would let a variant grow now if so many
// were wanted.
func (p Policy) most(m VariantMemory, now time.Time, current, wanted int) int {
	n, _ := p.follow(&m, now, current, wanted)
	return max(current, n)
}

// follow returns the replicas that a policy would scale to, and why not to those wanted. The
// first replica of a variant waits for none: a HorizontalPodAutoscaler is not asked from 0, KEDA
// sets 1 beside it, and Kthena corrects the total of a binding. A share of no replicas would be
// none for ever.
func (p Policy) follow(m *VariantMemory, now time.Time, current, wanted int) (goal int, why because) {
	goal, why = p.correct(m, now, current, wanted)
	if current == 0 {
		goal = max(goal, min(1, wanted))
	}
	return goal, why
}

// correct returns what the autoscaler of the policy makes of replicas that are wanted, and why.
func (p Policy) correct(m *VariantMemory, now time.Time, current, wanted int) (goal int, why because) {
	switch {
	case p.HPA != nil:
		d, h := hpa.Permit(p.hpa(), remembered(m.HPA), now, saturated(current), saturated(wanted))
		m.HPA = &h
		return int(d.Replicas), because{"hpa", d.Reason()}
	case p.Kthena != nil:
		d, h := kthena.Permit(p.kthena(), remembered(m.Kthena), now, current, wanted)
		m.Kthena = &h
		return d.Replicas, because{"kthena", d.Reason()}
	default:
		d, h := knative.Permit(p.knative(), remembered(m.Knative), now, current, wanted)
		m.Knative = &h
		return d.Replicas, because{"knative", d.Reason()}
	}
}

// saturated is a number of replicas as the HorizontalPodAutoscaler has it.
func saturated(n int) int32 { return int32(max(0, min(n, math.MaxInt32))) }

// remembered is a history, empty where there is none.
func remembered[H any](h *H) H {
	if h == nil {
		var none H
		return none
	}
	return *h
}

// because is a reason of the policy of that name.
type because struct {
	policy string
	reason interface{ Text() string }
}

func (b because) inWords() string {
	return fmt.Sprintf("%s: %v, %s", b.policy, b.reason, b.reason.Text())
}

// scaled tells the policy how far the replicas asked for in the last cycle are there.
func (p Policy) scaled(m *VariantMemory, at time.Time, v *Variant) {
	if p.HPA != nil && m.HPA != nil && m.explains(v) {
		h := m.HPA.Scaled(p.HPA, at, saturated(m.Seen), saturated(v.CurrentReplicas))
		m.HPA = &h
	}
}

// resume makes the policy remember, after a time in which nobody looked, that as many replicas
// as there are may have been wanted in it: as its autoscaler does of what it sees for the first
// time, so that windows are to be observed anew. Changes that were made still limit others, and those of
// a time that is yet to come, as a clock was set back, count as of now.
func (p Policy) resume(m *VariantMemory, now time.Time, current int) {
	switch {
	case p.HPA != nil && m.HPA != nil:
		h := m.HPA.Resume(now)
		m.HPA = &h
	case p.Kthena != nil && m.Kthena != nil:
		h := m.Kthena.Resume(now, current)
		m.Kthena = &h
	case p.Knative != nil && m.Knative != nil:
		h := m.Knative.Resume(now)
		m.Knative = &h
	}
}

// forgetOthers drops what other policies than p remember of a variant.
func (p Policy) forgetOthers(m *VariantMemory) {
	if p.HPA == nil {
		m.HPA = nil
	}
	if p.Kthena == nil {
		m.Kthena = nil
	}
	if p.Knative == nil {
		m.Knative = nil
	}
}
