package optimizer

import (
	"math"
	"slices"
)

// A program is one stage of a solve: workloads that are independent of one another
// but for coupling rows, each Σ use ≤ limit.
type program struct {
	rows      []couplingRow
	workloads []workload
	// shared is the number of rows before those of quotas, which come last.
	shared int
	// items is the number of all (variant, placement) pairs.
	items int
}

// rowKind says what a coupling row limits.
type rowKind int

const (
	poolRow rowKind = iota
	quotaRow
	budgetRow
	// unmetRow keeps the unmet demand of a settled level.
	unmetRow
	// shortfallRow keeps the settled number of missing replicas.
	shortfallRow
)

type couplingRow struct {
	kind rowKind
	// index is the pool, quota or priority, and size that of the smallest parts that a row of a pool counts.
	index, size int
	limit       float64
}

// workload is a workload within a stage.
type workload struct {
	demand           float64
	redundancy       int32
	least, most      int32
	single           bool
	variants         []variant
	places           []place // by item
	uses             []use   // of the places, one after the other
	firstItem, items int
	rows             []int32 // the coupling rows it may use, increasing
	unmetRow         int32   // row of its unmet demand, or none
	unmetCost        float64 // cost of one request/s not served; +Inf: must be served
	unmetFree        bool    // unmet demand does not matter; demand is 0 then
	charged          bool    // unmetRow is the budget
	shortfallRow     int32   // row of its missing replicas, or none
	shortfallCost    float64 // cost of a missing replica; +Inf: minimums are hard
	leastOfVariants  int32
	money            float64 // 1 if prices count in this stage, else 0
	// routing is nil where all requests are alike.
	routing *routing
	// tenant is nil but where all workloads of a namespace with quotas stand for one.
	tenant *tenant
}

// none is a row that does not exist.
const none = int32(-1)

// unlimited stands for no bound on replicas, and no plan has more of one variant;
// sums of a few still fit.
const unlimited = int32(1 << 26)

type variant struct {
	capacity         float64
	up, down         float64 // 0 in stages without money
	least, most      int32
	current          int32
	firstItem, items int32 // within the workload
}

type place struct {
	price           float64 // 0 in stages without money
	firstUse, bound int32   // within the workload, bound behind the last one
}

// usesOf is what a replica takes of the rows in a place.
func (w *workload) usesOf(at *place) []use { return w.uses[at.firstUse:at.bound] }

// priced is the cost of a replica in a place with what it uses.
func (w *workload) priced(at *place, prices []float64) float64 {
	q := at.price
	for _, u := range w.usesOf(at) {
		q += u.amount * prices[u.row]
	}
	return q
}

// addPlaces adds the places of another workload, with those of their uses that keep says, as it returns them.
func (w *workload) addPlaces(from *workload, keep func(use) (use, bool)) {
	for _, at := range from.places {
		uses := from.usesOf(&at)
		at.firstUse = int32(len(w.uses))
		for _, u := range uses {
			if kept, ok := keep(u); ok {
				w.uses = append(w.uses, kept)
			}
		}
		at.bound = int32(len(w.uses))
		w.places = append(w.places, at)
	}
}

// placesOf are those of a variant.
func (w *workload) placesOf(v *variant) []place { return w.places[v.firstItem:][:v.items] }

// use is what one replica takes of a coupling row.
type use struct {
	row    int32
	amount float64
}

// stage is what a program minimises, and what earlier stages have settled.
type stage struct {
	// kind and priority: replicas missing, unmet demand of a priority, or money.
	kind     stageKind
	priority int
	// elastic: minimums may be missed, at most shortfall in total where settled.
	elastic          bool
	shortfall        float64
	shortfallSettled bool
	// settled has the unmet demand of the priorities before; all further ones are
	// free. In the money stage all priorities are settled.
	settled map[int]float64
	// worth has prices of unmet demand by priority in a weighed stage, and weighed is what its gap is
	// relative to; nil and 0: prices in a fixed ratio, and the objective.
	worth   map[int]float64
	weighed float64
	// hasty: a part of the effort will do where nodes are quick, or else what the root gives; bounding:
	// the bound of the root alone.
	hasty, bounding bool
}

