package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/plot"
)

// residuals lie on a line of errors from −10 % to +10 %.
func residuals() plot.Residuals {
	r := plot.Residuals{Title: "Errors <of> \"a\" & b", Subtitle: "12 points", Unit: "ms", Series: []string{"ITL", "TTFT"}}
	for i := range 12 {
		observed := 10 * math.Pow(1.5, float64(i))
		r.Points = append(r.Points, plot.Point{
			Series: i % 2, Observed: observed, Predicted: observed * (0.9 + 0.2*float64(i)/11),
			Faint: i == 5, Label: "sample <" + string(rune('a'+i)) + ">",
		})
	}
	return r
}

func TestTextPutsPointsWhereTheyBelong(t *testing.T) {
	text := residuals().Text(80, 17)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 17)
	for _, line := range lines {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		assert.Equal(t, strings.TrimRight(line, " "), line)
	}
	assert.Contains(t, lines[0], "+11 %")
	middle := lines[(len(lines)-4)/2]
	assert.Contains(t, middle, "0 %")
	marks, _, _ := strings.Cut(text, "└")
	assert.Equal(t, 5, strings.Count(marks, "+")-1, "TTFT beside the sign of the label, without the faint one")
	assert.Equal(t, 6, strings.Count(marks, "o"))
	assert.Equal(t, 1, strings.Count(marks, "·"))
	assert.Contains(t, text, "observed, ms (logarithmic)")
	// The error grows with the observation: the first point is low, the last one high.
	assert.Greater(t, lineOf(lines, 'o', true), lineOf(lines, '+', false))
}

// lineOf is the number of the last or first line with a mark right of the axis.
func lineOf(lines []string, mark rune, last bool) int {
	found := -1
	for i, line := range lines {
		_, cells, ok := strings.Cut(line, "│")
		if ok && strings.ContainsRune(cells, mark) && (last || found < 0) {
			found = i
		}
	}
	return found
}

func TestSVGIsWellFormed(t *testing.T) {
	svg := residuals().SVG()
	points, titles := 0, 0
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "title" {
			titles++
		}
		for _, a := range start.Attr {
			if a.Name.Local == "class" && strings.HasPrefix(a.Value, "point") {
				points++
			}
			assert.NotContains(t, a.Value, "NaN")
			assert.NotContains(t, a.Value, "Inf")
		}
	}
	assert.Equal(t, 24, titles, "every point says in both panels what it is")
	assert.Equal(t, 24+3, points, "both panels and the legend")
	assert.Contains(t, string(svg), "prefers-color-scheme: dark")
	assert.Contains(t, string(svg), "sample &lt;a&gt;: observed 10 ms, predicted 9 ms, -10 %")
	assert.NotContains(t, string(svg), "http://www.w3.org/1999/xlink", "nothing is loaded from elsewhere")
}

func TestPointsWithoutPlaceAreLeftOut(t *testing.T) {
	r := plot.Residuals{Unit: "ms", Series: []string{"ITL"}}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		r.Points = append(r.Points, plot.Point{Observed: v, Predicted: 1}, plot.Point{Observed: 1, Predicted: v})
	}
	r.Points = append(r.Points, plot.Point{Series: 1, Observed: 1, Predicted: 1}, plot.Point{Series: -1, Observed: 1, Predicted: 1})
	assert.Empty(t, r.Text(80, 15))
	assert.Contains(t, string(r.SVG()), "no points to draw")
}

func TestOnePoint(t *testing.T) {
	r := plot.Residuals{Unit: "ms", Series: []string{"ITL"}, Points: []plot.Point{{Observed: 12, Predicted: 12}}}
	assert.Contains(t, r.Text(80, 15), "o")
	assert.NotContains(t, string(r.SVG()), "NaN")
}

// One error of 1000 % among small ones lies at the edge and leaves the others apart.
func TestErrorsFarBeyondLieAtTheEdge(t *testing.T) {
	r := plot.Residuals{Unit: "ms", Series: []string{"ITL"}}
	for i := range 20 {
		r.Points = append(r.Points, plot.Point{Observed: float64(10 + i), Predicted: float64(10+i) * (1 + 0.005*float64(i-10))})
	}
	r.Points = append(r.Points, plot.Point{Observed: 50, Predicted: 550})
	text := r.Text(80, 25)
	assert.Contains(t, text, "1 beyond the edge")
	lines := strings.Split(text, "\n")
	assert.Contains(t, lines[0], "o")
	assert.Greater(t, lineOf(lines, 'o', true)-lineOf(lines[1:], 'o', false), 3)
	assert.Contains(t, string(r.SVG()), "1 beyond the edge")
}

// Any range of values has some labels, and not too many.
func TestAxisHasLabels(t *testing.T) {
	for _, high := range []float64{10.001, 10.5, 12, 30, 90, 1e3, 1e5, 1e9} {
		r := plot.Residuals{Unit: "ms", Series: []string{"ITL"}, Points: []plot.Point{
			{Observed: 10, Predicted: 10}, {Observed: high, Predicted: high},
		}}
		svg := string(r.SVG())
		ticks := strings.Count(svg, `text-anchor="middle"`) - 2
		assert.GreaterOrEqual(t, ticks, 2, "%g", high)
		assert.LessOrEqual(t, ticks, 22, "%g", high)
	}
}
