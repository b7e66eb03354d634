package simulation

import "iter"

// none stands for no request where the index of one is expected.
const none int32 = -1

// request is one that has arrived and not ended.
type request struct {
	// number counts requests, 0 where there is none.
	number int
	// arrival is the moment of arrival, window the index of the window of that moment.
	arrival float64
	window  int32
	// workload is an index; input and output are tokens.
	workload      int32
	input, output int
	// cached is the tokens of the prompt that the replica held where it was computed.
	cached      int
	prefix      []uint64
	blockTokens int
	// server is that on which it is, nil while it is held or its KV entries are transferred;
	// variant is that of the last one.
	server  *server
	variant int32
	// firstToken is when it got it, overhead and since when it has been held, in seconds.
	firstToken, overhead, held float64
	// next is behind it where it is held.
	next int32
}

// table keeps the requests inside under small indices, which are used again. It grows by
// blocks, so that no request moves.
type table struct {
	blocks [][]request
	// places is the number of indices in use or free.
	places int
	free   []int32
	number int
}

// blockSize is the number of requests of a block: 128 KiB.
const blockSize = 1024

func (t *table) at(i int32) *request { return &t.blocks[i/blockSize][i%blockSize] }

// add makes room for another request.
func (t *table) add() int32 {
	i := int32(t.places) //nolint:gosec // that many requests do not fit memory
	if n := len(t.free); n > 0 {
		i = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		if t.places == len(t.blocks)*blockSize {
			t.blocks = append(t.blocks, make([]request, blockSize))
		}
		t.places++
	}
	t.number++
	*t.at(i) = request{number: t.number, next: none}
	return i
}

func (t *table) remove(i int32) {
	*t.at(i) = request{}
	t.free = append(t.free, i)
}

// held are the indices of the requests inside.
func (t *table) held() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(t.places) { //nolint:gosec // as in add
			if t.at(i).number > 0 && !yield(i) {
				return
			}
		}
	}
}

// inside is the number of requests.
func (t *table) inside() int { return t.places - len(t.free) }

// queue is requests in the order in which they came, linked by next.
type queue struct {
	first, last int32
	count       int
}

func (q *queue) push(t *table, i int32) {
	t.at(i).next = none
	if q.count == 0 {
		q.first = i
	} else {
		t.at(q.last).next = i
	}
	q.last = i
	q.count++
}

// pop removes and returns the first. There must be one.
func (q *queue) pop(t *table) int32 {
	i := q.first
	q.first = t.at(i).next
	q.count--
	return i
}

// unpop puts the first back.
func (q *queue) unpop(t *table, i int32) {
	if q.count == 0 {
		q.last = i
	}
	t.at(i).next = q.first
	q.first = i
	q.count++
}
