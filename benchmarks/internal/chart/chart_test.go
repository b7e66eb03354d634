package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
)

func figure(points ...chart.Point) chart.Figure {
	return chart.Figure{
		Title:   `ITL < "TTFT" & more`,
		Columns: 2,
		Panels: []chart.Panel{{
			Title: "linear", X: chart.Axis{Label: "load", Low: 0, High: 1}, Y: chart.Axis{Label: "%", Low: -50, High: 50},
			Band: 10, Series: []chart.Series{{Name: "a", Points: points}},
		}, {
			Title: "logarithmic", X: chart.Axis{Low: 1, High: 1e4, Log: true}, Y: chart.Axis{Low: 1, High: 1e4, Log: true},
			Diagonal: true, Series: []chart.Series{{Name: "b", Points: []chart.Point{{X: 10, Y: 10}}}},
		}},
	}
}

// attributes returns the values of an attribute over all elements of a name.
func attributes(t *testing.T, svg, element, attribute string) []string {
	t.Helper()
	var values []string
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return values
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != element {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local == attribute {
				values = append(values, a.Value)
			}
		}
	}
}

func TestPointsLieWhereTheirValuesSay(t *testing.T) {
	f := figure(chart.Point{X: 0, Y: -50}, chart.Point{X: 1, Y: 50}, chart.Point{X: 0.5, Y: 0, Hollow: true})
	svg := f.SVG()
	// Two marks of the legend come first, a point of the other panel last.
	assert.Equal(t, []string{"62.0", "358.0", "210.0", "136.0"}, attributes(t, svg, "circle", "cx")[2:])
	assert.Equal(t, []string{"222.0", "34.0", "128.0", "175.0"}, attributes(t, svg, "circle", "cy")[2:])
	assert.Equal(t, []string{"p c0", "p c0", "h c0", "p c1"}, attributes(t, svg, "circle", "class")[2:])
}

func TestValuesBeyondTheAxisPointOutward(t *testing.T) {
	f := figure(chart.Point{X: 0.5, Y: math.Inf(1)}, chart.Point{X: 0.5, Y: -80}, chart.Point{X: 0.5, Y: math.NaN()})
	svg := f.SVG()
	assert.Contains(t, svg, "M210.0 28.9L206.8 34.0H213.2Z", "upwards from the upper edge")
	assert.Contains(t, svg, "M210.0 227.1L206.8 222.0H213.2Z", "downwards from the lower edge")
	assert.Len(t, attributes(t, svg, "circle", "cx"), 3, "two marks of the legend and one point")
	assert.NotContains(t, svg, "NaN")
	assert.NotContains(t, svg, "Inf")
}

func TestGuidesAreDashedLines(t *testing.T) {
	f := figure()
	f.Panels[0].Guide = []chart.Point{{X: 0, Y: -50}, {X: 0.5, Y: 0}, {X: 1, Y: 50}}
	svg := f.SVG()
	assert.Contains(t, svg, `class="guide" d="M62.0 222.0L210.0 128.0"`)
	assert.Contains(t, svg, `class="guide" d="M210.0 128.0L358.0 34.0"`)
}

func TestAxesHaveRoundTicks(t *testing.T) {
	f := figure()
	svg := f.SVG()
	for _, tick := range []string{">0.2<", ">1<", ">-40<", ">40<", ">10<", ">1000<", ">1e4<", ">0<"} {
		assert.Contains(t, svg, tick)
	}
	assert.NotContains(t, svg, ">-0<")
	assert.Contains(t, svg, "ITL &lt; &#34;TTFT&#34; &amp; more")
}
