package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes in pixels.
const (
	panelWidth, panelHeight = 380, 270
	left, right             = 62, 22
	top, bottom             = 34, 48
	legendHeight            = 34
	radius                  = 3.2
)

// style draws in colours that can be told apart with any eyes: M. Okabe and K. Ito,
// "Color Universal Design" (2008), on light and dark pages alike.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.page { fill: #ffffff; }
.frame { fill: none; stroke: #8c959f; }
.grid { stroke: #8c959f; stroke-opacity: .25; }
.guide { stroke: #57606a; stroke-dasharray: 4 3; fill: none; }
.p { fill-opacity: .75; stroke-width: 1; }
.h { fill-opacity: 0; stroke-width: 1; stroke-opacity: .7; }
.c0 { fill: #0072b2; stroke: #0072b2; } .c1 { fill: #d55e00; stroke: #d55e00; }
.c2 { fill: #009e73; stroke: #009e73; } .c3 { fill: #cc79a7; stroke: #cc79a7; }
.c4 { fill: #b58900; stroke: #b58900; } .c5 { fill: #56b4e9; stroke: #56b4e9; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .page { fill: #0d1117; } .guide { stroke: #9198a1; }
.c0 { fill: #4aa8e0; stroke: #4aa8e0; }
}
</style>
`

// colours is the number of classes c0, c1 … of style.
const colours = 6

// SVG returns the figure as a document of its own.
func (f *Figure) SVG() string {
	rows := (len(f.Panels) + f.Columns - 1) / f.Columns
	width, height := f.Columns*panelWidth, rows*panelHeight+2*legendHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", html.EscapeString(f.Title), style)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="12" y="22">%s</text>`+"\n", html.EscapeString(f.Title))
	colour := map[string]int{}
	names := f.names()
	for i, name := range names {
		colour[name] = i % colours
		x := 18 + i*(width-18)/len(names)
		b.WriteString(mark(float64(x), legendHeight+10, 0, fmt.Sprintf("p c%d", colour[name])))
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x+10, legendHeight+14, html.EscapeString(name))
	}
	for i := range f.Panels {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n",
			i%f.Columns*panelWidth, i/f.Columns*panelHeight+2*legendHeight)
		f.Panels[i].draw(&b, colour)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw writes a panel with its upper left corner at the origin.
func (p *Panel) draw(b *strings.Builder, colour map[string]int) {
	fmt.Fprintf(b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", left, top-12, html.EscapeString(p.Title))
	p.drawAxes(b)
	p.drawGuides(b)
	for _, s := range p.Series {
		for _, point := range s.Points {
			if math.IsNaN(point.X) || math.IsNaN(point.Y) {
				continue
			}
			x, _ := p.X.place(point.X)
			y, beyond := p.Y.place(point.Y)
			class := "p"
			if point.Hollow {
				class = "h"
			}
			b.WriteString(mark(across(x), down(y), beyond, fmt.Sprintf("%s c%d", class, colour[s.Name])))
		}
	}
}

// across and down turn shares of an axis into pixels.
func across(share float64) float64 { return left + share*(panelWidth-left-right) }
func down(share float64) float64   { return panelHeight - bottom - share*(panelHeight-top-bottom) }

func (p *Panel) drawAxes(b *strings.Builder) {
	for _, v := range p.X.ticks() {
		share, _ := p.X.place(v)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			across(share), top, panelHeight-bottom, across(share), panelHeight-bottom+16, label(v))
	}
	for _, v := range p.Y.ticks() {
		share, _ := p.Y.place(v)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, down(share), panelWidth-right, left-6, down(share)+4, label(v))
	}
	fmt.Fprintf(b, `<rect class="frame" x="%d" y="%d" width="%d" height="%d"/>`+"\n",
		left, top, panelWidth-left-right, panelHeight-top-bottom)
	fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
		across(0.5), panelHeight-10, html.EscapeString(p.X.Label))
	fmt.Fprintf(b, `<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		down(0.5), html.EscapeString(p.Y.Label))
}

func (p *Panel) drawGuides(b *strings.Builder) {
	for i := 1; i < len(p.Guide); i++ {
		p.line(b, p.Guide[i-1], p.Guide[i])
	}
	if p.Diagonal {
		low, high := max(p.X.Low, p.Y.Low), min(p.X.High, p.Y.High)
		p.line(b, Point{X: low, Y: low}, Point{X: high, Y: high})
	}
	if p.Band > 0 {
		for _, y := range []float64{-p.Band, p.Band} {
			p.line(b, Point{X: p.X.Low, Y: y}, Point{X: p.X.High, Y: y})
		}
	}
}

func (p *Panel) line(b *strings.Builder, from, to Point) {
	x0, _ := p.X.place(from.X)
	y0, _ := p.Y.place(from.Y)
	x1, _ := p.X.place(to.X)
	y1, _ := p.Y.place(to.Y)
	fmt.Fprintf(b, `<path class="guide" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", across(x0), down(y0), across(x1), down(y1))
}

// mark returns a dot, or a triangle that points to where the value lies beyond.
func mark(x, y float64, beyond int, class string) string {
	if beyond == 0 {
		return fmt.Sprintf(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"/>`+"\n", class, x, y, radius)
	}
	tip := y - float64(beyond)*1.6*radius
	return fmt.Sprintf(`<path class="%s" d="M%.1f %.1fL%.1f %.1fH%.1fZ"/>`+"\n", class, x, tip, x-radius, y, x+radius)
}
