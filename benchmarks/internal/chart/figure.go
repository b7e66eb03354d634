package chart

// Figure is a grid of panels with one legend.
type Figure struct {
	// Title says what is shown; it is also the text for those who can't see it.
	Title string
	// Columns is the number of panels beside each other, ≥ 1.
	Columns int
	Panels  []Panel
}

// Panel is a scatter plot.
type Panel struct {
	Title string
	X, Y  Axis
	// Diagonal draws the line y = x, Band the lines y = ±Band if it is positive.
	Diagonal bool
	Band     float64
	// Guide is drawn as a dashed line from point to point.
	Guide  []Point
	Series []Series
}

// Axis is one dimension of a panel. Points beyond its ends are drawn as triangles at
// the edge.
type Axis struct {
	Label string
	// Low < High; both positive if Log.
	Low, High float64
	Log       bool
}

// Series are points of one kind. Series of one name look the same in all panels.
type Series struct {
	Name   string
	Points []Point
}

// Point is one point. A Hollow one is drawn without filling, and counts less.
type Point struct {
	X, Y   float64
	Hollow bool
}

// names returns the names of all series, in the order of appearance.
func (f *Figure) names() []string {
	var names []string
	known := map[string]bool{}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if !known[s.Name] {
				known[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return names
}
