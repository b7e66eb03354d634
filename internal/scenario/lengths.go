package scenario

import (
	"cmp"
	"errors"
	"strings"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// lengths are the mean numbers of tokens of requests, where the catalog does not know
// them. The zero value is that it does.
type lengths struct {
	input, output queueing.Tokens
	// hidden: they are not measured.
	hidden bool
}

// What lengths may be beside numbers.
const (
	declaredLengths = "declared"
	hiddenLengths   = "missing"
)

// parse reads "512/128", an input and an output; or that they are not measured any more, or
// declared again.
func (l lengths) parse(text string) (lengths, error) {
	switch {
	case text == declaredLengths:
		return lengths{}, nil
	case text == hiddenLengths && l.output > 0:
		l.hidden = true
		return l, nil
	}
	input, output, _ := strings.Cut(text, "/")
	in, badInput := number(input)
	out, badOutput := number(output)
	if err := cmp.Or(badInput, badOutput); err != nil {
		return l, err
	}
	if out < 1 {
		return l, errors.New("requests have one output token at least")
	}
	return lengths{input: queueing.Tokens(in), output: queueing.Tokens(out)}, nil
}

// undeclared tells whether the catalog does not know the lengths.
func (l lengths) undeclared() bool { return l.output > 0 }

// shape is that of requests of which it is given what is declared.
func (l lengths) shape(declared queueing.Shape) queueing.Shape {
	if l.undeclared() {
		declared.InputTokens, declared.OutputTokens = l.input, l.output
	}
	return declared
}

// observe puts the lengths into what is measured, in a given state. Where no request ends,
// none has a length.
func (l lengths) observe(o *planner.Observation, state planner.MeasurementState, ending bool) {
	if l.hidden || !l.undeclared() || !ending {
		return
	}
	o.InputTokens = planner.Measurement{State: state, Value: float64(l.input)}
	o.OutputTokens = planner.Measurement{State: state, Value: float64(l.output)}
}
