package peer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseCBC(t *testing.T) {
	const read = "Coin0008I fleet read with 0 errors\n"
	log := read + "Cbc0012I Integer solution of 9 found by feasibility pump after 0 iterations and 0 nodes (0.12 seconds)\n" +
		"Cbc0004I Integer solution of 8.5 found after 68352 iterations and 6402 nodes (10.10 seconds)\n"
	o, err := parseCBC(log, "Optimal (within gap tolerance) - objective value 9\n      0 x  3  3\n**    1 u  0.5  7\n", nil)
	require.NoError(t, err)
	assert.Equal(t, outcome{status: Optimal, first: 0.12, firstKnown: true, values: map[string]float64{"x": 3, "u": 0.5}}, o)
	for head, status := range map[string]Status{
		"Optimal - objective value 9":                                                 Optimal,
		"Infeasible - objective value 46":                                             Infeasible,
		"Integer infeasible - objective 46":                                           Infeasible,
		"Stopped on time - objective value 9":                                         Feasible,
		"Stopped on time (no integer solution - continuous used) - objective value 9": Nothing,
	} {
		o, err := parseCBC(read, head+"\n 0 x 3 3\n", nil)
		require.NoError(t, err)
		assert.Equal(t, status, o.status, head)
		assert.Equal(t, status <= Feasible, len(o.values) == 1, head)
		assert.False(t, o.firstKnown)
	}
	_, err = parseCBC(read, "", nil)
	require.ErrorContains(t, err, "no status")
	_, err = parseCBC(read, "Optimal\n 0 x three 3\n", nil)
	require.ErrorContains(t, err, "column x")
	_, err = parseCBC("Coin0008I fleet read with 1 errors\n", "Optimal\n", nil)
	require.ErrorContains(t, err, "not read")
}

func TestCommandsHaveGapAndLimit(t *testing.T) {
	for _, s := range All() {
		assert.Contains(t, s.Command(0.001, 30*time.Second), " 0.001 ", s.Name)
		assert.Contains(t, s.Command(0.001, 30*time.Second), " 30 ", s.Name)
		assert.Contains(t, s.Command(0.001, 30*time.Second), " model.mps ", s.Name)
	}
}

func TestParseGLPK(t *testing.T) {
	names := []string{"x", "u"}
	for status, want := range map[string]Status{"o": Optimal, "f": Feasible, "u": Nothing, "n": Infeasible} {
		o, err := parseGLPK("", "c Problem: fleet\ns mip 2 2 "+status+" 9\ni 1 6\nj 1 3\nj 2 0.5\ne o f\n", names)
		require.NoError(t, err)
		assert.Equal(t, outcome{status: want, values: map[string]float64{"x": 3, "u": 0.5}}, o)
	}
	o, err := parseGLPK("RELATIVE MIP GAP TOLERANCE REACHED; SEARCH TERMINATED\n", "s mip 2 2 f 9\n", names)
	require.NoError(t, err)
	assert.Equal(t, Optimal, o.status)
	for _, broken := range []string{"", "s mip 2 2 q 9\n", "s mip 2 2 o 9\nj 3 1\n"} {
		_, err := parseGLPK("", broken, names)
		require.Error(t, err, broken)
	}
}

func TestParseLPSolve(t *testing.T) {
	text := "\nValue of objective function: 9\n\nActual values of the variables:\nx   3\nu   0.5\n\nActual values of the constraints:\nd   6\n"
	o, err := parseLPSolve(text, "", nil)
	require.NoError(t, err)
	assert.Equal(t, outcome{status: Optimal, values: map[string]float64{"x": 3, "u": 0.5}}, o)
	o, err = parseLPSolve("Suboptimal solution\n"+text, "", nil)
	require.NoError(t, err)
	assert.Equal(t, Feasible, o.status)
	o, err = parseLPSolve("\nThis problem is infeasible", "", nil)
	require.NoError(t, err)
	assert.Equal(t, Infeasible, o.status)
	o, err = parseLPSolve("\nThis problem is undefined", "", nil)
	require.NoError(t, err)
	assert.Equal(t, Nothing, o.status)
}