// minimises is what the stage minimises.
func (s *stage) minimises() minimised { return minimised{s.kind, s.priority} }

type stageKind int

const (
	moneyStage stageKind = iota
	unmetStage
	shortfallStage
	// weighedStage: money, with a price of unmet demand that grows with its priority. It settles
	// nothing, but the plan is a good one for the stages that do.
	weighedStage
)

// unit is what gaps of the stage are relative to: the demand of the priority. It is
// 0 where they are relative to the objective itself.
func (s *stage) unit(p *Problem) float64 {
	switch s.kind {
	case shortfallStage:
		return 1
	case weighedStage:
		return s.weighed
	case moneyStage:
		return 0
	}
	var demands []float64
	for i := range p.Workloads {
		if w := &p.Workloads[i]; !w.Penalized && w.Priority == s.priority {
			demands = append(demands, w.Demand)
		}
	}
	return sum(demands)
}

// buildBlock is the number of workloads after which the building of a program may be stopped.
const buildBlock = 512

// rounding has the sizes of replicas by pool where rows of pools and quotas are to have others that follow from
// them by rounding; nil: none.
type rounding struct {
	pools, quotas [][]int
}

// newProgram builds the program of a stage, or none if it is stopped.
func newProgram(c *canonical, packings []packing, by rounding, s stage, stop *stopper) *program {
	b := &programBuilder{problem: &c.Problem, stage: s, program: &program{}, packings: packings, unmetRows: map[int]int32{}, quotasOf: map[string][]int{}}
	b.addRows(by)
	b.sizes = make([][]int, len(b.program.rows))
	if s.kind == weighedStage {
		if b.weights = s.worth; b.weights == nil {
			b.weights = weights(c.whole())
		}
	}
	b.program.items = c.first[len(c.workloads)]
	b.program.workloads = make([]workload, len(c.workloads))
	b.variants, b.places = make([]variant, c.firstVariant[len(c.workloads)]), make([]place, b.program.items)
	for i := range c.workloads {
		if i%buildBlock == 0 && stop.asked() {
			return nil
		}
		w := &b.program.workloads[i]
		w.firstItem, w.variants = c.first[i], b.variants[c.firstVariant[i]:c.firstVariant[i+1]:c.firstVariant[i+1]]
		b.addWorkload(c.workload(i), w)
	}
	b.tightenRows()
	return b.program
}

// weightRatio is that of the weights of a priority and the next one.
const weightRatio = 30

// weights are prices of unmet demand by priority: the least is well above what any workload pays for
// a request/s on its dearest variant.
func weights(p *Problem) map[int]float64 {
	weight := 1.0
	var priorities []int
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if w.Penalized {
			continue
		}
		priorities = append(priorities, w.Priority)
		for j, price := range w.prices(nil) {
			if !math.IsInf(price, 1) {
				weight = max(weight, price+w.Variants[j].SwitchUp/w.MixCapacity(j))
			}
		}
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	slices.Reverse(priorities)
	all := make(map[int]float64, len(priorities))
	for _, priority := range priorities {
		weight *= weightRatio
		all[priority] = weight
	}
	return all
}

type programBuilder struct {
	problem   *Problem
	stage     stage
	packings  []packing
	program   *program
	pools     []deviceRows // by pool
	quotas    []deviceRows // by quota
	quotasOf  map[string][]int
	budgetRow int32
	unmetRows map[int]int32
	shortfall int32

	// weights are prices of unmet demand by priority in a weighed stage.
	weights map[int]float64

	rows slab[int32]
	uses slab[use]
	// variants and places are of all workloads.
	variants []variant
	places   []place
	// sizes are those of replicas by row, in devices.
	sizes [][]int
	// using are the uses of the workload being added, and used their rows, some of them several times.
	using []use
	used  []int32
}

// deviceRows are the rows of a pool or quota, one for each limit, one after the other.
type deviceRows struct {
	first  int32
	limits []limit
}

func (b *programBuilder) add(row couplingRow) int32 {
	b.program.rows = append(b.program.rows, row)
	return int32(len(b.program.rows) - 1)
}

