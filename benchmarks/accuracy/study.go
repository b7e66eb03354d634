package main

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// study is what one comparison found.
type study struct {
	title string
	// about says in Markdown what is compared, and how.
	about   string
	targets []target
	// standings go to the page of all benchmarks.
	standings []report.Standing
	figures   []namedFigure
	// tables are always shown, listings on the terminal only when details are asked
	// for, details never in the document.
	tables, listings, details []table.Table
}

// namedFigure is a figure and the name of its file, without extension.
type namedFigure struct {
	name string
	chart.Figure
}

// text returns the study for the terminal.
func (s *study) text(details bool) string {
	var b strings.Builder
	write := func(tables []table.Table) {
		for i := range tables {
			b.WriteString(tables[i].Text())
		}
	}
	if details {
		write(s.details)
		write(s.listings)
	}
	write(s.tables)
	if len(s.targets) > 0 {
		t := s.targetTable()
		b.WriteString(t.Text())
	}
	return b.String()
}

// markdown returns the study as a section of the document, with its figures in a
// folder.
func (s *study) markdown(folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", s.title, s.about)
	if len(s.targets) > 0 {
		t := s.targetTable()
		b.WriteString(t.Markdown() + "\n")
	}
	for i := range s.figures {
		f := &s.figures[i]
		fmt.Fprintf(&b, "![%s](%s/%s.svg)\n\n", f.Title, folder, f.name)
	}
	for _, tables := range [][]table.Table{s.tables, s.listings} {
		for i := range tables {
			b.WriteString(tables[i].Markdown() + "\n")
		}
	}
	return b.String()
}

func (s *study) targetTable() table.Table { return targetTable(s.title+": targets", s.targets) }

// missed returns the names of the targets that were missed.
func (s *study) missed() []string {
	var names []string
	for _, t := range s.targets {
		if !t.met() {
			names = append(names, fmt.Sprintf("%s: %s: %s %%, wanted ≤ %s %%",
				s.title, t.name, percent(t.measured), percent(t.bound)))
		}
	}
	return names
}
