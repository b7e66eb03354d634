package replica

import "math"

// decodingSet is the requests that decode together. Each gets the same number of
// tokens per step, so that a request's last step is known when it joins and sums
// over the set need no loop over it.
type decodingSet struct {
	// accepted is the number of tokens per step.
	accepted float64
	// steps counts the decoding steps that ended, entries those that ever joined.
	steps, entries int64
	count          int
	// tokens is the sum of prompts and generated tokens at joining, starts that of the
	// steps at joining. Whole numbers, so that nothing adds up to a rounding error.
	tokens, starts int64
	// last holds each request by its last step, and entries that left before it.
	last timetable
}

// roundingError is the relative error below which a number of steps is whole.
const roundingError = 1e-12

func (d *decodingSet) join(i int32, r *request) {
	steps := math.Ceil(float64(r.Output-r.generated) / d.accepted * (1 - roundingError))
	d.entries++
	r.entry, r.start = d.entries, d.steps
	d.count++
	d.tokens += int64(r.Input + r.generated)
	d.starts += r.start
	d.last.push(appointment{due: float64(d.steps) + steps, entry: r.entry, index: i})
}

func (d *decodingSet) leave(r *request) {
	d.count--
	d.tokens -= int64(r.Input + r.generated)
	d.starts -= r.start
	r.entry = 0
}

// generated is the number of tokens since the requests joined.
func (d *decodingSet) generated() float64 {
	return d.accepted * float64(int64(d.count)*d.steps-d.starts)
}

// generatedBy is the same for one request, in whole tokens, short of the last one.
func (d *decodingSet) generatedBy(r *request) int {
	n := int(d.accepted * float64(d.steps-r.start))
	return min(n, r.Output-1-r.generated)
}

// context is the number of context tokens of all requests.
func (d *decodingSet) context() float64 { return float64(d.tokens) + d.generated() }

// popLast removes a request whose last step has ended, and returns none without one.
func (d *decodingSet) popLast(t *requestTable) int32 {
	for len(d.last) > 0 && d.last[0].due <= float64(d.steps) {
		a := d.last.pop()
		if r := t.at(a.index); r.entry == a.entry {
			d.leave(r)
			return a.index
		}
	}
	return none
}
