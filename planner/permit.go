package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/policy"
)

// permitStage bounds how far replicas may move now and, where the wanted plan lies
// outside, plans again inside the bounds.
func permitStage(engine lp.Engine) func(*cycle) error {
	return func(c *cycle) error {
		if !c.loop() {
			return nil
		}
		c.wanted = c.result
		outside := c.permit()
		if !outside {
			return nil
		}
		c.step("", "", "planned again", "the cheapest plan is outside of what policies permit")
		return c.planInside(engine)
	}
}

// permit asks the policy of each workload, and tells whether the wanted plan is outside
// of what is permitted.
func (c *cycle) permit() (outside bool) {
	c.permitted = make([]permitted, len(c.fleet.Workloads))
	wanted := make([][][]int, len(c.fleet.Workloads))
	for k, i := range c.planned {
		wanted[i] = c.wanted.Plan.Allocations[k].Replicas
	}
	for i := range c.permitted {
		c.permitted[i] = c.permitWorkload(i, wanted[i])
		if !c.held[i] && !c.permitted[i].allows(wanted[i]) {
			outside = true
			c.explainPermission(i, wanted[i])
		}
	}
	return outside
}

// permitted is what the policy of a workload permits.
type permitted struct {
	variants []policy.Permission
	total    policy.Permission
	// most is up to which numbers variants may grow that were not wanted to; nil = any.
	most []int
	// slow: more is wanted of a variant than is permitted.
	slow bool
	// ignored: other things were more important than the least that is permitted.
	ignored bool
}

func (p *permitted) allows(replicas [][]int) bool {
	total := 0
	for j := range replicas {
		n := sum(replicas[j])
		total += n
		if !p.variants[j].Allows(n) {
			return false
		}
	}
	return p.total.Allows(total)
}

func sum(replicas []int) int {
	n := 0
	for _, r := range replicas {
		n += r
	}
	return n
}

// stops tells whether it is the policy that keeps a variant from having more than n
// replicas: more is wanted, of this or another variant, than it permits.
func (p *permitted) stops(variant, n int) bool {
	return p.slow && p.variants[variant].Limited && n >= p.variants[variant].Max
}

// permitWorkload asks the policy; wanted is nil for a workload that is held.
func (c *cycle) permitWorkload(i int, wanted [][]int) permitted {
	w, s, next := &c.fleet.Workloads[i], &c.seen[i], c.next[i]
	pw := policy.Workload{
		Known: wanted != nil, Complete: s.complete,
		Arrivals: s.rate > 0 || s.waiting > 0, Counted: s.counted, Comeback: c.comeback(i),
		Variants: make([]policy.Variant, len(w.Variants)),
	}
	for j := range w.Variants {
		pw.Variants[j] = policy.Variant{Name: w.Variants[j].Name, Current: w.Variants[j].CurrentReplicas}
		if wanted != nil {
			pw.Variants[j].Wanted = sum(wanted[j])
		}
	}
	if wanted != nil {
		pw.Overload = c.unmet(i, w.ready(), float64(c.expected[i].Lasting)) > 0
		pw.Backlog = c.backlogged(i, pw.Variants)
	}
	if c.asked(i) {
		c.condition(i, ProfileMissing, "there is neither profile nor capacity: the metrics of the policy decide")
	}
	var p permitted
	if chosen := c.policy(w); chosen.Native != nil {
		p.variants, p.total, next.Policy = chosen.Native.Permit(c.watched(next), c.snapshot.Now, &pw)
	} else {
		p.variants, p.most = c.permitEach(i, chosen, &pw)
		p.total, next.Policy = c.permitZero(w, next, &pw)
	}
	for j := range w.Variants {
		if v := &w.Variants[j]; v.unknown() {
			p.variants[j] = policy.Stay(v.CurrentReplicas, "it has no profile")
			c.condition(i, ProfileMissing, v.Name+" has neither profile nor capacity, and is not scaled")
		}
		p.slow = p.slow || p.variants[j].Limited && pw.Variants[j].Wanted > p.variants[j].Max
	}
	return p
}

// permitZero asks the native policy whether the last replica may go, where the workload has
// a grace of its own.
func (c *cycle) permitZero(w *Workload, next *WorkloadMemory, pw *policy.Workload) (policy.Permission, policy.History) {
	if w.ZeroGrace == 0 {
		return policy.Permission{}, policy.History{}
	}
	grace := policy.Native{ZeroGrace: w.ZeroGrace}
	_, total, history := grace.Permit(c.watched(next), c.snapshot.Now, pw)
	return total, history
}

