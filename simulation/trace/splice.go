package trace

import (
	"errors"
	"fmt"
	"math"
)

// Sum is all requests of several sources, in order of time.
func Sum(parts ...Source) Source {
	if len(parts) == 1 {
		return parts[0]
	}
	return sum(parts)
}

type sum []Source

func (s sum) stream(x seed) stream {
	m := &merged{}
	for i, part := range s {
		m.add(part.stream(x.of(ofParts+uint64(i))), 0)
	}
	return m
}

func (s sum) expect(x seed, edges, counts []float64) error {
	var errs []error
	for i, part := range s {
		errs = append(errs, part.expect(x.of(ofParts+uint64(i)), edges, counts))
	}
	return errors.Join(errs...)
}

func (s sum) end() float64 {
	var end float64
	for _, part := range s {
		end = math.Max(end, part.end())
	}
	return end
}

// Placement cuts a piece out of time and puts it elsewhere.
type Placement struct {
	// From and To say which requests are taken: those from From until before To, in seconds
	// after the start of the source. A To of 0 is its end.
	From, To float64
	// Stretch is what times between them are multiplied by, > 0; 0 = 1. A stretch of 2
	// halves the rate.
	Stretch float64
	// At is when what was at From happens, in seconds.
	At float64
}

// Place is a piece of a source at another time. Pieces at different times make one source
// by [Sum].
func Place(s Source, p Placement) (Source, error) {
	if p.Stretch == 0 {
		p.Stretch = 1
	}
	if p.To == 0 {
		p.To = math.Inf(1)
	}
	var errs []error
	if !(p.From >= 0 && p.From < p.To) {
		errs = append(errs, fmt.Errorf("trace: cut from %g s to %g s: nothing remains", p.From, p.To))
	}
	if !(p.Stretch > 0) || math.IsInf(p.Stretch, 1) {
		errs = append(errs, fmt.Errorf("trace: stretch %g is not positive", p.Stretch))
	}
	if !(p.At >= 0) || math.IsInf(p.At, 1) {
		errs = append(errs, fmt.Errorf("trace: start %g s is not finite and ≥ 0", p.At))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &placed{s, p}, nil
}

type placed struct {
	source Source
	Placement
}

func (p *placed) stream(s seed) stream {
	return &placedStream{Placement: p.Placement, stream: p.source.stream(s)}
}

type placedStream struct {
	Placement
	stream
}

func (p *placedStream) start() float64 { return p.At }

func (p *placedStream) next(r *Request) bool {
	for p.stream.next(r) {
		if r.At >= p.To {
			return false
		}
		if r.At >= p.From {
			r.At = p.after(r.At)
			return true
		}
	}
	return false
}

// after is the time that a time of the source becomes.
func (p *Placement) after(t float64) float64 { return (t-p.From)*p.Stretch + p.At }

func (p *placed) expect(s seed, edges, counts []float64) error {
	before := make([]float64, len(edges))
	for i, t := range edges {
		before[i] = min(max((t-p.At)/p.Stretch+p.From, p.From), p.To)
	}
	return p.source.expect(s, before, counts)
}

func (p *placed) end() float64 {
	return math.Max(p.At, p.after(math.Min(p.To, p.source.end())))
}
