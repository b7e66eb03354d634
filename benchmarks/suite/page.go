package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

Written by ` + "`make bench`" + `, which runs every part below; ` + "`make bench ARGS=\"-only queueing\"`" + ` runs one again and leaves the others as they
are. Ratios are of times that were taken in the same run. A ratio is a median, with the interval that holds the median of its distribution with 95 %, by order statistics as in
benchstat. Above 1 we are better. We are even where the interval holds 1.

`

// The tables of the page, which have rows of all parts.
const (
	standings = iota
	missed
	runs
	tableCount
)

// entry is what the page has of a part, as Markdown: rows of its tables, and a section.
type entry struct {
	rows    [tableCount]string
	section string
}

// tables are those of the page, without rows. The first column has the title of a part.
func tables() (all [tableCount]table.Table) {
	all[standings] = table.Table{Title: "Where we are ahead, and where we are not", Columns: table.Columns("part", "what", "against", "measured", "we are")}
	all[missed] = table.Table{Title: "Targets of our own that are missed", Columns: table.Columns("part", "target", "wanted", "measured")}
	all[runs] = table.Table{Title: "Runs", Columns: table.Columns("part", "command", "date", "time", "commit", "machine", "beside", "targets missed")}
	return all
}

// entryOf is what a part has found.
func entryOf(p part, r *report.Report) entry {
	all := tables()
	for _, s := range r.Standings {
		all[standings].Add(r.Title, s.What, s.Against, s.Figure, string(s.Verdict))
	}
	for _, x := range r.Targets {
		if !x.Met {
			all[missed].Add(r.Title, x.Name, x.Wanted, x.Measured)
		}
	}
	arguments := "-only " + p.name
	if len(r.Run.Arguments) > 0 {
		arguments += " -- " + strings.Join(r.Run.Arguments, " ")
	}
	all[runs].Add(r.Title, fmt.Sprintf("`make bench ARGS=%q`", arguments), r.Run.Date.Format(time.DateOnly), r.Run.Took.Round(time.Second).String(),
		r.Run.Revision, r.Run.Machine, strings.Join(r.Versions, ", "), fmt.Sprintf("%d of %d", len(all[missed].Rows), len(r.Targets)))
	e := entry{section: r.Markdown(figuresFolder)}
	for i := range all {
		e.rows[i] = all[i].MarkdownRows()
	}
	return e
}

// partOfRun finds the name of a part in the row of its run.
var partOfRun = regexp.MustCompile("`make bench ARGS=\"-only ([a-z]+)")

// entries are those of a page as it stands, by the name of the part.
func entries(text string) map[string]entry {
	head, sections, _ := strings.Cut(text, "\n## ")
	byTitle := map[string]*entry{}
	for section := range strings.SplitSeq(sections, "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		byTitle[title] = &entry{section: "## " + strings.TrimRight(section, "\n") + "\n\n"}
	}
	for i, t := range tables() {
		_, rest, _ := strings.Cut(head, t.Title+":\n\n")
		rows, _, _ := strings.Cut(rest, "\n\n")
		for row := range strings.SplitSeq(strings.TrimRight(rows, "\n"), "\n") {
			title, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
			if e := byTitle[title]; e != nil {
				e.rows[i] += row + "\n"
			}
		}
	}
	found := map[string]entry{}
	for _, e := range byTitle {
		if name := partOfRun.FindStringSubmatch(e.rows[runs]); name != nil {
			found[name[1]] = *e
		}
	}
	return found
}

// page is the Markdown of all parts that have left a report or are on the page as it stands.
func page(all map[string]entry) string {
	text := pageHead
	for i, t := range tables() {
		rows := ""
		for _, p := range parts() {
			rows += all[p.name].rows[i]
		}
		if rows != "" {
			text += t.Markdown() + rows + "\n"
		}
	}
	for _, p := range parts() {
		text += all[p.name].section
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// writePage writes page and figures into a folder. A part that has left no report keeps what the page has of it.
func writePage(docs string, found map[string]*report.Report) error {
	folder := filepath.Join(docs, figuresFolder)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	name := filepath.Join(docs, pageFile)
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	all := entries(string(text))
	for _, p := range parts() {
		r := found[p.name]
		if r == nil {
			continue
		}
		all[p.name] = entryOf(p, r)
		for _, f := range r.Figures {
			if err := os.WriteFile(filepath.Join(folder, f.Name+".svg"), []byte(f.SVG), 0o600); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(name, []byte(page(all)), 0o600)
}
