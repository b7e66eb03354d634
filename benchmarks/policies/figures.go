package main

import (
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
)

// drawn is a figure and its file.
type drawn struct {
	file   string
	figure chart.Figure
}

func (p *page) figures() []drawn {
	return []drawn{{"settings.svg", p.settingsFigure()}, {"replicas.svg", p.replicasFigure()}}
}

// settingsFigure shows cost and what is missed of every setting, of the first seed. The guide
// is the corner of the targets.
func (p *page) settingsFigure() chart.Figure {
	f := chart.Figure{Title: "Cost and requests beyond the SLO, every setting with the first seed", Columns: 2}
	const leastMissed = 1e-4
	for _, d := range p.days {
		panel := chart.Panel{
			Title: d.name,
			X:     chart.Axis{Label: "cost, of the bound's", Low: 0.8, High: 8, Log: true},
			Y:     chart.Axis{Label: "beyond the SLO", Low: leastMissed, High: 1, Log: true},
			Guide: []chart.Point{{X: dayCost, Y: leastMissed}, {X: dayCost, Y: 1 - objective}, {X: 0.8, Y: 1 - objective}},
		}
		for _, k := range d.kinds {
			s := chart.Series{Name: k.name}
			settings := k.tried
			if settings == nil {
				settings = k.settings
			}
			for i := range settings {
				o := &settings[i]
				s.Points = append(s.Points, chart.Point{X: o.cost(), Y: max(leastMissed, 1-o.attainment())})
			}
			panel.Series = append(panel.Series, s)
		}
		f.Panels = append(f.Panels, panel)
	}
	return f
}

// replicasFigure shows devices over time.
func (p *page) replicasFigure() chart.Figure {
	f := chart.Figure{Title: "Devices that are paid, over time, with the first seed", Columns: 2}
	for _, d := range p.days {
		panel := chart.Panel{Title: d.name, X: chart.Axis{Label: "hours"}, Y: chart.Axis{Label: "devices"}}
		for _, o := range []struct {
			name string
			of   *outcome
		}{{"clairvoyant", d.clairvoyant()}, {"poolwright", d.ours()}} {
			s := chart.Series{Name: o.name}
			for t, n := range devices(o.of) {
				hours := float64(t) * d.result.GetWindow().AsDuration().Hours()
				s.Points = append(s.Points, chart.Point{X: hours, Y: n})
				panel.X.High, panel.Y.High = max(panel.X.High, hours), max(panel.Y.High, n*1.05)
			}
			panel.Series = append(panel.Series, thinned(s))
		}
		f.Panels = append(f.Panels, panel)
	}
	return f
}

// devices are those that are paid in each window.
func devices(o *outcome) []float64 {
	var sum []float64
	for _, s := range o.result.GetReplicas() {
		if sum == nil {
			sum = make([]float64, len(s.GetPaid()))
		}
		for t, n := range s.GetPaid() {
			sum[t] += n * float64(s.GetDevicesPerReplica())
		}
	}
	return sum
}

// thinned keeps as many points as can be told apart.
func thinned(s chart.Series) chart.Series {
	const most = 288
	step := (len(s.Points) + most - 1) / most
	var kept []chart.Point
	for part := range slices.Chunk(s.Points, max(1, step)) {
		kept = append(kept, part[0])
	}
	s.Points = kept
	return s
}
