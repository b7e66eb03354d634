package planner_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// What nobody wants any more is given up wherever it is, and what somebody wants is as without
// the question.
func TestUnwantedDecisionsAreGivenUp(t *testing.T) {
	s := planner.Snapshot{Fleet: profiledFleet(40, 40)}
	p := planner.New(lp.Simplex())
	for name, decide := range map[string]func(*planner.Planner) (any, error){
		"plan":       func(p *planner.Planner) (any, error) { d, _, err := p.Plan(s, planner.Memory{}, nil); return d, err },
		"evaluate":   func(p *planner.Planner) (any, error) { d, _, err := p.Evaluate(s, planner.Memory{}); return d, err },
		"capacities": func(p *planner.Planner) (any, error) { return p.Capacities(s.Fleet) },
		"explain":    func(p *planner.Planner) (any, error) { d, _, err := p.Explain(s, planner.Memory{}, nil); return d, err },
	} {
		t.Run(name, func(t *testing.T) {
			want, err := decide(p)
			require.NoError(t, err)
			var asked atomic.Int64
			got, err := decide(p.While(func() bool { asked.Add(1); return true }))
			require.NoError(t, err)
			assert.Equal(t, want, got)
			all := asked.Load()
			require.Positive(t, all)
			for _, until := range []int64{0, all / 3, 2 * all / 3} {
				asked.Store(0)
				_, err := decide(p.While(func() bool { return asked.Add(1) <= until }))
				require.ErrorIs(t, err, planner.ErrUnwanted, "after %d of %d", until, all)
				assert.Less(t, asked.Load(), all+10)
			}
		})
	}
}