// backlogged tells whether more requests wait than the wanted replicas that serve already
// complete, beside what arrives, in a cycle.
func (c *cycle) backlogged(i int, variants []policy.Variant) bool {
	s, counts := &c.seen[i], c.fleet.Workloads[i].ready()
	if s.waiting == 0 {
		return false
	}
	for j := range counts {
		counts[j] = min(counts[j], variants[j].Wanted)
	}
	cycle := cmp.Or(c.fleet.Control.Cycle, DefaultCycle).Seconds()
	return s.waiting > max(0, c.completed(i, counts)-float64(s.rate))*cycle
}

// comeback is the time that a replica that was taken away takes to come back: it is wanted
// when the rates of the window that they are over, and then a cycle, show why, is there in the
// cycle after, and starts. 0 where it is not known how long replicas take to start.
func (c *cycle) comeback(i int) time.Duration {
	longest := c.fleet.Workloads[i].startup()
	if longest == 0 {
		return 0
	}
	return longest + c.seen[i].window + 2*cmp.Or(c.fleet.Control.Cycle, DefaultCycle)
}

// watched is what the native policy remembers. After a gap nobody knows what was wanted
// meanwhile.
func (c *cycle) watched(next *WorkloadMemory) policy.History {
	if c.gap(next) {
		return next.Policy.Resume(c.snapshot.Now)
	}
	return next.Policy
}

// permitEach asks a policy that looks at every variant by itself: what it permits towards what
// is wanted, and up to which number it would let each variant grow that were to serve all by
// itself.
func (c *cycle) permitEach(i int, chosen Policy, w *policy.Workload) (permissions []policy.Permission, most []int) {
	next := c.next[i]
	permissions, most = make([]policy.Permission, len(w.Variants)), make([]int, len(w.Variants))
	memories := make([]VariantMemory, len(w.Variants))
	for j := range w.Variants {
		v, m := &w.Variants[j], &memories[j]
		if last := next.variant(j, v.Name); last != nil {
			*m = *last
		}
		m.Name = v.Name
		chosen.scaled(m, next.At, &c.fleet.Workloads[i].Variants[j])
		if c.gap(next) {
			chosen.resume(m, c.snapshot.Now, v.Current)
		}
		if served := c.sizes[i][j].Served; served > 0 {
			alone := math.Ceil(float64(c.fleet.Workloads[i].ArrivalRate / served))
			most[j] = chosen.most(*m, c.snapshot.Now, v.Current, int(alone))
		}
		permissions[j] = chosen.permit(m, c.snapshot.Now, w, v)
	}
	next.Variants = memories
	return permissions, most
}

// unknown tells whether nothing says what a replica sustains.
func (v *Variant) unknown() bool { return v.Replica == nil && v.Capacity == 0 }

// ready is the number of replicas of each variant that serve.
func (w *Workload) ready() []int {
	counts := make([]int, len(w.Variants))
	for j := range w.Variants {
		counts[j] = w.Variants[j].ready()
	}
	return counts
}

func (v *Variant) ready() int { return max(0, v.CurrentReplicas-v.StartingReplicas) }

// unmet is the part of a demand that counts of replicas leave unserved.
func (c *cycle) unmet(i int, counts []int, demand float64) float64 {
	w := c.problem.Workloads[i]
	w.Demand = demand
	return w.Unmet(counts)
}

func (c *cycle) explainPermission(i int, wanted [][]int) {
	w, p := &c.fleet.Workloads[i], &c.permitted[i]
	for j := range wanted {
		if n := sum(wanted[j]); !p.variants[j].Allows(n) {
			c.step(w.QualifiedName()+"/"+w.Variants[j].Name, fmt.Sprintf("%d replicas", n), p.variants[j].String(), p.variants[j].Reason)
		}
	}
	if p.total.Min > 0 {
		c.step(w.QualifiedName(), "0 replicas", "1 replica", p.total.Reason)
	}
}

