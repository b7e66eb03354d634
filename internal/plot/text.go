package plot

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// marks are the characters of the series, and of places that several share.
const (
	marks  = "o+x#"
	faint  = '·'
	shared = '*'
)

// labelWidth is the room for labels left of a plot of text.
const labelWidth = 9

// Text draws relative errors over observations with characters: within so many
// columns and lines, at least 40 and 9. It is empty without points.
func (r Residuals) Text(columns, lines int) string {
	points := r.drawables()
	if len(points) == 0 {
		return ""
	}
	columns, lines = max(columns, 40), max(lines, 9)
	width, height := columns-labelWidth-1, (lines-5)/2*2+1
	g := newGrid(width, height)
	observed := make([]float64, len(points))
	for i := range points {
		observed[i] = points[i].Observed
	}
	x := logAxis(observed, 0, float64(width-1))
	y := errorAxis(points, float64(height-1), 0)
	for i := range points {
		g.put(int(math.Round(x.at(observed[i]))), int(math.Round(y.at(points[i].relative()))), &points[i])
	}
	var b strings.Builder
	g.write(&b, y)
	r.writeLegend(&b, x, points, y.beyond(points))
	return b.String()
}

// grid is a plot of characters.
type grid struct {
	width, height int
	cells         []rune
}

func newGrid(width, height int) grid {
	g := grid{width, height, []rune(strings.Repeat(" ", width*height))}
	for i := range width {
		g.cells[height/2*width+i] = '─'
	}
	return g
}

func (g grid) put(column, line int, p *Point) {
	mark := rune(marks[p.Series])
	if p.Faint {
		mark = faint
	}
	cell := &g.cells[line*g.width+column]
	switch *cell {
	case ' ', '─', faint, mark:
		*cell = mark
	default:
		if !p.Faint {
			*cell = shared
		}
	}
}

func (g grid) write(b *strings.Builder, y axis) {
	for line := range g.height {
		label := ""
		switch line {
		case 0:
			label = percentLabel(round(y.high))
		case g.height / 2:
			label = "0 %"
		case g.height - 1:
			label = percentLabel(round(y.low))
		}
		row := strings.TrimRight(string(g.cells[line*g.width:(line+1)*g.width]), " ")
		fmt.Fprintf(b, "%*s │%s\n", labelWidth-1, label, row)
	}
}

// round keeps three digits of a share.
func round(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// writeLegend writes the lower axis and what the characters mean.
func (r *Residuals) writeLegend(b *strings.Builder, x axis, points []Point, beyond int) {
	width := int(x.to) + 1
	rule, labels := []rune(strings.Repeat("─", width)), []rune(strings.Repeat(" ", width))
	end := -1
	for _, v := range x.ticks(width / 10) {
		at, label := int(math.Round(x.at(v))), tickLabel(v)
		start := at - utf8.RuneCountInString(label)/2
		rule[at] = '┴'
		if start > end && start >= 0 && start+len(label) <= width {
			copy(labels[start:], []rune(label))
			end = start + len(label)
		}
	}
	fmt.Fprintf(b, "%*s└%s\n", labelWidth, "", string(rule))
	fmt.Fprintf(b, "%*s %s\n", labelWidth, "", strings.TrimRight(string(labels), " "))
	var parts []string
	used := make([]bool, len(marks))
	notCounted := false
	for i := range points {
		used[points[i].Series] = used[points[i].Series] || !points[i].Faint
		notCounted = notCounted || points[i].Faint
	}
	for i, name := range r.Series {
		if used[i] {
			parts = append(parts, fmt.Sprintf("%c %s", marks[i], name))
		}
	}
	if len(parts) > 1 {
		parts = append(parts, fmt.Sprintf("%c several", shared))
	}
	if notCounted {
		parts = append(parts, fmt.Sprintf("%c not in the fit", faint))
	}
	if beyond > 0 {
		parts = append(parts, fmt.Sprintf("%d beyond the edge", beyond))
	}
	fmt.Fprintf(b, "%*s observed, %s (logarithmic)\n", labelWidth, "", r.Unit)
	fmt.Fprintf(b, "%*s %s\n", labelWidth, "", strings.Join(parts, "   "))
}