func (b *programBuilder) addRows(by rounding) {
	for g := range b.problem.Pools {
		var limits []limit
		if b.problem.Pools[g].Limited {
			limits = b.packings[g].limits()
			if by.pools != nil {
				limits = b.packings[g].roundedLimits(by.pools[g])
			}
			if b.packings[g].beyond > 0 {
				limits = limits[1:] // the first one is the limit of the class, which has a row
			}
		}
		b.pools = append(b.pools, b.addLimits(poolRow, g, limits))
	}
	b.budgetRow = none
	if budget := b.problem.BudgetPerHour; budget > 0 {
		// Half the tolerance of Evaluate, which sums in another order.
		b.budgetRow = b.add(couplingRow{kind: budgetRow, limit: budget * (1 + tolerance/2)})
	}
	b.addSettledRows()
	b.program.shared = len(b.program.rows)
	for q, quota := range b.problem.Quotas {
		b.quotasOf[quota.Namespace] = append(b.quotasOf[quota.Namespace], q)
		var sizes []int
		if by.quotas != nil {
			sizes = by.quotas[quota.Pool]
		}
		b.quotas = append(b.quotas, b.addLimits(quotaRow, q, quota.limits(sizes)))
	}
}

// addLimits adds the rows of a pool or quota.
func (b *programBuilder) addLimits(kind rowKind, index int, limits []limit) deviceRows {
	rows := deviceRows{first: int32(len(b.program.rows)), limits: limits}
	for _, l := range limits {
		b.add(couplingRow{kind: kind, index: index, size: l.size, limit: float64(l.devices)})
	}
	return rows
}

