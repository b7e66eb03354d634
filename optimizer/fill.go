package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// plan is replicas by item, with what they leave unserved.
type plan struct {
	replicas []int32
	// unmet is in requests/s by workload, NaN where it isn't known.
	unmet []float64
}

// filler adds replicas to a plan where they serve demand that it leaves, within all limits. It is the
// last step of every search, so that no unmet demand remains that one more replica would serve, and
// the whole of one that was ended before it found a plan: then it is a greedy one, each workload in
// turn by what costs least per request/s.
type filler struct {
	// problem has only the workloads that may gain, and plan their part of it.
	problem *Problem
	// traits are by workload, nil where another plan is filled.
	traits []trait
	room   *Headroom
	plan   *plan
	// first is the first item of each of these workloads.
	first []int
	// counts are for trying out.
	counts []int
}

// fill returns a plan with all of another one's replicas, and more of the workloads that are open, or, without one, with as many of the
// declared minimums as fit.
func fill(c *canonical, packings []packing, from *plan, open []bool) *plan {
	if from == nil {
		return fillEmpty(c, packings)
	}
	if !slices.Contains(open, true) {
		return from
	}
	out := &plan{replicas: slices.Clone(from.replicas), unmet: slices.Clone(from.unmet)}
	f := &filler{problem: c.some(func(i int) bool { return open[i] }), plan: &plan{}}
	f.room = newHeadroom(f.problem, packings)
	f.adopt(c, out, open)
	f.fetched(f.serviceOrder(), f.serve)
	f.handBack(c, out, open)
	return out
}

// fillEmpty is fill without another plan.
func fillEmpty(c *canonical, packings []packing) *plan {
	f := &filler{problem: c.whole(), first: c.first, plan: &plan{replicas: make([]int32, c.first[len(c.workloads)]), unmet: make([]float64, len(c.workloads))}}
	f.room = newHeadroom(f.problem, packings)
	for i := range f.plan.unmet {
		f.plan.unmet[i] = math.NaN()
	}
	if f.traits = c.traits; f.traits == nil {
		f.traits = make([]trait, len(f.problem.Workloads))
		for i := range f.traits {
			f.traits[i] = f.problem.Workloads[i].trait()
		}
	}
	order := f.serviceOrder()
	f.inOrder(order, func(t trait) bool { return t.declares }, f.addMinimums)
	f.inOrder(order, func(trait) bool { return true }, f.serve)
	for i, unmet := range f.plan.unmet {
		if math.IsNaN(unmet) { // left out
			f.plan.unmet[i] = f.problem.Workloads[i].unmetAlike(f.room.Counts(i))
		}
	}
	return f.plan
}

// mayGain says of which workloads more replicas may serve what a plan leaves, and be worth it. room says whether the plan may leave room
// for one more replica of an item of a workload.
func (c *canonical) mayGain(p *plan, room func(workload, item int) bool) []bool {
	open := make([]bool, len(c.workloads))
	for i := range open {
		open[i] = c.oneMayGain(i, p, room)
	}
	return open
}

// anywhere says that there may be room for all replicas.
func anywhere(int, int) bool { return true }

// oneMayGain is mayGain of workload i.
func (c *canonical) oneMayGain(i int, p *plan, room func(workload, item int) bool) bool {
	unmet := p.unmet[i]
	if unmet == 0 {
		return false
	}
	w := c.given(i)
	if math.IsNaN(unmet) || w.Redundancy > 0 || w.routed() {
		return true
	}
	counts, items := make([]int, len(w.Variants)), c.items[c.workloads[i]]
	for k, at := range items {
		counts[at.variant] += int(p.replicas[c.first[i]+k])
	}
	for k, at := range items {
		if !room(i, k) {
			continue
		}
		v, n := &w.Variants[at.variant], counts[at.variant]
		place := &v.Placements[at.placement]
		if cost := place.PricePerHour + place.change + v.Switching(n+1) - v.Switching(n); w.worth(cost / unmet) {
			return true
		}
	}
	return false
}

