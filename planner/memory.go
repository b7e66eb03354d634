package planner

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/queueing"
)

// Memory is what the planner carries from one cycle to the next. The zero value
// remembers nothing.
type Memory struct {
	// Workloads are by qualified name; only decisions with observations remember them. Those that
	// are missing from the fleet are as they were when last seen.
	Workloads map[string]*WorkloadMemory
	// worked, by qualified name, and the last solutions, of the whole problem and of that
	// inside what policies permit, save work; of plans that are equally good within the gap
	// asked for, the one next to the last is found first.
	worked        map[string]*worked
	start, inside *optimizer.Start
}

// WorkloadMemory is what is remembered of one workload. It is never changed: each cycle
// makes its own.
type WorkloadMemory struct {
	Demand forecast.State
	// Policy is what the native policy remembers.
	Policy policy.History
	// Planned is the arrival rate that the last plan was made for.
	Planned queueing.Rate
	// Inside are the numbers of requests running and waiting in the last cycles, as far back as
	// rates are measured; none after a cycle in which they were not counted.
	Inside []Count
	// Lengths are nil where they are declared, or not known.
	Lengths *Lengths
	// Efficiency is nil where lengths are not measured.
	Efficiency *Efficiency
	// At is the time of the last decision.
	At       time.Time
	Variants []VariantMemory
	// Missing are those that are not in the fleet, the last seen first.
	Missing []MissingVariant
}

// VariantMemory is what is remembered of one variant.
type VariantMemory struct {
	Name string
	// Seen and Asked are the replicas found and asked for in the last cycle, and Before those
	// asked for in the one before it.
	Seen, Asked, Before int
	// Starting are the replicas that were starting, the oldest first.
	Starting []Start
	// Declared is the profile that Filter started from.
	Declared queueing.Profile
	// Filter is nil before the first window of calibration.
	Filter *calibration.FilterState
	// Profile is the one that the last plan was made with; nil = the declared one.
	Profile *queueing.Profile
	// HPA, Kthena and Knative are what that policy remembers, where it is the workload's.
	HPA     *hpa.History
	Kthena  *kthena.History
	Knative *knative.History
}

// MissingVariant is what is remembered of a variant that is missing while others of its workload
// are there.
type MissingVariant struct {
	// At is the time of the last decision with it.
	At time.Time
	// Learnt has its name and what calibration has learnt, and nothing of its replicas: it may be
	// made anew with any number.
	Learnt VariantMemory
}

// mostMissed is how many cycles in a row may fail, or fall between two processes, with all
// that is remembered still as good as if they had not.
const mostMissed = 4

// gap tells whether nobody looked at a workload for longer than that, or a clock was set back.
// What lies in between is not known then: windows of policies are to be observed anew, nobody
// knows who has changed replicas, or since when some start. What tells its own age is worth as
// much as that is worth: forecasts, lengths of requests and profiles go on where they were.
func (c *cycle) gap(last *WorkloadMemory) bool {
	return c.snapshot.Now.Sub(last.At).Abs() > (1+mostMissed)*cmp.Or(c.fleet.Control.Cycle, DefaultCycle)
}

// remember is the memory for the next cycle.
func (c *cycle) remember() Memory {
	m := Memory{worked: c.rememberWork(), start: c.start, inside: c.inside}
	if !c.loop() {
		return m
	}
	m.Workloads = make(map[string]*WorkloadMemory, len(c.next))
	for i, next := range c.next {
		w := &c.fleet.Workloads[i]
		before := c.memory.Workloads[w.QualifiedName()]
		variants := make([]VariantMemory, len(w.Variants))
		for j := range w.Variants {
			v := &w.Variants[j]
			if last := next.variant(j, v.Name); last != nil {
				variants[j] = *last
				c.policy(w).forgetOthers(&variants[j])
			}
			variants[j].Starting = c.starts(i, j)
			variants[j].Name, variants[j].Seen, variants[j].Asked = v.Name, v.CurrentReplicas, v.CurrentReplicas
			variants[j].Before = before.asked(j, v)
		}
		next.At, next.Variants = c.snapshot.Now.UTC().Round(0), variants
		m.Workloads[w.QualifiedName()] = next
	}
	for k := range c.decision.Changes {
		change := &c.decision.Changes[k]
		m.Workloads[change.Workload].variant(0, change.Variant).Asked = change.To
	}
	c.rememberMissing()
	for _, name := range c.missing(m.Workloads) {
		m.Workloads[name] = c.memory.Workloads[name]
	}
	return m
}

