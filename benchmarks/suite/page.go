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

// entry is what the page has of a part: rows of its tables and a section, as Markdown.
type entry struct{ standings, missed, run, section string }

// tables are those of the page, without rows. The first column has the title of a part.
func tables() (standings, missed, runs table.Table) {
	return table.Table{Title: "Where we are ahead, and where we are not", Columns: table.Columns("part", "what", "against", "measured", "we are")},
		table.Table{Title: "Targets of our own that are missed", Columns: table.Columns("part", "target", "wanted", "measured")},
		table.Table{Title: "Runs", Columns: table.Columns("part", "command", "date", "time", "commit", "machine", "beside", "targets missed")}
}

// entryOf is what a part has found.
func entryOf(p part, r *report.Report) entry {
	standings, missed, runs := tables()
	for _, s := range r.Standings {
		standings.Add(r.Title, s.What, s.Against, s.Figure, string(s.Verdict))
	}
	for _, x := range r.Targets {
		if !x.Met {
			missed.Add(r.Title, x.Name, x.Wanted, x.Measured)
		}
	}
	arguments := "-only " + p.name
	if len(r.Run.Arguments) > 0 {
		arguments += " -- " + strings.Join(r.Run.Arguments, " ")
	}
	runs.Add(r.Title, fmt.Sprintf("`make bench ARGS=%q`", arguments), r.Run.Date.Format(time.DateOnly), r.Run.Took.Round(time.Second).String(),
		r.Run.Revision, r.Run.Machine, strings.Join(r.Versions, ", "), fmt.Sprintf("%d of %d", len(missed.Rows), len(r.Targets)))
	return entry{standings.MarkdownRows(), missed.MarkdownRows(), runs.MarkdownRows(), r.Markdown(figuresFolder)}
}

// partOfRun finds the name of a part in the row of its run.
var partOfRun = regexp.MustCompile("`make bench ARGS=\"-only ([a-z]+)")

// entries are those of a page as it stands, by the name of the part.
func entries(text string) map[string]entry {
	head, sections, _ := strings.Cut(text, "\n## ")
	byTitle := map[string]*entry{}
	for _, section := range strings.Split(sections, "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		byTitle[title] = &entry{section: "## " + strings.TrimRight(section, "\n") + "\n\n"}
	}
	standings, missed, runs := tables()
	found := map[string]entry{}
	title := ""
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, "|") {
			if line != "\n" {
				title = strings.TrimSuffix(line, ":\n")
			}
			continue
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		e := byTitle[first]
		if e == nil {
			continue // the head of a table
		}
		switch title {
		case standings.Title:
			e.standings += line
		case missed.Title:
			e.missed += line
		case runs.Title:
			e.run += line
			if name := partOfRun.FindStringSubmatch(line); name != nil {
				found[name[1]] = *e // runs are the last table
			}
		}
	}
	return found
}

// page is the Markdown of all parts that have left a report or are on the page as it stands.
func page(all map[string]entry) string {
	var standings, missed, runs, sections strings.Builder
	for _, p := range parts() {
		e := all[p.name]
		standings.WriteString(e.standings)
		missed.WriteString(e.missed)
		runs.WriteString(e.run)
		sections.WriteString(e.section)
	}
	text := pageHead
	add := func(t table.Table, rows string) {
		if rows != "" {
			text += t.Markdown() + rows + "\n"
		}
	}
	ofStandings, ofMissed, ofRuns := tables()
	add(ofStandings, standings.String())
	add(ofMissed, missed.String())
	add(ofRuns, runs.String())
	return strings.TrimRight(text+sections.String(), "\n") + "\n"
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
