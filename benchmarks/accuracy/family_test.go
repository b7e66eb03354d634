package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// Of rows that our model made ours has no error, and the others have some.
func TestRivalsAreJudgedAlike(t *testing.T) {
	rows, err := readOpenLoop(writeOpenLoop(t, openLoopText(t)))
	require.NoError(t, err)
	all, err := rivals(rows)
	require.NoError(t, err)
	require.Len(t, all, 4)
	for i := range all {
		assert.Len(t, all[i].itl, len(usable(rows)))
		assert.Len(t, all[i].ttft, len(all[i].itl))
	}
	assert.Less(t, all[0].itl.quantile(1), 1e-3)
	assert.Less(t, all[0].ttft.quantile(1), 1e-2)
	for _, x := range all[1:] {
		assert.Greater(t, x.ttft.quantile(0.5), 1e-2, x.name)
	}
	for _, s := range rivalStandings("here", all) {
		assert.Equal(t, report.Ahead, s.Verdict, s.What)
	}
	assert.Len(t, rivalTable(all).Rows, 4)
}

func TestBestRivalIsNamed(t *testing.T) {
	all := []rival{
		{"ours", deviations{0.3}, deviations{0.1}}, {"a", deviations{0.2}, deviations{0.4}}, {"b", deviations{0.5}, deviations{0.2}},
	}
	s := rivalStandings("here", all)
	assert.Equal(t, report.Standing{What: "error of mean ITL, median, here", Against: "b, the best of its family", Figure: "10.0 % against 20.0 %", Verdict: report.Ahead}, s[0])
	assert.Equal(t, "a, the best of its family", s[2].Against)
	assert.Equal(t, report.Behind, s[2].Verdict)
}