// adopt takes the part of a plan that is of the filler's workloads; the other replicas only take room.
func (f *filler) adopt(c *canonical, from *plan, open []bool) {
	for i, unmet := range from.unmet {
		if !open[i] {
			continue
		}
		item := c.first[i]
		f.first = append(f.first, len(f.plan.replicas))
		f.plan.unmet = append(f.plan.unmet, unmet)
		f.plan.replicas = append(f.plan.replicas, make([]int32, c.first[i+1]-item)...)
		at := len(f.first) - 1
		for j := range f.problem.Workloads[at].Variants {
			for k := range f.problem.Workloads[at].Variants[j].Placements {
				f.place(choice{at, j, k}, int(from.replicas[item]))
				item++
			}
		}
	}
	var spent exactSum
	for given, i := range c.place {
		w := &c.from.Workloads[given]
		if w.charged {
			spent.add(from.unmet[i])
		}
		if open[i] {
			continue
		}
		for k, at := range c.items[given] {
			n := int(from.replicas[c.first[i]+k])
			if n == 0 {
				continue
			}
			v := &w.Variants[at.variant]
			place := &v.Placements[at.placement]
			spent.add(float64(n) * place.PricePerHour)
			if in := v.within(); len(in) > 0 {
				ranked := *v
				ranked.setWithin(c.ranked(in))
				v = &ranked
			}
			f.room.use(w.Namespace, v, c.rank[place.Pool], n)
		}
	}
	f.room.spent += spent.total()
}

// handBack puts the part of the filler's workloads into the whole plan.
func (f *filler) handBack(c *canonical, to *plan, open []bool) {
	done := 0
	for i := range to.unmet {
		if open[i] {
			to.unmet[i] = f.plan.unmet[done]
			copy(to.replicas[c.first[i]:c.first[i+1]], f.plan.replicas[f.first[done]:])
			done++
		}
	}
}

// serviceOrder lists the workloads in the order in which unmet demand matters: by priority, then by
// penalty.
func (f *filler) serviceOrder() []int {
	type rank struct {
		priority int
		penalty  float64
		workload int
	}
	ranks := make([]rank, len(f.problem.Workloads))
	for i := range ranks {
		w := &f.problem.Workloads[i]
		ranks[i] = rank{priority: w.Priority, workload: i}
		if w.Penalized {
			ranks[i] = rank{math.MaxInt, w.UnmetPenalty, i}
		}
	}
	slices.SortFunc(ranks, func(x, y rank) int {
		switch {
		case x.priority != y.priority:
			return cmp.Compare(x.priority, y.priority)
		case x.penalty != y.penalty:
			return sign(y.penalty - x.penalty)
		}
		return x.workload - y.workload
	})
	order := make([]int, len(ranks))
	for k := range order {
		order[k] = ranks[k].workload
	}
	return order
}

// inOrder works on the workloads that are wanted, going by their traits, in turn and a few at a time. Once all pools are full it leaves out,
// without reading them, those to which nothing can be added: fleets that are short of devices may come to that long before all workloads
// have had their turn.
func (f *filler) inOrder(order []int, wanted func(t trait) bool, work func(i int)) {
	next, full := make([]int, 0, fetchedAtOnce), f.room.exhausted()
	for _, i := range order {
		if t := f.traits[i]; !wanted(t) || full && t.plain {
			continue
		}
		if next = append(next, i); len(next) == fetchedAtOnce {
			f.fetched(next, work)
			next, full = next[:0], full || f.room.exhausted()
		}
	}
	f.fetched(next, work)
}

// fetched works on workloads one after the other, fetched with what the filler has of them.
func (f *filler) fetched(some []int, work func(i int)) {
	fetched(len(some), func(k int) (read int) {
		i := some[k]
		for _, n := range f.room.Counts(i) {
			read += n
		}
		if first := f.first[i]; first < len(f.plan.replicas) {
			read += int(f.plan.replicas[first])
		}
		return read + f.problem.Workloads[i].fetch()
	}, func(k int) { work(some[k]) })
}

// choice is where a replica may run.
type choice struct{ workload, variant, placement int }

func (f *filler) place(c choice, n int) {
	if n == 0 {
		return
	}
	f.room.Place(c.workload, c.variant, c.placement, n)
	item, variants := f.first[c.workload]+c.placement, f.problem.Workloads[c.workload].Variants
	for j := range c.variant {
		item += len(variants[j].Placements)
	}
	f.plan.replicas[item] += int32(n)
}

