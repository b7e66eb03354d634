package main

import "strings"

// study is what one comparison found.
type study struct {
	title   string
	targets []target
	// tables are always shown, details only when asked for.
	tables, details []table
}

// text returns the study for the terminal.
func (s *study) text(details bool) string {
	var b strings.Builder
	if details {
		for i := range s.details {
			b.WriteString(s.details[i].text())
		}
	}
	for i := range s.tables {
		b.WriteString(s.tables[i].text())
	}
	if len(s.targets) > 0 {
		t := targetTable(s.title+": targets", s.targets)
		b.WriteString(t.text())
	}
	return b.String()
}

// missed returns the names of the targets that were missed.
func (s *study) missed() []string {
	var names []string
	for _, t := range s.targets {
		if !t.met() {
			names = append(names, s.title+": "+t.name)
		}
	}
	return names
}
