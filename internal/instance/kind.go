package instance

import "math/rand/v2"

// Kind says what makes a problem hard.
type Kind int

const (
	// Loose: every workload gets what is cheapest for it, nearly.
	Loose Kind = iota
	// Tight: the pools that the demand would use most bind, the others make up.
	Tight
	// VeryTight: more pools bind, and little demand is left unserved.
	VeryTight
	// Short: much of the demand can't be served.
	Short
	// Budget: the pools are loose, the budget is less than serving everything costs.
	Budget
	// SingleType: tight pools, and every workload uses one variant at a time.
	SingleType
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Loose, Tight, VeryTight, Short, Budget, SingleType} }

// String returns the name of the kind in plain words.
func (k Kind) String() string {
	return [...]string{"loose", "tight", "very tight", "short", "budget", "single-type"}[k]
}

// budgetShare is the budget over the price of the cheapest replicas that serve
// everything.
const budgetShare = 0.9

// supply says how large the pools are. The share of wanted devices is drawn for
// each pool between least and most.
type supply struct {
	least, most float64
	// spread is added to pools that are not scarce, as a share of what the pool
	// would hold if each workload split its demand evenly over its variants.
	spread float64
	// scarce is the share of the pools, those with the highest value in use first,
	// to which spread is not added.
	scarce float64
}

func (k Kind) supply() supply {
	switch k {
	case Loose, Budget:
		return supply{least: 1.1, most: 1.5, spread: 0.3}
	case Tight, SingleType:
		return supply{least: 0.8, most: 1.02, spread: 0.4, scarce: 0.5}
	case VeryTight:
		return supply{least: 0.75, most: 0.92, spread: 0.3, scarce: 0.7}
	default:
		return supply{least: 0.4, most: 0.6, spread: 0}
	}
}

// devices draws the size of a pool.
func (s supply) devices(r *rand.Rand, wanted, spread float64, scarce bool) float64 {
	size := wanted * (s.least + (s.most-s.least)*r.Float64())
	if !scarce {
		size += s.spread * spread
	}
	return size
}