// fits is how many more replicas have room, of all that a plan may have of a variant.
func (f *filler) fits(c choice) int {
	more := int(unlimited) - f.room.Counts(c.workload)[c.variant]
	return min(more, f.room.Replicas(c.workload, c.variant, c.placement))
}

// cost is that of n more replicas, per hour.
func (f *filler) cost(c choice, n int) float64 {
	v := &f.problem.Workloads[c.workload].Variants[c.variant]
	at, now := &v.Placements[c.placement], f.room.Counts(c.workload)[c.variant]
	return float64(n)*(at.PricePerHour+at.change) + v.Switching(now+n) - v.Switching(now)
}

// all calls visit for all places of workload i.
func (f *filler) all(i int, visit func(c choice)) {
	variants := f.problem.Workloads[i].Variants
	for j := range variants {
		for k := range variants[j].Placements {
			visit(choice{i, j, k})
		}
	}
}

// choices calls visit for those with room.
func (f *filler) choices(i int, visit func(c choice)) {
	f.all(i, func(c choice) {
		if f.fits(c) > 0 {
			visit(c)
		}
	})
}

// addMinimums places what is declared, where it costs least.
func (f *filler) addMinimums(i int) {
	w := &f.problem.Workloads[i]
	missing := w.MinReplicas
	for j := range w.Variants {
		if least := w.Variants[j].MinReplicas; least > 0 {
			f.add(i, least, func(c choice) bool { return c.variant == j })
			missing -= f.room.Counts(i)[j]
		}
	}
	f.add(i, missing, func(choice) bool { return true })
}

// add places up to n replicas of workload i, the cheapest first.
func (f *filler) add(i, n int, allowed func(choice) bool) {
	for n > 0 {
		var best choice
		room, least := 0, math.Inf(1)
		f.all(i, func(c choice) {
			if cost := f.cost(c, 1); allowed(c) && cost < least {
				if fits := f.fits(c); fits > 0 {
					best, room, least = c, fits, cost
				}
			}
		})
		if room == 0 {
			return
		}
		f.place(best, min(n, room))
		n -= room
	}
}

// serve adds what serves the demand that is left of workload i.
func (f *filler) serve(i int) {
	w := &f.problem.Workloads[i]
	alike := w.alike()
	if !alike && !slices.ContainsFunc(f.room.Counts(i), func(n int) bool { return n > 0 }) {
		f.addWhole(i, w.shapeRates())
	}
	f.addSingle(i, alike)
	if f.plan.unmet[i] > 0 && !alike {
		f.addMore(i)
	}
}

// addMore serves what no single replica does, where several together do. The rates left are only
// about right then, so what comes of it is checked.
func (f *filler) addMore(i int) {
	w, before, room := &f.problem.Workloads[i], f.plan.unmet[i], false
	f.choices(i, func(choice) { room = true })
	if !room {
		return
	}
	added := f.addWhole(i, f.left(i))
	f.plan.unmet[i] = w.Unmet(f.room.Counts(i))
	cost := 0.0
	for n := len(added) - 1; n >= 0; n-- {
		f.place(added[n].choice, -added[n].number)
		cost += f.cost(added[n].choice, added[n].number)
	}
	if served := before - f.plan.unmet[i]; served <= tolerance*w.Demand || !w.worth(cost/served) {
		f.plan.unmet[i] = before
		return
	}
	for _, a := range added {
		f.place(a.choice, a.number)
	}
	f.addSingle(i, false)
}

// left is the rate of each shape that is not served; all of it where replicas that are routed to may
// fail, since the routing is that while none does.
func (f *filler) left(i int) []float64 {
	w := &f.problem.Workloads[i]
	switch {
	case !w.routed():
		return []float64{f.plan.unmet[i]}
	case w.Redundancy > 0:
		return w.shapeRates()
	}
	_, shares := w.serve(f.room.Counts(i))
	left := w.shapeRates()
	for s, rate := range left {
		for j := range shares {
			if w.Variants[j].Phase != Decode {
				left[s] -= rate * shares[j][s]
			}
		}
		left[s] = max(0, left[s])
	}
	return left
}

