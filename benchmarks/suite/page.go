package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// The page and its figures, in the folder of the documentation.
const (
	pageFile      = "benchmarks.md"
	figuresFolder = "benchmarks"
)

const pageHead = `# Benchmarks

Written by ` + "`make bench`" + `, which runs every part below; ` + "`make bench ARGS=\"-only queueing\"`" + ` runs one again. Ratios are of times that were
taken in the same run. A ratio is a median, with the interval that holds the median of its distribution with 95 %, by order statistics as in
benchstat. Above 1 we are better. We are even where the interval holds 1.

`

// page is the Markdown of all parts that have left a report.
func page(found map[string]*report.Report) string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, t := range []table.Table{standings(found), missed(found), runs(found)} {
		if len(t.Rows) > 0 {
			b.WriteString(t.Markdown() + "\n")
		}
	}
	for _, p := range parts() {
		if r := found[p.name]; r != nil {
			b.WriteString(r.Markdown(figuresFolder))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// standings say where we are ahead, and where we are not.
func standings(found map[string]*report.Report) table.Table {
	t := table.Table{Title: "Where we are ahead, and where we are not", Columns: table.Columns("part", "what", "against", "measured", "we are")}
	for _, p := range parts() {
		if r := found[p.name]; r != nil {
			for _, s := range r.Standings {
				t.Add(r.Title, s.What, s.Against, s.Figure, string(s.Verdict))
			}
		}
	}
	return t
}

// missed lists the targets that are.
func missed(found map[string]*report.Report) table.Table {
	t := table.Table{Columns: table.Columns("part", "target", "wanted", "measured")}
	all := 0
	for _, p := range parts() {
		if r := found[p.name]; r != nil {
			for _, x := range r.Targets {
				all++
				if !x.Met {
					t.Add(r.Title, x.Name, x.Wanted, x.Measured)
				}
			}
		}
	}
	t.Title = fmt.Sprintf("Targets of our own that are missed, %d of %d", len(t.Rows), all)
	return t
}

// runs say on what parts were measured, and how.
func runs(found map[string]*report.Report) table.Table {
	t := table.Table{Title: "Runs", Columns: table.Columns("command", "date", "time", "commit", "machine", "beside")}
	for _, p := range parts() {
		r := found[p.name]
		if r == nil {
			continue
		}
		arguments := "-only " + p.name
		if len(r.Run.Arguments) > 0 {
			arguments += " -- " + strings.Join(r.Run.Arguments, " ")
		}
		t.Add(fmt.Sprintf("`make bench ARGS=%q`", arguments), r.Run.Date.Format(time.DateOnly), r.Run.Took.Round(time.Second).String(),
			r.Run.Revision, r.Run.Machine, strings.Join(r.Versions, ", "))
	}
	return t
}

// writePage writes page and figures into a folder.
func writePage(docs string, found map[string]*report.Report) error {
	folder := filepath.Join(docs, figuresFolder)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, r := range found {
		for _, f := range r.Figures {
			if err := os.WriteFile(filepath.Join(folder, f.Name+".svg"), []byte(f.SVG), 0o600); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(docs, pageFile), []byte(page(found)), 0o600)
}
