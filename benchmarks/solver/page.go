package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
)

// section is what one kind of measurement found.
type section struct {
	title string
	// about says in Markdown what is measured, and how.
	about   string
	targets []target
	tables  []table.Table
	figures []figure
	// standings, and ratios that a change must not make worse, go to the page of all benchmarks;
	// tables of sections that are a summary do as well.
	standings []report.Standing
	ratios    []report.Ratio
	summary   bool
}

// figure is a figure and the name of its file, without extension.
type figure struct {
	name string
	chart.Figure
}

// target is something measured that should be at most, or at least, a bound.
type target struct {
	name            string
	measured, bound float64
	atLeast         bool
	// unit is written after both.
	unit string
}

// met tells whether the target is; one that could not be measured, NaN, is not.
func (t target) met() bool {
	if t.atLeast {
		return t.measured >= t.bound
	}
	return t.measured <= t.bound
}

func (t target) row() []string {
	sign, met := "≤", "met"
	if t.atLeast {
		sign = "≥"
	}
	if !t.met() {
		met = "**missed**"
	}
	return []string{t.name, fmt.Sprintf("%s %.4g%s", sign, t.bound, t.unit), report.Measured(t.measured, t.unit), met}
}

func targetTable(title string, targets []target) table.Table {
	t := table.Table{Title: title, Columns: table.Columns("what", "wanted", "measured", "")}
	for _, x := range targets {
		t.Add(x.row()...)
	}
	return t
}

// text returns the section for the terminal.
func (s *section) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n== %s\n", s.title)
	for i := range s.tables {
		b.WriteString(s.tables[i].Text())
	}
	if len(s.targets) > 0 {
		t := targetTable("Targets", s.targets)
		b.WriteString(t.Text())
	}
	return b.String()
}

// markdown returns the section for the page, with its figures in a folder.
func (s *section) markdown(folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", s.title, s.about)
	for i := range s.figures {
		fmt.Fprintf(&b, "![%s](%s/%s.svg)\n\n", s.figures[i].Title, folder, s.figures[i].name)
	}
	for i := range s.tables {
		b.WriteString(s.tables[i].Markdown() + "\n")
	}
	return b.String()
}

// page is all sections.
type page struct {
	sections []*section
}

func (p *page) targets() []target {
	var all []target
	for _, s := range p.sections {
		all = append(all, s.targets...)
	}
	return all
}

func (p *page) missed() (n int) {
	for _, t := range p.targets() {
		if !t.met() {
			n++
		}
	}
	return n
}

func (p *page) verdict() string {
	return fmt.Sprintf("\n%d of %d targets are missed.\n", p.missed(), len(p.targets()))
}

// The page and its figures, in the folder of the documentation.
const (
	pageFile      = "solver-benchmarks.md"
	figuresFolder = "solver-benchmarks"
)

const pageHead = `# Benchmarks: optimizer

Written by ` + "`make bench-solver`" + ` on %s. Machine: %s. Solvers beside ours: %s.

Problems are drawn by ` + "`internal/instance`" + `: models of several sizes with tensor-parallel variants on accelerators of
several prices, heavy-tailed demand, switching costs, minimums and maximums, unmet demand with a penalty unless said otherwise.
*Loose*: pools hold what each workload would like best. *Tight*: the most wanted half of the pools bind. *Very tight*: more of
them do. *Short*: about half of the devices that are wanted; what is left unserved is decided by penalties, or by
priorities first where the table says so. *Budget*: loose pools and a budget below what serving everything costs. *Single-type*:
tight, and each workload uses one variant at a time. *With quotas*: in namespaces of ten workloads, each with a quota in every
pool, which in some does not do for what is declared as minimum. *In zones*: three pools of each accelerator, among which
variants may choose, at prices up to a tenth apart. Equal seeds give equal problems.

Times are processor time of the solve on one core (` + "`getrusage`" + `, GOMAXPROCS=1), without reading or
drawing the problem, at a proven gap of at most 0.1 %%, unless said otherwise. p95 of 20 is the second largest.
No solve gets more than %v; one that runs into that counts with the time it took, and not as proven.
%s
`

// write writes the page and its figures into a folder.
func (p *page) write(ctx context.Context, o options) error {
	if err := os.MkdirAll(filepath.Join(o.Docs, figuresFolder), 0o750); err != nil {
		return err
	}
	others := strings.Join(versions(ctx), ", ")
	if others == "" {
		others = "none installed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, time.Now().UTC().Format(time.DateOnly), machine.Describe(), others, o.limit, o.pace.line())
	t := targetTable("## Targets\n\nWhat the solver is meant to reach", p.targets())
	b.WriteString(t.Markdown() + "\n")
	for _, s := range p.sections {
		b.WriteString(s.markdown(figuresFolder))
		for i := range s.figures {
			f := &s.figures[i]
			file := filepath.Join(o.Docs, figuresFolder, f.name+".svg")
			if err := os.WriteFile(file, []byte(f.SVG()), 0o600); err != nil {
				return err
			}
		}
	}
	text := strings.TrimRight(b.String(), "\n") + "\n"
	return os.WriteFile(filepath.Join(o.Docs, pageFile), []byte(text), 0o600)
}

// versions names the other solvers that are installed.
func versions(ctx context.Context) []string {
	var found []string
	for _, s := range peer.All() {
		if version, installed := s.Version(ctx); installed {
			found = append(found, s.Name+" "+version)
		}
	}
	return found
}
