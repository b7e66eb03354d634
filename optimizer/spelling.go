package optimizer

import (
	"slices"

	"github.com/poolwright/poolwright/internal/parallel"
)

// spelling gives a plan in the shape of the problem a block at a time: of the workloads from one up to another, the replicas by variant and
// placement, which the caller may keep but not change. Blocks may be asked for on several goroutines; the workloads of a block have to be
// asked for in turn, each once.
type spelling func(from, to int) func(i int) [][]int

// asSpelled is a plan that is spelled out already.
func asSpelled(replicas [][][]int) spelling {
	return func(int, int) func(i int) [][]int { return func(i int) [][]int { return replicas[i] } }
}

// restore returns replicas by canonical item in the order of the original problem.
func (c *canonical) restore(items []int32) [][][]int {
	out, spell := make([][][]int, len(c.workloads)), c.spelled(items)
	parallel.Blocks(len(out), evaluationBlock, func(_, from, to int) {
		replicas := spell(from, to)
		for i := from; i < to; i++ {
			out[i] = replicas(i)
		}
	})
	return out
}

// spelled is restore, a block of workloads at a time.
func (c *canonical) spelled(items []int32) spelling {
	shared := c.sharedLists()
	return func(from, to int) func(i int) [][]int {
		variants, places := 0, 0
		for given := from; given < to; given++ {
			if i := c.place[given]; shared.of(given, items) == nil {
				variants += c.firstVariant[i+1] - c.firstVariant[i]
				places += c.first[i+1] - c.first[i]
			}
		}
		// Exactly as much as is needed: memory that is new to a process may take longer than what is written to it.
		rows, counts := slab[[]int]{free: make([][]int, variants)}, slab[int]{free: make([]int, places)}
		return func(given int) [][]int {
			if lists := shared.of(given, items); lists != nil {
				return lists
			}
			i := c.place[given]
			replicas := rows.take(c.firstVariant[i+1] - c.firstVariant[i])
			restoreOne(replicas, counts.take(c.first[i+1]-c.first[i]), c.items[given], items[c.first[i]:])
			return replicas
		}
	}
}

// sharedLists are the replicas of workloads that have none, or few of one variant, of which there are many in large fleets: lists of their own
// would be most of what a plan takes.
type sharedLists struct {
	canonical *canonical
	// alone are by the number of replicas, from none on: so many of the variant in the middle, and none of as many on either side as a workload
	// that shares them may have. They are nil where too few would share them.
	alone [mostShared + 1][][]int
}

// Lists are shared of up to mostShared replicas, of workloads of up to sharedVariants variants.
const (
	mostShared     = 8
	sharedVariants = 16
)

func (c *canonical) sharedLists() *sharedLists {
	l := &sharedLists{canonical: c}
	if len(c.workloads) <= evaluationBlock {
		return l
	}
	for n := range l.alone {
		l.alone[n] = slices.Repeat([][]int{{0}}, 2*sharedVariants-1)
		l.alone[n][sharedVariants-1] = []int{n}
	}
	return l
}

// of are the lists of a workload, nil where they are not shared.
func (l *sharedLists) of(given int, items []int32) [][]int {
	c := l.canonical
	i := c.place[given]
	first, end, variants := c.first[i], c.first[i+1], c.firstVariant[i+1]-c.firstVariant[i]
	if l.alone[0] == nil || variants > sharedVariants || variants != end-first { // or some variant has several placements
		return nil
	}
	variant, replicas := 0, int32(0)
	for k, n := range items[first:end] {
		switch {
		case n == 0:
		case n > mostShared, replicas > 0:
			return nil
		default:
			variant, replicas = int(c.items[given][k].variant), n
		}
	}
	from := sharedVariants - 1 - variant
	return l.alone[replicas][from : from+variants : from+variants]
}

// restoreOne fills in the replicas of a workload by variant and placement; those of a variant are a part of counts.
func restoreOne(replicas [][]int, counts []int, of []item, x []int32) {
	for first := 0; first < len(of); {
		variant, next := of[first].variant, first
		for ; next < len(of) && of[next].variant == variant; next++ {
			counts[first+int(of[next].placement)] = int(x[next])
		}
		replicas[variant] = counts[first:next:next]
		first = next
	}
}
