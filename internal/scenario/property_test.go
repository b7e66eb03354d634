package scenario_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/internal/scenario"
)

// seeds is how many random stories are told.
var seeds = flag.Uint64("seeds", 300, "random stories to tell")

// told is a story as it is told, to be told again should it go wrong.
type told struct {
	script *scenario.Script
	text   strings.Builder
}

func tell(t testing.TB, seed uint64, cycles int) (*told, *teller) {
	s, teller := &told{script: scenario.New()}, newTeller(seed)
	s.run(t, teller.fleet())
	for range cycles {
		s.run(t, teller.mishap()+"\ntick")
	}
	return s, teller
}

func (s *told) run(t testing.TB, block string) {
	t.Helper()
	fmt.Fprintf(&s.text, "%s\n----\n\n", strings.TrimSpace(block))
	if _, err := s.script.Run(block); err != nil {
		t.Fatalf("%v\nafter this story:\n\n%s", err, s.text.String())
	}
}

const eventful = 60

// No pool is exceeded, no floor is broken, and nothing is decided on missing data,
// whatever happens.
func TestRulesHoldWhateverHappens(t *testing.T) {
	for seed := range *seeds {
		tell(t, seed, eventful)
	}
}

func FuzzRulesHoldWhateverHappens(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { tell(t, seed, eventful) })
}
