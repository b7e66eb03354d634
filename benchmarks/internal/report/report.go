// Package report is what each part of the benchmarks leaves for the page of all of them.
package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// Report is what one part has found.
type Report struct {
	Title string
	// About says in Markdown what is measured, and how.
	About string
	// Page is the file in the folder of documentation that has all of it, "" if the report has.
	Page string `json:",omitempty"`
	// Standings say where we are ahead and where we are not.
	Standings []Standing
	Targets   []Target
	// Ratios are what a change must not make worse.
	Ratios  []Ratio
	Tables  []table.Table
	Figures []Figure
	// Versions name what was measured beside this program, with its version.
	Versions []string
	Run      Run
}

// Run says when and how a report was made.
type Run struct {
	Date    time.Time
	Took    time.Duration
	Machine string
	// Revision is the commit that was measured, "" where it is not known.
	Revision string
	// Arguments of the program, without files and folders.
	Arguments []string
}

// Standing is how we stand in one thing.
type Standing struct {
	What, Against string
	// Figure is what was measured, as text.
	Figure  string
	Verdict Verdict
}

// Verdict says who is better.
type Verdict string

// The verdicts.
const (
	Ahead  Verdict = "ahead"
	Even   Verdict = "even"
	Behind Verdict = "**behind**"
)

// Judge is [Ahead] if ours is better by more than a share of it, [Behind] if it is worse by
// more, and [Even] between. A ratio is above 1 where ours is better.
func Judge(ratio, margin float64) Verdict {
	switch {
	case ratio > 1+margin:
		return Ahead
	case ratio >= 1/(1+margin):
		return Even
	}
	return Behind // NaN as well
}

// JudgeInterval is [Ahead] or [Behind] where the whole interval of a ratio is on that side of 1.
func JudgeInterval(ratio sample.Summary) Verdict {
	switch {
	case ratio.Low > 1:
		return Ahead
	case ratio.High < 1:
		return Behind
	}
	return Even
}

// Target is something measured that should be on one side of a bound, as text.
type Target struct {
	Name, Wanted, Measured string
	Met                    bool
}

// AtLeast and AtMost are targets for numbers, with a unit that may be empty. What could not be
// measured, NaN, is missed.
func AtLeast(name string, measured, bound float64, unit string) Target {
	return Target{name, fmt.Sprintf("≥ %.4g%s", bound, unit), Measured(measured, unit), measured >= bound}
}

// AtMost is the opposite of [AtLeast].
func AtMost(name string, measured, bound float64, unit string) Target {
	return Target{name, fmt.Sprintf("≤ %.4g%s", bound, unit), Measured(measured, unit), measured <= bound}
}

// Measured is a number with its unit, or says that it could not be measured, NaN.
func Measured(x float64, unit string) string {
	if math.IsNaN(x) {
		return "not measured"
	}
	return fmt.Sprintf("%.4g%s", x, unit)
}

// Ratio is a figure that does not depend on how fast a machine is; more is better.
type Ratio struct {
	Name  string
	Value float64
}

// Figure is a drawing and the name of its file without extension.
type Figure struct {
	Name, Title, SVG string
}

// Draw returns a figure of a report.
func Draw(name string, f *chart.Figure) Figure { return Figure{name, f.Title, f.SVG()} }

// Write keeps a report in a file, whose folder is made where there is none.
func Write(file string, r *Report) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}

// Read reads what [Write] has kept. An absent file is an error that is [os.ErrNotExist].
func Read(file string) (*Report, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &r, nil
}