// addSettledRows keeps what earlier stages have reached where that is not 0, which
// needs no row.
func (b *programBuilder) addSettledRows() {
	for _, priority := range sortedKeys(b.stage.settled) {
		if unmet := b.stage.settled[priority]; unmet > 0 {
			b.unmetRows[priority] = b.add(couplingRow{kind: unmetRow, index: priority, limit: unmet * (1 + tolerance)})
		}
	}
	b.shortfall = none
	if b.stage.elastic && b.stage.shortfallSettled {
		b.shortfall = b.add(couplingRow{kind: shortfallRow, limit: b.stage.shortfall})
	}
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (b *programBuilder) addWorkload(from *Workload, w *workload) {
	w.redundancy = int32(from.Redundancy)
	w.demand = from.Demand
	w.least, w.most = int32(from.MinReplicas), upper(from.MaxReplicas)
	w.single = from.Mixing == Single
	b.using, b.used = b.using[:0], b.used[:0]
	if b.stage.kind == moneyStage || b.stage.kind == weighedStage {
		w.money = 1
	}
	b.setUnmet(from, w)
	b.setShortfall(w)
	if w.demand > 0 {
		w.routing = newRouting(from)
	}
	for j := range from.Variants {
		w.items += len(from.Variants[j].Placements)
	}
	w.places = b.places[w.firstItem:][:w.items:w.items]
	quotas := b.quotasOf[from.Namespace]
	next := int32(0)
	for j := range from.Variants {
		v := &w.variants[j]
		v.firstItem, v.items = next, int32(len(from.Variants[j].Placements))
		b.addVariant(&from.Variants[j], v, w, quotas)
		v.capacity = from.MixCapacity(j)
		next += v.items
	}
	w.uses = b.uses.take(len(b.using))
	copy(w.uses, b.using)
	for _, u := range w.uses {
		b.used = append(b.used, u.row)
	}
	for _, row := range []int32{w.unmetRow, w.shortfallRow} {
		if row != none {
			b.used = append(b.used, row)
		}
	}
	slices.Sort(b.used)
	b.used = slices.Compact(b.used)
	w.rows = b.rows.take(len(b.used))
	copy(w.rows, b.used)
}

// setUnmet decides what unmet demand costs in this stage. Where it is free, the
// demand does not matter.
func (b *programBuilder) setUnmet(from *Workload, w *workload) {
	w.unmetRow = none
	limit, settled := b.stage.settled[from.Priority]
	switch {
	case from.Penalized:
		w.unmetCost = w.money * from.UnmetPenalty
		if w.charged = from.charged; w.charged {
			w.unmetRow = b.budgetRow
		}
	case settled && limit > 0:
		w.unmetRow = b.unmetRows[from.Priority]
	case settled:
		w.unmetCost = math.Inf(1)
	case b.stage.kind == unmetStage && from.Priority == b.stage.priority:
		w.unmetCost = 1
	case b.stage.kind == weighedStage:
		w.unmetCost = b.weights[from.Priority]
	}
	if w.unmetCost == 0 && w.unmetRow == none && w.demand > 0 {
		w.demand, w.unmetFree = 0, true
	}
}

func (b *programBuilder) setShortfall(w *workload) {
	w.shortfallRow = none
	switch {
	case !b.stage.elastic:
		w.shortfallCost = math.Inf(1)
	case b.stage.kind == shortfallStage:
		w.shortfallCost = 1
	default:
		w.shortfallRow = b.shortfall
	}
}

func upper(b Bound) int32 {
	if b.Limited {
		return int32(b.Value)
	}
	return unlimited
}

func (b *programBuilder) addVariant(from *Variant, v *variant, w *workload, quotas []int) {
	v.least, v.most = int32(from.MinReplicas), upper(from.MaxReplicas)
	v.current = int32(from.CurrentReplicas)
	v.up, v.down = w.money*from.SwitchUp, w.money*from.SwitchDown
	w.leastOfVariants += v.least
	places := w.placesOf(v)
	for k := range from.Placements {
		placement := &from.Placements[k]
		at := &places[k]
		at.price, at.firstUse = w.money*(placement.PricePerHour+placement.change), int32(len(b.using))
		b.addUses(from, placement, quotas)
		at.bound = int32(len(b.using))
	}
}

// addUses adds what a replica of a variant takes of the rows in a placement.
func (b *programBuilder) addUses(from *Variant, placement *Placement, quotas []int) {
	for g, anySize := range from.takesFrom(placement.Pool) {
		devices, part := b.packings[g].counted(from, anySize)
		b.addDevices(b.pools[g], devices, part)
	}
	for _, q := range quotas {
		if b.problem.Quotas[q].Pool == placement.Pool {
			b.addDevices(b.quotas[q], from.DevicesPerReplica, from.DevicesPerReplica)
		}
	}
	if b.budgetRow != none && placement.PricePerHour > 0 {
		b.using = append(b.using, use{b.budgetRow, placement.PricePerHour})
	}
}

// addDevices adds what devices, in parts of a size, take of the rows of a pool or quota.
func (b *programBuilder) addDevices(rows deviceRows, devices, part int) {
	for r, l := range rows.limits {
		if taken := l.taken(devices, part); taken > 0 {
			b.using = append(b.using, b.use(rows.first+int32(r), taken))
		}
	}
}

// use is that of devices, which are remembered as a size.
func (b *programBuilder) use(row int32, devices int) use {
	if !slices.Contains(b.sizes[row], devices) {
		b.sizes[row] = append(b.sizes[row], devices)
	}
	return use{row, float64(devices)}
}

// tightenRows lowers limits on devices to what sums of replica sizes can reach.
func (b *programBuilder) tightenRows() {
	for r := range b.program.rows {
		row := &b.program.rows[r]
		slices.Sort(b.sizes[r])
		if row.kind == poolRow || row.kind == quotaRow {
			row.limit = float64(reachable(int(row.limit), b.sizes[r]))
		}
	}
}

// reachable is the largest sum ≤ limit of any number of the sizes.
func reachable(limit int, sizes []int) int {
	const most = 1 << 16
	if len(sizes) == 0 || sizes[0] == 1 {
		return limit
	}
	if limit > most {
		divisor := sizes[0]
		for _, s := range sizes[1:] {
			for s != 0 {
				divisor, s = s, divisor%s
			}
		}
		return limit / divisor * divisor
	}
	reached := make([]bool, limit+1)
	reached[0] = true
	best := 0
	for total := 1; total <= limit; total++ {
		for _, s := range sizes {
			if s <= total && reached[total-s] {
				reached[total], best = true, total
				break
			}
		}
	}
	return best
}
