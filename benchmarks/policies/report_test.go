package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

func TestReportSaysWhoIsCheaper(t *testing.T) {
	d := &day{name: "day", kinds: []kind{
		{name: "poolwright", settings: []outcome{made("poolwright", 1.2, 0.995, 0.999)}},
		{name: "hpa", settings: []outcome{made("cheap", 1, 0.99, 1)}},
		{name: "static", settings: []outcome{made("static", 1.1, 0.9, 1)}},
		{name: "clairvoyant", settings: []outcome{made("clairvoyant", 1, 0.9, 0.9)}},
	}}
	p := &page{days: []*day{d}}
	r := p.report()
	assert.Len(t, r.Targets, 3)
	assert.Len(t, r.Tables, 1)
	assert.Equal(t, []string{"nobody attains as much", string(report.Ahead)}, []string{r.Standings[0].Figure, string(r.Standings[0].Verdict)})

	d.kinds[2].settings = append(d.kinds[2].settings, made("full", 2.4, 1, 1))
	assert.Equal(t, "2.000 (full)", p.report().Standings[0].Figure)
	d.kinds[1].settings = append(d.kinds[1].settings, made("as good", 1.14, 0.995, 1))
	s := p.report().Standings[0]
	assert.Equal(t, "0.950 (as good)", s.Figure)
	assert.Equal(t, report.Behind, s.Verdict)
}