// addSingle adds replicas one by one, or as many as serve only what is left, where each costs least
// for what it serves, while they are worth it. Where replicas are alike, several are added at once.
func (f *filler) addSingle(i int, alike bool) {
	w := &f.problem.Workloads[i]
	f.counts = append(f.counts[:0], f.room.Counts(i)...)
	if math.IsNaN(f.plan.unmet[i]) {
		f.plan.unmet[i] = w.Unmet(f.counts)
	}
	next := f.nextOther
	if alike {
		next = f.nextAlike
	}
	for f.plan.unmet[i] > 0 {
		best := next(i)
		if best.number == 0 {
			return
		}
		f.place(best.choice, best.number)
		f.counts[best.variant] += best.number
		f.plan.unmet[i] = w.Unmet(f.counts)
	}
}

// nextAlike is what addSingle adds next where replicas are alike, nothing where nothing is worth it. As all replicas of a variant serve as
// much, it is what costs least for what one serves of what is left. That mostly has room: where the others have is looked at only if it
// has not.
func (f *filler) nextAlike(i int) (next addition) {
	c, found := f.cheapestAlike(i, false)
	if !found {
		return addition{}
	}
	if next = f.several(c); next.number == 0 {
		if c, found = f.cheapestAlike(i, true); !found {
			return addition{}
		}
		next = f.several(c)
	}
	w := &f.problem.Workloads[i]
	if !w.worth(f.cost(c, next.number) / f.serves(next)) {
		return addition{}
	}
	return next
}

// cheapestAlike is what costs least for what one replica serves of the demand left of workload i, of all but what certainly has no room,
// or only of what has.
func (f *filler) cheapestAlike(i int, roomy bool) (best choice, found bool) {
	w, left := &f.problem.Workloads[i], f.plan.unmet[i]
	least, most := math.Inf(1), 1.0 // price of the best so far, and what it serves
	for j := range w.Variants {
		v := &w.Variants[j]
		step, serves := v.SwitchUp, min(v.Capacity, left)
		if f.counts[j] < v.CurrentReplicas {
			step = -v.SwitchDown
		}
		for k := range v.Placements {
			at := &v.Placements[k]
			price := at.PricePerHour + at.change + step
			if serves == 0 || price*most >= least*serves || v.takesDevices() && f.room.full(at.Pool) { // price/serves ≥ least/most
				continue
			}
			if c := (choice{i, j, k}); !roomy || f.several(c).number > 0 {
				best, found, least, most = c, true, price, serves
			}
		}
	}
	return best, found
}

// several is as many replicas at once, but for one that may have more capacity than is left, as have room, cost as much as the first and
// are used up by what is left, or none where they serve next to nothing of it. Replicas below the current number save the cost of
// removing them.
func (f *filler) several(c choice) addition {
	w := &f.problem.Workloads[c.workload]
	v := &w.Variants[c.variant]
	a := addition{c, min(f.fits(c), w.used(c.variant, f.plan.unmet[c.workload]))}
	if kept := v.CurrentReplicas - f.counts[c.variant]; kept > 0 {
		a.number = min(a.number, kept)
	}
	if a.number < 1 || f.serves(a) <= tolerance*w.Demand {
		a.number = 0
	}
	return a
}

// serves is what replicas that are alike serve of what is left.
func (f *filler) serves(a addition) float64 {
	return min(float64(a.number)*f.problem.Workloads[a.workload].Variants[a.variant].Capacity, f.plan.unmet[a.workload])
}

// nextOther is what addSingle adds next where replicas are not alike, each by itself, nothing where nothing is worth it.
func (f *filler) nextOther(i int) (best addition) {
	w, left, least := &f.problem.Workloads[i], f.plan.unmet[i], math.Inf(1)
	f.choices(i, func(c choice) {
		cost := f.cost(c, 1)
		if rate := cost / left; rate >= least || !w.worth(rate) {
			return // even if it served all
		}
		f.counts[c.variant]++
		served := left - w.Unmet(f.counts)
		f.counts[c.variant]--
		if rate := cost / served; served > tolerance*w.Demand && rate < least && w.worth(rate) {
			best, least = addition{c, 1}, rate
		}
	})
	return best
}

// alike says whether replicas of a variant serve as much each, however many there are.
func (w *Workload) alike() bool { return w.Redundancy == 0 && !w.routed() }

