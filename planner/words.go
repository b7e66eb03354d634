package planner

import (
	"fmt"
	"math"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

// amount writes an interval, as one number where it is one.
func amount(i optimizer.Interval) string {
	low, high := fmt.Sprintf("%.4g", i.Low), fmt.Sprintf("%.4g", i.High)
	if low == high {
		return low
	}
	return low + " to " + high
}

func (c *cycle) hopelessReason(i int, u optimizer.Unservable) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	var parts []string
	if u.Unmet > 0 {
		why := "its maximums of replicas"
		if reason := plan.sizeReason(); reason != "" {
			why = reason
		}
		parts = append(parts, fmt.Sprintf("no number of devices serves %.4g of its %.4g requests/s: %s", u.Unmet, float64(w.ArrivalRate), why))
	}
	if u.Shortfall > 0 {
		parts = append(parts, fmt.Sprintf("its minimums of replicas contradict a maximum: %d are missing", u.Shortfall))
	}
	return w.QualifiedName() + ": " + strings.Join(parts, "; ")
}

// increaseReason says what an increase is, or why there is none.
func (e *explainer) increaseReason(i *Increase) string {
	subject := map[Raise]string{
		RaisePools: "pools", RaisePoolsCheaply: "pools", RaiseQuotas: "quotas", RaiseBudget: "the budget",
	}[i.Raise]
	condition := ""
	switch {
	case i.Lifted:
		condition = ", once the other limits are lifted"
	case e.othersLimit(i.Raise):
		condition = " while the other limits hold"
	}
	switch i.Verdict {
	case optimizer.Enough:
		return subject + ": enough as is" + condition
	case optimizer.Insufficient:
		return subject + ": no increase serves all" + condition
	case optimizer.Unknown:
		return subject + ": no increase that serves all was found" + condition
	case optimizer.Helps:
	}
	return subject + ": " + e.added(i) + condition + e.least(i)
}

// added lists what is added to which limits.
func (e *explainer) added(i *Increase) string {
	f := &e.cycle.fleet
	var parts []string
	for g, n := range i.Pools {
		if n > 0 {
			parts = append(parts, devices(n, f.Pools[g].DevicesPerNode)+" more in "+f.Pools[g].Name)
		}
	}
	for q, n := range i.Quotas {
		if n > 0 {
			quota := &e.cycle.problem.Quotas[q]
			parts = append(parts, fmt.Sprintf("%s more for %s in %s", devices(n, 0), quota.Namespace, e.cycle.problem.Pools[quota.Pool].Name))
		}
	}
	if i.Raise == RaiseBudget {
		return fmt.Sprintf("%.4g more per hour", i.Budget)
	}
	return strings.Join(parts, " and ")
}

// least says how much less might do, and what the plan costs then.
func (e *explainer) least(i *Increase) string {
	text := ""
	if i.Raise == RaisePoolsCheaply {
		text = fmt.Sprintf(", for %.4g per hour", i.Total.High)
	}
	switch exact := amount(i.Total) == fmt.Sprintf("%.4g", i.Total.High); {
	case !exact:
		text += fmt.Sprintf(", no less than %.4g", i.Total.Low)
	case i.Raise == RaisePools || i.Raise == RaiseQuotas:
		text += ", the fewest that do"
	default:
		text += ", the least that does"
	}
	return text + fmt.Sprintf("; the plan then costs %.4g per hour", i.PricePerHour)
}

// devices writes a number of devices, and of nodes where there are any.
func devices(n, node int) string {
	text := fmt.Sprintf("%d devices", n)
	if n == 1 {
		text = "1 device"
	}
	switch {
	case node > 1 && n == node:
		text += " (1 node)"
	case node > 1:
		text += fmt.Sprintf(" (%d nodes)", n/node)
	}
	return text
}

func (e *explainer) relaxationReason(r *Relaxation) string {
	subject, served := "all SLOs", "all is served"
	if r.Workload != AllWorkloads {
		subject = "the SLO of " + e.cycle.fleet.Workloads[r.Workload].QualifiedName() + " alone"
		served = "it is served in full, and the others as now"
	}
	if !r.Possible {
		return fmt.Sprintf("%s: no plan was found in which %s, even %d times as loose", subject, served, mostRelaxed)
	}
	return fmt.Sprintf("%s: %.3g times as loose, %s", subject, r.Factor.High, served)
}

func priceReason(f *Fleet, r *PriceRange, lowest float64) string {
	fall, rise := fallText(r.Range.Fall, lowest), riseText(r.Range.Rise, r.PricePerHour)
	if r.Pool == AllPools {
		return fmt.Sprintf("%s in all pools: their prices may %s and %s", r.Accelerator, fall, rise)
	}
	return fmt.Sprintf("%s at %.4g: its price may %s and %s", f.Pools[r.Pool].Name, r.PricePerHour, fall, rise)
}

