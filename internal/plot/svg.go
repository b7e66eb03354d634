package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// The layout of the SVG, in pixels.
const (
	svgWidth, svgHeight = 960, 470
	panelTop            = 92
	panelBottom         = 400
	panelWidth          = 368
	leftPanel           = 84
	rightPanel          = 572
)

// mostTitles is the largest number of points that say what they are when pointed at.
const mostTitles = 5000

// style draws on whatever the reader's surface is: dark on light, or light on dark.
const style = `
  svg { font: 13px system-ui, sans-serif; --ground: #ffffff; --ink: #1f2328; --soft: #59636e; --grid: #d8dee4;
    --s0: #0969da; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9198a1; --grid: #30363d;
      --s0: #58a6ff; --s1: #ffa657; --s2: #56d364; --s3: #d2a8ff; }
  }
  .ground { fill: var(--ground); }
  text { fill: var(--ink); }
  .title { font-size: 17px; font-weight: 600; }
  .soft { fill: var(--soft); }
  .grid { stroke: var(--grid); stroke-width: 1; }
  .frame { fill: none; stroke: var(--soft); stroke-width: 1; }
  .right { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 4; }
  .point { fill-opacity: 0.55; stroke-width: 1; }
  .faint { fill-opacity: 0; stroke-opacity: 0.6; }
  .s0 { fill: var(--s0); stroke: var(--s0); } .s1 { fill: var(--s1); stroke: var(--s1); }
  .s2 { fill: var(--s2); stroke: var(--s2); } .s3 { fill: var(--s3); stroke: var(--s3); }
`

// SVG draws predictions over observations, and relative errors over observations, as
// one self-contained document that is readable on light and dark ground.
func (r Residuals) SVG() []byte {
	var b bytes.Buffer
	points := r.drawables()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%s">`,
		svgWidth, svgHeight, html.EscapeString(r.Title))
	fmt.Fprintf(&b, "\n<style>%s</style>\n", style)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", svgWidth, svgHeight)
	text(&b, leftPanel, 32, "title", "start", r.Title)
	text(&b, leftPanel, 54, "soft", "start", r.Subtitle)
	if len(points) == 0 {
		text(&b, svgWidth/2, svgHeight/2, "soft", "middle", "no points to draw")
	} else {
		r.panels(&b, points)
	}
	r.legend(&b, points)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func text(b *bytes.Buffer, x, y float64, class, anchor, content string) {
	fmt.Fprintf(b, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", class, x, y, anchor, html.EscapeString(content))
}

// panels draws both plots.
func (r *Residuals) panels(b *bytes.Buffer, points []Point) {
	var all, observed []float64
	for i := range points {
		all = append(all, points[i].Observed, points[i].Predicted)
		observed = append(observed, points[i].Observed)
	}
	left := panel{
		x: logAxis(all, leftPanel, leftPanel+panelWidth), y: logAxis(all, panelBottom, panelTop),
		yLabel: "predicted, " + r.Unit, yTick: tickLabel,
	}
	left.frame(b, "observed, "+r.Unit)
	fmt.Fprintf(b, "<line class=\"right\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", left.x.from, left.y.from, left.x.to, left.y.to)
	right := panel{
		x: logAxis(observed, rightPanel, rightPanel+panelWidth), y: errorAxis(points, panelBottom, panelTop),
		yLabel: "(predicted − observed) / observed", yTick: percentLabel,
	}
	right.frame(b, "observed, "+r.Unit)
	if n := right.y.beyond(points); n > 0 {
		text(b, right.x.to, panelTop-9, "soft", "end", fmt.Sprintf("%d beyond the edge", n))
	}
	zero := right.y.at(0)
	fmt.Fprintf(b, "<line class=\"right\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", right.x.from, zero, right.x.to, zero)
	titled := len(points) <= mostTitles
	for i := range points {
		p := &points[i]
		label := ""
		if titled {
			label = fmt.Sprintf("%s: observed %.4g %s, predicted %.4g %s, %s",
				p.Label, p.Observed, r.Unit, p.Predicted, r.Unit, percentLabel(round(p.relative())))
		}
		mark(b, p, left.x.at(p.Observed), left.y.at(p.Predicted), label)
		mark(b, p, right.x.at(p.Observed), right.y.at(p.relative()), label)
	}
}

// panel is one plot with its axes.
type panel struct {
	x, y   axis
	yLabel string
	yTick  func(float64) string
}

// frame draws grid, frame and labels.
func (p *panel) frame(b *bytes.Buffer, xLabel string) {
	for _, v := range p.x.ticks(7) {
		at := p.x.at(v)
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", at, panelTop, at, panelBottom)
		text(b, at, panelBottom+18, "soft", "middle", tickLabel(v))
	}
	for _, v := range p.y.ticks(10) {
		at := p.y.at(v)
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", p.x.from, at, p.x.to, at)
		text(b, p.x.from-7, at+4, "soft", "end", p.yTick(v))
	}
	fmt.Fprintf(b, "<rect class=\"frame\" x=\"%.1f\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", p.x.from, panelTop, panelWidth, panelBottom-panelTop)
	text(b, (p.x.from+p.x.to)/2, panelBottom+38, "", "middle", xLabel)
	text(b, p.x.from, panelTop-9, "", "start", p.yLabel)
}

// mark draws a point in the shape of its series.
func mark(b *bytes.Buffer, p *Point, x, y float64, label string) {
	class := fmt.Sprintf("point s%d", p.Series)
	if p.Faint {
		class += " faint"
	}
	const size = 3.6
	var shape, attributes string
	switch p.Series {
	case 0:
		shape, attributes = "circle", fmt.Sprintf("cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, size)
	case 1:
		shape, attributes = "path", fmt.Sprintf("d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"", x, y-1.2*size, 1.2*size, 2.1*size, -2.4*size)
	case 2:
		shape, attributes = "rect", fmt.Sprintf("x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%[3]v\"", x-size*0.9, y-size*0.9, math.Round(size*1.8))
	default:
		shape, attributes = "path", fmt.Sprintf("d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"", x, y-1.3*size, 1.3*size, 1.3*size, -1.3*size, 1.3*size, -1.3*size, -1.3*size)
	}
	if label == "" {
		fmt.Fprintf(b, "<%s class=\"%s\" %s/>\n", shape, class, attributes)
		return
	}
	fmt.Fprintf(b, "<%s class=\"%s\" %s><title>%s</title></%[1]s>\n", shape, class, attributes, html.EscapeString(label))
}

// legend names the series at the lower edge.
func (r *Residuals) legend(b *bytes.Buffer, points []Point) {
	counts := make([]int, len(r.Series))
	faints := 0
	for i := range points {
		counts[points[i].Series]++
		if points[i].Faint {
			faints++
		}
	}
	x := float64(leftPanel)
	item := func(series int, isFaint bool, name string) {
		mark(b, &Point{Series: series, Faint: isFaint}, x+4, svgHeight-16, "")
		text(b, x+14, svgHeight-11, "", "start", name)
		x += 40 + 7.2*float64(len([]rune(name)))
	}
	for i, name := range r.Series {
		if counts[i] > 0 {
			item(i, false, fmt.Sprintf("%s (%d)", name, counts[i]))
		}
	}
	if faints > 0 {
		item(0, true, fmt.Sprintf("hollow: not in the fit (%d)", faints))
	}
}
