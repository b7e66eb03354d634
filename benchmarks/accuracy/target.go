package main

import "github.com/poolwright/poolwright/benchmarks/internal/table"

// target is a bound on an error.
type target struct {
	name     string
	measured float64
	bound    float64
}

// met tells whether the error is within its bound; one that could not be measured
// is not.
func (t target) met() bool { return t.measured <= t.bound }

// targetTable lists targets.
func targetTable(title string, targets []target) table.Table {
	t := table.Table{Title: title + ", %", Columns: table.Columns("error", "measured", "target", "met")}
	for _, x := range targets {
		met := "yes"
		if !x.met() {
			met = "**no**"
		}
		t.Add(x.name, percent(x.measured), "≤ "+percent(x.bound), met)
	}
	return t
}