// Explains tells whether a variant of a workload, given by its qualified name, has the replicas that
// the last decision found or asked for or, where others carry that out, is on the way.
func (m Memory) Explains(workload string, v *Variant) bool {
	last := m.Workloads[workload]
	if last == nil {
		return false
	}
	of := last.variant(0, v.Name)
	return of != nil && of.explains(v)
}

// asked is the number of replicas of a variant that was asked for; that found where nothing is
// remembered.
func (m *WorkloadMemory) asked(likely int, v *Variant) int {
	if m != nil {
		if last := m.variant(likely, v.Name); last != nil {
			return last.Asked
		}
	}
	return v.CurrentReplicas
}

const (
	// longestAbsence is how long a workload or a variant that is missing from the fleet is
	// remembered: an object that can't be read for a minute, or is made anew, costs no days of
	// history. What lies in between is a gap like another.
	longestAbsence = 24 * time.Hour
	// mostMissing is how many of each are, those last seen.
	mostMissing = 10_000
)

// missing are the workloads that are remembered and not among those of the fleet.
func (c *cycle) missing(there map[string]*WorkloadMemory) []string {
	var names []string
	for name, last := range c.memory.Workloads {
		if there[name] == nil && c.recent(last.At) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(c.memory.Workloads[b].At.Compare(c.memory.Workloads[a].At), cmp.Compare(a, b))
	})
	return names[:min(len(names), mostMissing)]
}

// recent tells whether what was last seen then is still remembered.
func (c *cycle) recent(at time.Time) bool { return c.snapshot.Now.Sub(at).Abs() < longestAbsence }

// rememberMissing has the next memory of workloads keep what was learnt of variants that are missing.
func (c *cycle) rememberMissing() {
	type missing struct {
		workload int
		MissingVariant
	}
	var all []missing
	for i, next := range c.next {
		next.Missing = nil
		w := &c.fleet.Workloads[i]
		for _, v := range c.memory.Workloads[w.QualifiedName()].absent(w) {
			if c.recent(v.At) {
				all = append(all, missing{i, v})
			}
		}
	}
	slices.SortFunc(all, func(a, b missing) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.workload, b.workload), cmp.Compare(a.Learnt.Name, b.Learnt.Name))
	})
	for _, v := range all[:min(len(all), mostMissing)] {
		next := c.next[v.workload]
		next.Missing = append(next.Missing, v.MissingVariant)
	}
}

// absent are the variants of which something was learnt and that a workload does not have.
func (m *WorkloadMemory) absent(w *Workload) []MissingVariant {
	if m == nil {
		return nil
	}
	var all []MissingVariant
	for j := range m.Variants {
		if v := &m.Variants[j]; v.Filter != nil && !w.has(v.Name) {
			learnt := VariantMemory{Name: v.Name, Declared: v.Declared, Filter: v.Filter, Profile: v.Profile}
			all = append(all, MissingVariant{m.At, learnt})
		}
	}
	for _, v := range m.Missing {
		if !w.has(v.Learnt.Name) {
			all = append(all, v)
		}
	}
	return all
}

// has tells whether there is a variant of that name.
func (w *Workload) has(variant string) bool {
	for j := range w.Variants {
		if w.Variants[j].Name == variant {
			return true
		}
	}
	return false
}

// resumeMissing has variants that are back go on with what was learnt of them.
func (c *cycle) resumeMissing(i int) {
	w, next := &c.fleet.Workloads[i], c.next[i]
	for _, v := range next.Missing {
		if c.recent(v.At) && w.has(v.Learnt.Name) {
			next.replace(v.Learnt)
		}
	}
}

// Begun returns the memory after changes that it knows nothing of, as what was found and asked
// for: whoever made them ended before the cycle did.
func (m Memory) Begun(changes []Change) Memory {
	workloads := maps.Clone(m.Workloads)
	for i := range changes {
		change := &changes[i]
		last := workloads[change.Workload]
		if last == nil {
			continue
		}
		next := *last
		next.Variants = slices.Clone(last.Variants)
		if v := next.variant(0, change.Variant); v != nil {
			v.Seen, v.Asked = change.From, change.To
		}
		workloads[change.Workload] = &next
	}
	m.Workloads = workloads
	return m
}
