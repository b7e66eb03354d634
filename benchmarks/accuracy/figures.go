package main

import (
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
)

// seriesPoint is a point of a series in figures; hollow ones are not judged.
type seriesPoint struct {
	series string
	*point
	hollow bool
}

// errorFigure draws errors by load, one panel per metric. Errors beyond ±most per cent
// are at the edge; band is the half-width of the guides.
func errorFigure(title string, points []seriesPoint, names []string, most, band float64) chart.Figure {
	f := chart.Figure{Title: title, Columns: 2}
	for _, m := range metrics() {
		for _, name := range names {
			if m.name != name {
				continue
			}
			f.Panels = append(f.Panels, chart.Panel{
				Title: name, Band: band,
				X:      chart.Axis{Label: "load, share of saturation", Low: 0, High: 1.25},
				Y:      chart.Axis{Label: "error, %", Low: -most, High: most},
				Series: bySeries(points, func(p *point) (x, y float64) { return p.load, 100 * m.error(p) }),
			})
		}
	}
	return f
}

// scatterFigure draws predicted over observed latencies in milliseconds, by what of a
// point they are.
func scatterFigure(title string, points []seriesPoint, latencies []pairedLatency) chart.Figure {
	f := chart.Figure{Title: title, Columns: 2}
	for _, l := range latencies {
		low, high := math.Inf(1), 0.0
		for _, p := range points {
			if observed, _ := l.pair(p.point); observed > 0 {
				low, high = min(low, 1e3*observed), max(high, 1e3*observed)
			}
		}
		axis := chart.Axis{Low: low / 1.5, High: high * 1.5, Log: true}
		x, y := axis, axis
		x.Label, y.Label = "observed, ms", "predicted, ms"
		f.Panels = append(f.Panels, chart.Panel{
			Title: l.name, X: x, Y: y, Diagonal: true,
			Series: bySeries(points, func(p *point) (float64, float64) {
				observed, predicted := l.pair(p)
				if observed == 0 {
					return math.NaN(), math.NaN()
				}
				return 1e3 * observed, 1e3 * predicted
			}),
		})
	}
	return f
}

// pairedLatency is a latency that is observed and predicted, in seconds.
type pairedLatency struct {
	name string
	pair func(*point) (observed, predicted float64)
}

func pairedLatencies() []pairedLatency {
	return []pairedLatency{
		{meanITL, func(p *point) (float64, float64) { return p.itl.mean, float64(p.predicted.ITL.Mean()) }},
		{meanTTFT, func(p *point) (float64, float64) { return p.ttft.mean, float64(p.predicted.TTFT.Mean()) }},
		{p95TTFT, func(p *point) (float64, float64) { return p.ttft.p95, float64(p.predicted.TTFT.Quantile(0.95)) }},
		{"E2E p99", func(p *point) (float64, float64) { return p.e2e.p99, float64(p.predicted.E2E.Quantile(0.99)) }},
	}
}

// bySeries groups points by series, in the order of appearance.
func bySeries(points []seriesPoint, at func(*point) (x, y float64)) []chart.Series {
	var all []chart.Series
	index := map[string]int{}
	for _, p := range points {
		i, ok := index[p.series]
		if !ok {
			i = len(all)
			index[p.series] = i
			all = append(all, chart.Series{Name: p.series})
		}
		x, y := at(p.point)
		all[i].Points = append(all[i].Points, chart.Point{X: x, Y: y, Hollow: p.hollow})
	}
	return all
}