func fallText(fall optimizer.Interval, price float64) string {
	switch {
	case fall.Low >= price:
		return "fall to nothing"
	case fall.High <= slight*price:
		return "not fall"
	}
	return "fall by " + end(fall)
}

func riseText(rise optimizer.Interval, price float64) string {
	switch {
	case rise.Low >= priceReach*price:
		return "rise to ten times that"
	case rise.High <= slight*price:
		return "not rise"
	}
	return "rise by " + end(rise)
}

// slight is what share of a price is nothing to a person.
const slight = 1e-6

// end writes the end of a range.
func end(i optimizer.Interval) string {
	if math.IsInf(i.High, 1) {
		return fmt.Sprintf("%.4g at least", i.Low)
	}
	return amount(i)
}

// changeReason says what more or fewer devices do.
func (e *explainer) changeReason(c *PoolChange, first shift) string {
	pool := &e.cycle.fleet.Pools[c.Pool]
	subject := devices(c.Devices, pool.DevicesPerNode) + " more in " + pool.Name
	if c.Devices < 0 {
		subject = devices(-c.Devices, pool.DevicesPerNode) + " fewer in " + pool.Name
	}
	does := func(verb string) string { return subject + " " + agreeing(verb, c.Devices) + " " }
	now, missing := unmet(e.cycle.solved), shortfall(e.cycle.solved)
	switch served := now - float64(c.Unmet); {
	case c.Shortfall > 0 && missing == 0:
		return subject + ": minimums no longer hold" + c.orBetter()
	case c.Shortfall == 0 && missing > 0:
		return subject + ": minimums hold then"
	case c.Shortfall != missing:
		return fmt.Sprintf("%s: %d in place of %d replicas are missing from minimums%s", subject, c.Shortfall, missing, c.orBetter())
	case first.served > 0 && served <= slight*now:
		return fmt.Sprintf("%s%.4g requests/s more of priority %d%s", does("serve"), first.served, first.priority, c.orBetter())
	case first.served < 0 && served >= -slight*float64(c.Unmet):
		return fmt.Sprintf("%s%.4g requests/s less of priority %d%s", does("serve"), -first.served, first.priority, c.orBetter())
	case served > slight*now:
		return fmt.Sprintf("%s%.4g requests/s more%s", does("serve"), served, c.orBetter())
	case served < -slight*float64(c.Unmet):
		return fmt.Sprintf("%s%.4g requests/s less%s", does("serve"), -served, c.orBetter())
	}
	gap := max(e.cycle.fleet.Objective.RelativeGap, slight) * e.cycle.solved.Objective
	switch {
	case c.Devices > 0 && c.Saving.High <= gap:
		return does("save") + "nothing"
	case c.Devices > 0:
		return does("save") + amount(c.Saving) + " per hour"
	case -c.Saving.Low <= gap:
		return does("cost") + "nothing, and can be returned"
	}
	return does("cost") + amount(optimizer.Interval{Low: -c.Saving.High, High: -c.Saving.Low}) + " per hour"
}

// agreeing is a verb of one device or more, or fewer.
func agreeing(verb string, devices int) string {
	if devices == 1 || devices == -1 {
		return verb + "s"
	}
	return verb
}

// orBetter is for a change whose plan is not proven.
func (c *PoolChange) orBetter() string {
	if c.Proof == optimizer.Optimal {
		return ""
	}
	return " or better"
}

func commitmentReason(pool *Pool, idle, used int) string {
	switch {
	case idle > 0:
		return fmt.Sprintf("%s: %d of %d committed devices are idle; returning them saves %.4g per hour",
			pool.Name, idle, pool.Committed, float64(idle)*pool.PricePerHour)
	case used > pool.Committed:
		return fmt.Sprintf("%s: all %d committed devices are used, and %d more", pool.Name, pool.Committed, used-pool.Committed)
	}
	return fmt.Sprintf("%s: the %d committed devices are used, no more", pool.Name, pool.Committed)
}

// unusedReason says below which price a variant would be used.
func (c *cycle) unusedReason(u *UnusedVariant) string {
	w := &c.fleet.Workloads[u.Workload]
	subject := fmt.Sprintf("%s of %s at %.4g per replica", w.Variants[u.Variant].Name, w.QualifiedName(), u.PricePerHour)
	const never = ": not used even free of charge"
	switch {
	case u.Fall == nil && u.MarginalFall > u.PricePerHour:
		return subject + never + ", at the margin"
	case u.Fall == nil:
		return fmt.Sprintf("%s: used below %.4g, at the margin", subject, u.PricePerHour-u.MarginalFall)
	case math.IsInf(u.Fall.High, 1) && u.Fall.Low >= u.PricePerHour:
		return subject + never
	case math.IsInf(u.Fall.High, 1):
		return fmt.Sprintf("%s: not used above %.4g", subject, u.PricePerHour-u.Fall.Low)
	}
	return subject + ": used below " +
		amount(optimizer.Interval{Low: max(0, u.PricePerHour-u.Fall.High), High: u.PricePerHour - u.Fall.Low})
}