// used is the number of replicas of variant j, at least one, that a demand uses up where they are alike.
func (w *Workload) used(j int, demand float64) int {
	return int(max(1, min(demand/w.Variants[j].Capacity, float64(unlimited))))
}

// worth says whether demand is worth serving at a price per request/s.
func (w *Workload) worth(rate float64) bool { return !w.Penalized || rate < w.UnmetPenalty }

// addWhole serves shapes that are left, with what serves all of them that it can at once: a variant
// or a pair of a prefill and a decode variant, and the redundant replicas besides, the cheapest per
// request/s first. It takes the shares of all shapes of a step as equal.
func (f *filler) addWhole(i int, left []float64) (added []addition) {
	w := &f.problem.Workloads[i]
	enough := tolerance*w.Demand + w.waived
	for sum(left) > enough {
		best := step{rate: math.Inf(1)}
		f.steps(i, left, func(s step) {
			if s.rate < best.rate && w.worth(s.rate) {
				best = s
			}
		})
		if best.share == 0 {
			f.plan.unmet[i] = math.NaN()
			return added
		}
		for _, a := range best.additions {
			f.place(a.choice, a.number)
		}
		added = append(added, best.additions...)
		for s := range left {
			if w.serves(best.additions, s) {
				left[s] *= 1 - best.share
			}
		}
	}
	f.plan.unmet[i] = 0
	return added
}

// addition is replicas to be added.
type addition struct {
	choice
	number int
}

// step is additions that serve a share of all shapes left that they can serve. It is none
// where that is next to nothing.
type step struct {
	additions []addition
	share     float64
	rate      float64 // cost per request/s
}

// steps calls visit for every variant, and every pair of phases, with room.
func (f *filler) steps(i int, left []float64, visit func(step)) {
	w := &f.problem.Workloads[i]
	consider := func(additions ...addition) {
		if s := f.step(additions, left); s.share > tolerance {
			visit(s)
		}
	}
	f.choices(i, func(c choice) {
		switch w.Variants[c.variant].Phase {
		case Whole:
			consider(addition{choice: c})
		case Prefill:
			f.choices(i, func(second choice) {
				if w.Variants[second.variant].Phase == Decode {
					consider(addition{choice: c}, addition{choice: second})
				}
			})
		case Decode:
		}
	})
}

// step is what the additions, whose numbers it fills in, serve of the shapes left together.
func (f *filler) step(additions []addition, left []float64) step {
	w := &f.problem.Workloads[additions[0].workload]
	served, loads := 0.0, make([]float64, len(additions))
	for shape, rate := range left {
		if rate > 0 && w.serves(additions, shape) {
			served += rate
			for n, a := range additions {
				loads[n] += rate / w.shapeCapacity(&w.Variants[a.variant], shape)
			}
		}
	}
	if served == 0 {
		return step{}
	}
	s := step{additions: additions, share: 1}
	for n := range additions {
		a := &additions[n]
		a.number = f.number(a.choice, loads[n])
		s.share = min(s.share, max(0, float64(a.number-w.Redundancy))/loads[n])
		f.place(a.choice, a.number)
	}
	cost := 0.0
	for n := len(additions) - 1; n >= 0; n-- {
		a := &additions[n]
		f.place(a.choice, -a.number)
		a.number = min(a.number, f.number(a.choice, s.share*loads[n]))
		cost += f.cost(a.choice, a.number)
	}
	s.rate = cost / (served * s.share)
	return s
}

// number is how many replicas to add for a load: those that it uses up, or one, and those that may
// fail.
func (f *filler) number(c choice, load float64) int {
	w := &f.problem.Workloads[c.workload]
	n := min(load*(1+tolerance), float64(unlimited))
	if w.Redundancy > 0 || w.Variants[c.variant].Phase != Whole {
		n = math.Ceil(n*(1-2*tolerance)) + float64(w.Redundancy)
	}
	return min(f.fits(c), max(1, int(n)))
}

// serves says whether all variants of the additions can serve a shape.
func (w *Workload) serves(additions []addition, shape int) bool {
	return !slices.ContainsFunc(additions, func(a addition) bool { return w.shapeCapacity(&w.Variants[a.variant], shape) == 0 })
}
