package main

import "io"

// study is what one comparison found.
type study struct {
	title   string
	targets []target
	// tables are always shown, details only when asked for.
	tables, details []table
}

// text writes the study for the terminal.
func (s *study) text(w io.Writer, details bool) {
	if details {
		for i := range s.details {
			s.details[i].text(w)
		}
	}
	for i := range s.tables {
		s.tables[i].text(w)
	}
	t := targetTable(s.title+": targets", s.targets)
	t.text(w)
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
