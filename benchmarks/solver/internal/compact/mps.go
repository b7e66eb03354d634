package compact

import (
	"fmt"
	"strconv"
	"strings"
)

// MPS returns the program in free MPS format. All bounds are explicit, as readers
// differ in those of integers.
func (p *Program) MPS() string {
	w := &strings.Builder{}
	p.writeRows(w)
	p.writeColumns(w)
	w.WriteString("RHS\n")
	for _, r := range p.rows {
		if r.limit != 0 {
			fmt.Fprintf(w, " RHS %s %s\n", r.name, number(r.limit))
		}
	}
	w.WriteString("BOUNDS\n")
	for _, c := range p.columns {
		fmt.Fprintf(w, " UP BOUND %s %s\n", c.name, number(c.upper))
	}
	w.WriteString("ENDATA\n")
	return w.String()
}

func (p *Program) writeRows(w *strings.Builder) {
	// CBC takes lines that happen to fit for fixed format unless it is told.
	w.WriteString("NAME fleet FREE\n")
	w.WriteString("ROWS\n")
	w.WriteString(" N cost\n")
	for _, r := range p.rows {
		fmt.Fprintf(w, " %c %s\n", r.sense, r.name)
	}
}

func (p *Program) writeColumns(w *strings.Builder) {
	entries := make([][]string, len(p.columns))
	for _, r := range p.rows {
		for _, t := range r.terms {
			entries[t.column] = append(entries[t.column], r.name+" "+number(t.factor))
		}
	}
	w.WriteString("COLUMNS\n")
	integer := false
	for c := range p.columns {
		if p.columns[c].integer != integer {
			integer = p.columns[c].integer
			fmt.Fprintf(w, " MARK%d 'MARKER' '%s'\n", c, map[bool]string{true: "INTORG", false: "INTEND"}[integer])
		}
		fmt.Fprintf(w, " %s cost %s\n", p.columns[c].name, number(p.columns[c].cost))
		for _, e := range entries[c] {
			fmt.Fprintf(w, " %s %s\n", p.columns[c].name, e)
		}
	}
	if integer {
		w.WriteString(" MARKEND 'MARKER' 'INTEND'\n")
	}
}

// number writes all digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Names lists the columns in the order of the file.
func (p *Program) Names() []string {
	names := make([]string, len(p.columns))
	for c := range p.columns {
		names[c] = p.columns[c].name
	}
	return names
}
