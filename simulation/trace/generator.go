package trace

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Generator draws requests.
type Generator struct {
	Arrivals Arrivals
	// Input and Output are the lengths of prompts and outputs.
	Input, Output Lengths
	// Sample, if any, is where lengths are drawn from instead, with replacement.
	Sample   Sample
	Prefixes Prefixes
}

// Generate returns the requests of a generator. The error names every mistake.
func Generate(g Generator) (Source, error) {
	errs := []error{g.Arrivals.check(), g.Prefixes.check()}
	if len(g.Sample.pairs) == 0 {
		if err := g.Input.check(0); err != nil {
			errs = append(errs, fmt.Errorf("trace: input: %w", err))
		}
		if err := g.Output.check(1); err != nil {
			errs = append(errs, fmt.Errorf("trace: output: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &g, nil
}

func (g *Generator) stream(s seed) stream {
	x := &generated{clock: newClock(&g.Arrivals, s), prefixes: newPrefixes(g.Prefixes, s.of(ofPrefixes))}
	inputs := s.of(ofInputs).random()
	if x.pairs = g.Sample.pairs; len(x.pairs) > 0 {
		x.random = inputs
		return x
	}
	x.input = newLengths(g.Input, 0, inputs)
	x.output = newLengths(g.Output, 1, s.of(ofOutputs).random())
	return x
}

func (g *Generator) expect(s seed, edges, counts []float64) error {
	g.Arrivals.expect(s, edges, counts)
	return nil
}

func (g *Generator) end() float64 { return g.Arrivals.Rate.End() }

type generated struct {
	clock         clock
	input, output lengths
	pairs         []pair
	random        *rand.Rand
	prefixes      *prefixes
}

func (g *generated) next(r *Request) bool {
	var more bool
	if r.At, more = g.clock.next(); !more {
		return false
	}
	if len(g.pairs) > 0 {
		p := g.pairs[g.random.IntN(len(g.pairs))]
		r.Input, r.Output = int(p.input), int(p.output)
	} else {
		r.Input, r.Output = g.input.draw(), g.output.draw()
	}
	g.prefixes.draw(r)
	return true
}

func (g *generated) close() error { return nil }
