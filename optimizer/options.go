package optimizer

import "github.com/poolwright/poolwright/optimizer/lp"

// Options say how far a solve goes. The zero value asks for a proven optimum.
type Options struct {
	// RelativeGap ≥ 0 is the gap at which a plan counts as optimal: the search
	// ends when (objective − bound) ≤ RelativeGap·objective, of some 240 workloads
	// or fewer with the best plan or after eight times as much effort, 100,000 at
	// most. Below 3e-9 the arithmetic decides, so 0 means 3e-9.
	RelativeGap float64
	// Effort limits the work of the whole solve, in pricing problems of one
	// workload (about a microsecond each); 0 means 10 million. What is under way
	// when it is spent, and a plan where there is none yet, take a few more for
	// each workload, or tens where pools are many. Equal efforts give equal
	// results on any machine, which no limit by the clock could.
	Effort int
	// Stop is asked now and then; once it returns true the solve ends with the
	// best plan and bound so far. It may be nil.
	Stop func() bool
	// Start is where the search begins; nil: from nothing.
	Start *Start
	// LP solves the linear programs of the exact finish; nil means the pure Go
	// engine.
	LP lp.Engine

	// limits are those of the exact finish; nil means the defaults.
	limits *limits
	// greedy makes a plan in place of the greedy one of the problem, nil otherwise.
	greedy func() [][][]int
}

// leastGap is the least gap that the arithmetic can prove.
const leastGap = 3 * tolerance

// provenGap is the gap at which a plan counts as optimal.
func (o *Options) provenGap() float64 { return max(o.RelativeGap, leastGap) }

// searchGap is the gap at which a search may end, so that the gap asked for holds
// after the bound has been lowered by the tolerance.
func (o *Options) searchGap() float64 { return max(0, o.RelativeGap-2*tolerance) }

// limits say how large a core may be before the search branches instead, so that
// tests can take every path.
type limits struct {
	// columns is the number of configurations up to which a core is tried.
	columns int
	// steps limits the plain search, which suits the smallest cores, and programs
	// the linear programs solved for one core.
	steps, programs int
	// rows is the number of rows of a linear program with one for each workload and limit, up
	// to which it bounds the nodes, rootRows that up to which it is all that looks for plans, and tinyRows that up to which it bounds the root
	// from the start.
	rows, rootRows, tinyRows int
	// exactRows is that up to which the search goes on from a plan that is good enough to the best.
	exactRows int
	// known is the number of configurations beyond one for each workload that are known to matter up to which a core
	// is tried where a master bounds the nodes of a small tree; of others it is twice as many. fewColumns is that of configurations of
	// such a core, and fewPrograms that of linear programs solved for it.
	known, fewColumns, fewPrograms int
	// unrounded is the number of nodes for each row after which the search begins anew with rows that follow by rounding.
	unrounded int
	// young is the number of nodes for each row up to which a tree is small: splits are chosen without strong branching, and few
	// configurations may be known of a core.
	young int
	// reliable is the number of gains seen on each side of the splits of an item from which on they tell what the
	// next ones may gain.
	reliable int
	// fixedPrices is the number of workloads up to which priorities are weighed by prices in a fixed ratio, for a plan for all of them to begin with.
	fixedPrices int
	// priced is the number of namespaces with quotas up to which these are priced, and workloads not grouped by namespace.
	priced int
}

func defaultLimits() *limits {
	return &limits{columns: 4000, steps: 3000, programs: 400, rows: 40_000, rootRows: 250, tinyRows: 40, exactRows: 250, known: 25, fewColumns: 300, fewPrograms: 300, unrounded: 8, young: 4, reliable: 8, fixedPrices: 40, priced: 3}
}

// defaultEffort is some ten seconds.
const defaultEffort = 10_000_000
