package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTablesKeepThirdPartyFiguresOffTheDocument(t *testing.T) {
	x := table{title: "Rows", columns: columns("row", "!measured", "error")}
	x.add("1", "35.41", "+2.0")
	x.add("long", "7", "-1.5")
	assert.Equal(t, "\nRows\n\nrow   measured  error\n1        35.41   +2.0\nlong         7   -1.5\n", x.text())
	assert.Equal(t, "Rows:\n\n| row | error |\n|---|--:|\n| 1 | +2.0 |\n| long | -1.5 |\n", x.markdown())
}

func TestColumnsAreAlignedByCharacters(t *testing.T) {
	x := table{columns: columns("a", "b")}
	x.add("γ±", "1")
	x.add("xyz", "1")
	assert.Equal(t, "\n\n\na    b\nγ±   1\nxyz  1\n", x.text())
}
