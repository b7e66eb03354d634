package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-data", "x", "-only", "oracle,grids", "-half", "tuning", "-v"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, options{Places: o.Places, only: []string{"oracle", "grids"}, half: "tuning", details: true}, o)
	assert.Equal(t, "x", o.Data)
	for _, args := range [][]string{
		{"-only", "nothing"}, {"-half", "both"}, {"-docs", "docs", "-quick"}, {"-docs", "docs", "-half", "tuning"}, {"-nothing"},
	} {
		_, err := parse(args, io.Discard)
		assert.Error(t, err, args)
	}
}

func TestWithoutThirdPartyDataStudiesAreLeftOut(t *testing.T) {
	var b strings.Builder
	docs := t.TempDir()
	err := run(options{Places: command.Places{Data: filepath.Join(docs, "none"), Docs: docs}, only: []string{"open-loop"}}, &b)
	require.NoError(t, err)
	assert.Contains(t, b.String(), "open-loop: left out")
	files, err := os.ReadDir(docs)
	require.NoError(t, err)
	assert.Empty(t, files, "an incomplete document is not written")
}

func TestMissedTargetsAreListed(t *testing.T) {
	var b strings.Builder
	err := verdict(&b, []*study{{title: "A", targets: []target{{"x", 0.01, 0.02}, {"y", 0.03, 0.02}}}})
	require.ErrorIs(t, err, command.ErrMissed)
	assert.Equal(t, "\nMissed:\n- A: y: 3.0 %, wanted ≤ 2.0 %\n", b.String())
	assert.NoError(t, verdict(&b, []*study{{targets: []target{{"x", 0.01, 0.02}}}}))
}

func TestDocumentShowsStudies(t *testing.T) {
	docs := t.TempDir()
	s := &study{
		title: "Title", about: "About.", targets: []target{{"x", 0.01, 0.02}},
		figures:  []namedFigure{{"dots", chart.Figure{Title: "Dots", Columns: 1}}},
		tables:   []table.Table{{Title: "Short", Columns: table.Columns("a", "!hidden"), Rows: [][]string{{"1", "secret"}}}},
		listings: []table.Table{{Title: "Long", Columns: table.Columns("b"), Rows: [][]string{{"2"}}}},
		details:  []table.Table{{Title: "Screen", Columns: table.Columns("c"), Rows: [][]string{{"3"}}}},
	}
	require.NoError(t, writeDocument(docs, []*study{s}))
	text, err := os.ReadFile(filepath.Clean(filepath.Join(docs, "accuracy.md")))
	require.NoError(t, err)
	for _, want := range []string{"## Title\n\nAbout.", "| x | 1.0 | ≤ 2.0 | yes |", "![Dots](accuracy/dots.svg)", "Short:", "Long:"} {
		assert.Contains(t, string(text), want)
	}
	for _, unwanted := range []string{"Screen", "secret", "hidden"} {
		assert.NotContains(t, string(text), unwanted)
	}
	assert.FileExists(t, filepath.Join(docs, "accuracy", "dots.svg"))
	assert.Contains(t, s.text(true), "secret")
	assert.NotContains(t, s.text(false), "Long")
}
