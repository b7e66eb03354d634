package handbook_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// The charts of docs/concepts.md show what the code computes, for chat of examples/mix.yaml.
func TestCharts(t *testing.T) {
	shape := queueing.Shape{InputTokens: 1155, OutputTokens: 211, InputSCV: 0.92, OutputSCV: 0.6, ArrivalSCV: 1}
	slo := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.8}, {Metric: queueing.ITL, Quantile: 0.95, Value: 0.05},
	}}
	station := func(r queueing.Replica) (*queueing.Station, queueing.Rate) {
		s, err := queueing.NewStation(r, shape)
		require.NoError(t, err)
		c, err := s.Capacity(slo)
		require.NoError(t, err)
		return s, c.Rate
	}
	h100, ofH100 := station(queueing.Replica{
		Profile: queueing.Profile{Alpha: 7.48e-3, Beta: 3.29e-5, Delta: 2.84e-5, Kappa: 4.3e-8, Epsilon: 9.64e-10, TTFTOffset: 0.014}, MaxBatch: 256, KVCacheTokens: 449000,
	})
	_, ofA100 := station(queueing.Replica{
		Profile: queueing.Profile{Alpha: 10.6e-3, Beta: 3.29e-5, Delta: 9.01e-5, Kappa: 7.06e-8, Epsilon: 3.06e-9, TTFTOffset: 0.014}, MaxBatch: 256, KVCacheTokens: 452000,
	})
	draw(t, "knee.svg", knee(h100, ofH100))
	draw(t, "mix.svg", mix(float64(ofH100), float64(ofA100)))
}

// draw compares a picture with its file, or writes it.
func draw(t *testing.T, name, picture string) {
	t.Helper()
	file := filepath.Join(root, "docs", "concepts", name)
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, os.WriteFile(file, []byte(picture), 0o600))
	}
	text, err := os.ReadFile(file) //nolint:gosec // a picture of ours
	require.NoError(t, err)
	assert.Equal(t, string(text), picture, "renew it with: UPDATE_SCRIPTS=1 go test ./internal/handbook -run Charts")
}

// knee shows how far latencies are towards their limits, over the rate of one replica.
func knee(s *queueing.Station, capacity queueing.Rate) string {
	c := chart{title: "One H100: latency over load", x: "requests per second", y: "95th percentile, as a share of its limit", right: 17, top: 2, stepX: 2, stepY: 0.5}
	var ttft, itl []float64
	for i := range 340 {
		p := s.Evaluate(queueing.Rate(float64(i) / 20))
		ttft = append(ttft, float64(p.TTFT.Quantile(0.95))/0.8)
		itl = append(itl, float64(p.ITL.Quantile(0.95))/0.05)
	}
	c.line("s0", "TTFT", 20, ttft)
	c.line("s1", "ITL", 20, itl)
	c.guide(float64(capacity), 1, fmt.Sprintf("capacity %.1f/s", capacity))
	return c.String()
}

// mix shows the price of the cheapest replicas for a demand: of one accelerator, and of both.
func mix(ofH100, ofA100 float64) string {
	c := chart{title: "What a demand costs per hour", x: "requests per second", y: "price per hour", right: 40, top: 20, stepX: 5, stepY: 5}
	cheapest := func(rate float64, mostH100, mostA100 int) float64 {
		best := math.Inf(1)
		for h := range mostH100 + 1 {
			rest := math.Max(0, rate-float64(h)*ofH100)
			if a := int(math.Ceil(rest / ofA100)); a <= mostA100 {
				best = math.Min(best, float64(h)*3.9+float64(a)*2.1)
			}
		}
		return best
	}
	var a100, h100, both []float64
	for i := range 400 {
		rate := float64(i+1) / 10
		a100, h100, both = append(a100, cheapest(rate, 0, 99)), append(h100, cheapest(rate, 99, 0)), append(both, cheapest(rate, 99, 99))
	}
	c.line("s3", "A100 alone", 10, a100)
	c.line("s1", "H100 alone", 10, h100)
	c.line("s0", "the cheapest mix", 10, both)
	return c.String()
}

// chart is a picture with lines.
type chart struct {
	title, x, y  string
	right, top   float64
	stepX, stepY float64
	lines        strings.Builder
	names        int
}

const (
	left, bottom, width, height = 56.0, 280.0, 560.0, 220.0
	style                       = `svg { font: 13px system-ui, sans-serif; --ground: #ffffff; --ink: #1f2328; --soft: #59636e; --grid: #d8dee4; --s0: #0969da; --s1: #bc4c00; --s3: #8250df; }
@media (prefers-color-scheme: dark) { svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9198a1; --grid: #30363d; --s0: #58a6ff; --s1: #ffa657; --s3: #d2a8ff; } }
.ground { fill: var(--ground); } text { fill: var(--ink); } .title { font-size: 16px; font-weight: 600; } .soft { fill: var(--soft); }
.grid { stroke: var(--grid); } .guide { stroke: var(--ink); stroke-dasharray: 5 4; } polyline { fill: none; stroke-width: 2; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); } .s3 { stroke: var(--s3); }`
)

func (c *chart) at(x, y float64) (px, py float64) {
	return left + width*x/c.right, bottom - height*math.Min(y, c.top)/c.top
}

// line draws values at equal distances of x, so many to one, up to the edge of the chart.
func (c *chart) line(class, name string, perUnit int, values []float64) {
	fmt.Fprintf(&c.lines, "<polyline class=%q points=\"", class)
	for i, v := range values {
		x, y := c.at(float64(i)/float64(perUnit), v)
		fmt.Fprintf(&c.lines, "%.1f,%.1f ", x, y)
		if v > c.top {
			break
		}
	}
	c.lines.WriteString("\"/>\n")
	x := left + 180*float64(c.names)
	c.names++
	fmt.Fprintf(&c.lines, "<path class=%q stroke-width=\"3\" d=\"M%.0f 46h22\"/><text x=\"%.0f\" y=\"50\">%s</text>\n", class, x, x+30, name)
}

// guide marks a point on both axes.
func (c *chart) guide(x, y float64, label string) {
	px, py := c.at(x, y)
	fmt.Fprintf(&c.lines, "<path class=\"guide\" d=\"M%.1f %.1fV%.0f M%.0f %.1fH%.0f\"/><text x=\"%.1f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n",
		px, bottom-height, bottom, left, py, left+width, px-6, bottom-10, label)
}

func (c *chart) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 330\" width=\"640\" height=\"330\" role=\"img\">\n<title>%s</title>\n<style>\n%s\n</style>\n", c.title, style)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"640\" height=\"330\"/>\n<text class=\"title\" x=\"%.0f\" y=\"24\">%s</text>\n", left, c.title)
	for x := 0.0; x <= c.right; x += c.stepX {
		px, _ := c.at(x, 0)
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%.1f %.0fV%.0f\"/><text class=\"soft\" x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%g</text>\n", px, bottom-height, bottom, px, bottom+18, x)
	}
	for y := 0.0; y <= c.top; y += c.stepY {
		_, py := c.at(0, y)
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/><text class=\"soft\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left, py, left+width, left-8, py+4, y)
	}
	fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", left+width/2, bottom+40, c.x)
	fmt.Fprintf(&b, "<text transform=\"translate(16 %.0f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n%s</svg>\n", bottom-height/2, c.y, c.lines.String())
	return b.String()
}
