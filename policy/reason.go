package policy

import (
	"fmt"
	"strconv"
)

// Words are the names of the reasons of a policy and what they mean, by their numbers,
// which begin with 1.
type Words []struct{ Name, Text string }

func (w Words) known(reason int) bool { return reason > 0 && reason < len(w) }

// Name returns the name of a reason, or its number where it has none.
func (w Words) Name(reason int) string {
	if !w.known(reason) {
		return "Reason(" + strconv.Itoa(reason) + ")"
	}
	return w[reason].Name
}

// Text says in words what a reason means; of one without a name it is the number.
func (w Words) Text(reason int) string {
	if !w.known(reason) {
		return w.Name(reason)
	}
	return w[reason].Text
}

// Step is one thing that made a number of replicas another.
type Step[R interface{ Text() string }] struct {
	Reason        R
	Before, After int
}

// String says in words what happened.
func (s Step[R]) String() string {
	return fmt.Sprintf("%d → %d: %s", s.Before, s.After, s.Reason.Text())
}

// Then returns steps and one more, unless that changed nothing.
func Then[R interface{ Text() string }](steps []Step[R], reason R, before, after int) []Step[R] {
	if after == before {
		return steps
	}
	return append(steps, Step[R]{Reason: reason, Before: before, After: after})
}
