package scenario_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/internal/scenario"
	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/planner"
)

// seeds is how many random stories are told.
var seeds = flag.Uint64("seeds", 150, "random stories to tell")

// told is a story as it is told, to be told again should it go wrong.
type told struct {
	script *scenario.Script
	text   strings.Builder
}

func tell(t testing.TB, seed uint64, cycles int) (*told, *teller) {
	s, teller := &told{script: scenario.New()}, newTeller(seed)
	s.run(t, teller.fleet("policy: {native: {}}"))
	for range cycles {
		s.run(t, teller.mishap()+"\ntick")
	}
	return s, teller
}

func (s *told) run(t testing.TB, block string) {
	t.Helper()
	fmt.Fprintf(&s.text, "%s\n----\n\n", strings.TrimSpace(block))
	if output, err := s.script.Run(block); err != nil {
		t.Fatalf("%v\n%s\nafter this story:\n\n%s", err, output, s.text.String())
	}
}

const eventful = 60

// No pool is exceeded, no floor is broken, and nothing is decided on missing data,
// whatever happens.
func TestRulesHoldWhateverHappens(t *testing.T) {
	for seed := range short.Of(*seeds) {
		tell(t, seed, eventful)
	}
}

func FuzzRulesHoldWhateverHappens(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { tell(t, seed, eventful) })
}

// Under constant demand, the cheapest plan stays what it is from the fifth cycle on. Only a
// step of the way to it may show one that is as good and nearer: it counts five more.
func TestConstantDemandSettles(t *testing.T) {
	for seed := range short.Of(*seeds) {
		settles(t, seed, 0, 5)
	}
}

// After events, what was demanded before counts for nothing from the second cycle on; but the
// last of them may have been a pause of two minutes, which are eight cycles.
func TestConstantDemandSettlesAfterEvents(t *testing.T) {
	for seed := range short.Of(*seeds) {
		settles(t, seed, 20, 8+5)
	}
}

// settles tells a story of some events, then of calm. It fails if the cheapest plan
// changes more than a number of cycles after the last event, and more than five after
// the last change of replicas; or if replicas change when two windows and the times to
// start and to end are over.
func settles(t *testing.T, seed uint64, events, settled int) {
	const still = 60
	s, teller := tell(t, seed, events)
	s.run(t, teller.calm())
	wanted, until := "", settled
	for k := 1; k <= still+30; k++ {
		s.run(t, "tick")
		d := s.script.Last().Decision
		now := wantedPlan(&d)
		if k > until && now != wanted || k > still && len(d.Changes) > 0 {
			t.Fatalf("seed %d: after %d calm cycles, %v is changed, and wanted is\n%s in place of\n%safter this story:\n\n%s",
				seed, k, d.Changes, now, wanted, s.text.String())
		}
		wanted = now
		if len(d.Changes) > 0 {
			until = max(until, k+5)
		}
	}
}

// wantedPlan writes down the cheapest plan.
func wantedPlan(d *planner.Decision) string {
	var text strings.Builder
	for i := range d.Plans {
		fmt.Fprint(&text, d.Fleet.Workloads[i].QualifiedName())
		for j := range d.Plans[i].Variants {
			fmt.Fprintf(&text, " %d", d.Plans[i].Variants[j].Wanted)
		}
		fmt.Fprintln(&text)
	}
	return text.String()
}
