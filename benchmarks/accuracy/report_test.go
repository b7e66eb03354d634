package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

func TestReportHasTargetsOfAllStudies(t *testing.T) {
	r := newReport([]*study{
		{title: "A", targets: []target{{"x", 0.01, 0.02}}, standings: []report.Standing{{What: "w"}}},
		{title: "B", targets: []target{{"y", 0.03, 0.02}}},
	})
	assert.Equal(t, []report.Target{
		{Name: "A: x", Wanted: "≤ 2 %", Measured: "1 %", Met: true}, {Name: "B: y", Wanted: "≤ 2 %", Measured: "3 %"},
	}, r.Targets)
	assert.Len(t, r.Standings, 1)
}
