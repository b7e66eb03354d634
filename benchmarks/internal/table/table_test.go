package table_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

func TestTablesKeepThirdPartyFiguresOffTheDocument(t *testing.T) {
	x := table.Table{Title: "Rows", Columns: table.Columns("row", "!measured", "error")}
	x.Add("1", "35.41", "+2.0")
	x.Add("long", "7", "-1.5")
	assert.Equal(t, "\nRows\n\nrow   measured  error\n1        35.41   +2.0\nlong         7   -1.5\n", x.Text())
	assert.Equal(t, "Rows:\n\n| row | error |\n|---|--:|\n| 1 | +2.0 |\n| long | -1.5 |\n", x.Markdown())
}

func TestColumnsAreAlignedByCharacters(t *testing.T) {
	x := table.Table{Columns: table.Columns("a", "b")}
	x.Add("γ±", "1")
	x.Add("xyz", "1")
	assert.Equal(t, "\n\n\na    b\nγ±   1\nxyz  1\n", x.Text())
}