// planInside plans within what is permitted. Permissions yield where they do not fit
// the pools, and where they leave demand of a more important workload unserved.
func (c *cycle) planInside(engine lp.Engine) error {
	c.fit()
	if err := c.solveInside(engine); err != nil {
		return err
	}
	if c.result.Plan.Demand == optimizer.Infeasible && c.wanted.Plan.Demand != optimizer.Infeasible {
		c.ignore("what policies permit does not fit the pools, quotas and the budget", func(int) bool { return true })
		return c.solveInside(engine)
	}
	less, priority := c.lessServed()
	yields := func(i int) bool {
		return priority > 0 && c.seen[i].complete && (less[i] || c.fleet.Workloads[i].Priority > priority)
	}
	if !slices.ContainsFunc(c.planned, yields) {
		return nil
	}
	c.ignore(fmt.Sprintf("demand of priority %d needs the devices", priority), yields)
	return c.solveInside(engine)
}

// solveInside plans for the workloads that are not held, within what is permitted.
func (c *cycle) solveInside(engine lp.Engine) error {
	permitted := *c.free
	permitted.Workloads = append([]optimizer.Workload(nil), c.free.Workloads...)
	for k, i := range c.planned {
		c.permitted[i].bound(&permitted.Workloads[k])
	}
	inside, err := c.batched(&permitted)
	if err != nil {
		return err
	}
	c.explainBatches(inside)
	c.result, err = c.solution(inside, engine)
	if err != nil {
		return fmt.Errorf("planner: permit: %w", err)
	}
	if err := c.stay(inside); err != nil {
		return err
	}
	c.inside = startOf(inside, c.result)
	c.explainResult()
	return nil
}

// bound adds what is permitted to the limits of a workload. Its declared maximums come
// first.
func (p *permitted) bound(w *optimizer.Workload) {
	variants := append([]optimizer.Variant(nil), w.Variants...)
	least := 0
	for j := range variants {
		v, allowed := &variants[j], p.variants[j]
		if p.ignored {
			allowed.Min = 0
			if p.most != nil {
				allowed.Max = max(allowed.Max, p.most[j])
			}
		}
		limit(v, &allowed)
		least += v.MinReplicas
	}
	if w.MaxReplicas.Limited && least > w.MaxReplicas.Value {
		return
	}
	w.Variants = variants
	if !p.ignored {
		w.MinReplicas = max(w.MinReplicas, p.total.Min)
	}
}

// limit adds what is permitted to the limits of a variant.
func limit(v *optimizer.Variant, allowed *policy.Permission) {
	least, most := allowed.Min, max(allowed.Max, v.MinReplicas)
	if v.MaxReplicas.Limited {
		least, most = min(least, v.MaxReplicas.Value), min(most, v.MaxReplicas.Value)
	}
	v.MinReplicas = max(v.MinReplicas, least)
	if allowed.Limited {
		v.MaxReplicas = optimizer.Bound{Limited: true, Value: most}
	}
}

// lessServed are the workloads of which the plan leaves more of what arrives unserved than
// the wanted one, other than by how fast their policies let them grow. Priority is the most
// important among them, and among those that only drain a backlog more slowly, or 0: for
// that a workload gives up no replicas of its own, which are about to be ready.
func (c *cycle) lessServed() (less []bool, priority int) {
	less = make([]bool, len(c.fleet.Workloads))
	for k, i := range c.planned {
		w := &c.fleet.Workloads[i]
		unmet := c.result.Plan.Allocations[k].Unmet
		unavoidable := max(c.wanted.Plan.Allocations[k].Unmet, c.slowness(i))
		some := 1e-6 * float64(w.ArrivalRate)
		if unmet <= unavoidable+some {
			continue
		}
		less[i] = unmet > max(unavoidable, float64(c.expected[i].Backlog))+some
		if priority == 0 || w.Priority < priority {
			priority = w.Priority
		}
	}
	return less, priority
}

// slowness is the demand that a workload leaves unserved with all that its own policy
// permits.
func (c *cycle) slowness(i int) float64 {
	p := &c.permitted[i]
	if !p.slow || slices.ContainsFunc(p.variants, func(v policy.Permission) bool { return !v.Limited }) {
		return 0
	}
	counts := make([]int, len(p.variants))
	for j := range counts {
		counts[j] = p.variants[j].Max
	}
	return c.unmet(i, counts, float64(c.fleet.Workloads[i].ArrivalRate))
}

// ignore drops what policies permit for some workloads.
func (c *cycle) ignore(reason string, which func(i int) bool) {
	for _, i := range c.planned {
		if which(i) {
			c.permitted[i].ignored = true
		}
	}
	c.step("", "", "bounds of policies yield", reason)
}
