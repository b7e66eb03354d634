package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
)

// effort is how long measuring takes.
type effort struct {
	// repeats is how often the two sides take turns.
	repeats int
	// turn is about how long each turn takes.
	turn time.Duration
}

// contest is what measuring a task gave, per question.
type contest struct {
	theirs, ours time.Duration
	// ratio is over the turns their time over ours.
	ratio sample.Summary
	// undisturbed is the ratio of the shortest turns. Whatever else the machine does
	// can only lengthen a turn, so it holds on a busy machine as well.
	undisturbed float64
}

// measure times the two sides of a task in turn.
func (t *task) measure(e effort) (contest, error) {
	theirCalls, err := callsIn(e.turn, t.theirs)
	if err != nil {
		return contest{}, err
	}
	ourCalls, err := callsIn(e.turn, t.ours)
	if err != nil {
		return contest{}, err
	}
	var theirs, ours, ratios []float64
	for range e.repeats {
		a, err := secondsPerCall(theirCalls, t.theirs)
		if err != nil {
			return contest{}, err
		}
		b, err := secondsPerCall(ourCalls, t.ours)
		if err != nil {
			return contest{}, err
		}
		theirs, ours, ratios = append(theirs, a), append(ours, b), append(ratios, a/b)
	}
	return contest{
		theirs: t.perQuestion(median(theirs)), ours: t.perQuestion(median(ours)),
		ratio:       sample.Summarize(ratios),
		undisturbed: slices.Min(theirs) / slices.Min(ours),
	}, nil
}

func (t *task) perQuestion(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds / float64(t.questions) * float64(time.Second)))
}

// callsIn returns how many calls fill a turn, one at least. It warms up as well.
func callsIn(turn time.Duration, call func() error) (int, error) {
	calls := 1
	for {
		each, err := secondsPerCall(calls, call)
		if err != nil {
			return 0, err
		}
		if each*float64(calls) >= turn.Seconds()/4 {
			return max(1, int(turn.Seconds()/each)), nil
		}
		calls *= 2
	}
}

// secondsPerCall is processor time, which other processes lengthen less than that by the clock.
func secondsPerCall(calls int, call func() error) (float64, error) {
	start := machine.ProcessorTime()
	for range calls {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return (machine.ProcessorTime() - start).Seconds() / float64(calls), nil
}

// allocations returns how often ours allocates per question.
func (t *task) allocations() (float64, error) {
	var failed error
	average := testing.AllocsPerRun(10, func() {
		if err := t.ours(); err != nil {
			failed = err
		}
	})
	return average / float64(t.questions), failed
}

// median sorts in place.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
