package peer

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Solver is a command that solves integer programs in MPS.
type Solver struct {
	Name string
	// version prints it.
	version []string
	// arguments say how to solve the model within a relative gap and a time, and
	// where to write the solution.
	arguments func(model, solution string, gap float64, limit time.Duration) []string
	// parse reads what it printed and wrote; names are those of the columns in order.
	parse func(log, solution string, names []string) (outcome, error)
}

// All lists the solvers.
func All() []Solver { return []Solver{CBC(), GLPK(), LPSolve()} }

// CBC is COIN-OR Branch and Cut.
func CBC() Solver {
	return Solver{
		Name: "CBC", version: []string{"cbc", "-quit"}, parse: parseCBC,
		arguments: func(model, solution string, gap float64, limit time.Duration) []string {
			return []string{"cbc", model, "ratio", number(gap), "timeMode", "cpu", "sec", number(limit.Seconds()), "solve", "solution", solution}
		},
	}
}

// GLPK is the GNU Linear Programming Kit. Its limit is by the wall clock.
func GLPK() Solver {
	return Solver{
		Name: "GLPK", version: []string{"glpsol", "--version"}, parse: parseGLPK,
		arguments: func(model, solution string, gap float64, limit time.Duration) []string {
			return []string{"glpsol", "--freemps", model, "--mipgap", number(gap), "--tmlim", number(limit.Seconds()), "--write", solution}
		},
	}
}

// LPSolve is lp_solve.
func LPSolve() Solver {
	return Solver{
		Name: "lp_solve", version: []string{"lp_solve", "--help"}, parse: parseLPSolve,
		arguments: func(model, _ string, gap float64, limit time.Duration) []string {
			return []string{"lp_solve", "-fmps", model, "-ga", "0", "-gr", number(gap), "-timeout", number(limit.Seconds()), "-S3"}
		},
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Command shows how a model is solved within a relative gap and a time.
func (s Solver) Command(gap float64, limit time.Duration) string {
	return strings.Join(s.arguments("model.mps", "solution.txt", gap, limit), " ")
}

// Version returns what the command says of itself, if it is installed.
func (s Solver) Version(ctx context.Context) (version string, installed bool) {
	if _, err := exec.LookPath(s.version[0]); err != nil {
		return "", false
	}
	// Printing help may count as failure; what matters is the text.
	text, _ := exec.CommandContext(ctx, s.version[0], s.version[1:]...).CombinedOutput() //nolint:gosec // one of the commands of this package
	return regexp.MustCompile(`\d+(\.\d+)+`).FindString(string(text)), true
}
