package report

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// Judged is the table of targets.
func (r *Report) Judged() table.Table {
	t := table.Table{Title: "Targets", Columns: table.Columns("what", "wanted", "measured", "met")}
	for _, x := range r.Targets {
		t.Add(x.row()...)
	}
	return t
}

func (t Target) row() []string {
	met := "yes"
	if !t.Met {
		met = "**no**"
	}
	return []string{t.Name, t.Wanted, t.Measured, met}
}

// Missed tells whether a target is.
func (r *Report) Missed() bool {
	for _, t := range r.Targets {
		if !t.Met {
			return true
		}
	}
	return false
}

// Text returns the report for the terminal.
func (r *Report) Text() string {
	var b strings.Builder
	for i := range r.Tables {
		b.WriteString(r.Tables[i].Text())
	}
	if len(r.Targets) > 0 {
		t := r.Judged()
		b.WriteString(t.Text())
	}
	return b.String()
}

// Markdown returns the report as a section of a page, with its figures in a folder beside it.
func (r *Report) Markdown(folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", r.Title, r.About)
	if r.Page != "" {
		fmt.Fprintf(&b, "All of it: [%s](%s).\n\n", r.Page, r.Page)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "![%s](%s/%s.svg)\n\n", f.Title, folder, f.Name)
	}
	if len(r.Targets) > 0 {
		t := r.Judged()
		b.WriteString(t.Markdown() + "\n")
	}
	for i := range r.Tables {
		b.WriteString(r.Tables[i].Markdown() + "\n")
	}
	return b.String()
}
