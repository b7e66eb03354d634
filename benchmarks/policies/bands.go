package main

import (
	"context"
	"fmt"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/whatif"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/sweep"
)

// quantiles are the upper ends of the forecast's band that are tried; "" is the default.
var quantiles = []string{"0.5", "0.75", "", "0.95"}

// band is Poolwright with one of them.
type band struct {
	quantile string
	outcome
}

// bands shows what Poolwright's headroom costs, and what it buys.
func bands(ctx context.Context, m *poolwrightv1.Simulation, open message.Opener) ([]band, error) {
	m.Autoscalers = []*poolwrightv1.Autoscaler{message.OfAutoscaler(autoscaler.Poolwright{})}
	var all []band
	for _, q := range quantiles {
		var varied []sweep.Dimension
		if q != "" {
			varied = []sweep.Dimension{{Path: "fleet.control.forecast.quantile", Values: []string{q}}}
		}
		points, err := sweep.New(m, varied)
		if err != nil {
			return nil, err
		}
		at, err := points.At(0)
		if err != nil {
			return nil, err
		}
		r, err := whatif.Run(ctx, at, whatif.Config{Open: open})
		if err != nil {
			return nil, err
		}
		a := r.GetAutoscalers()[0]
		all = append(all, band{q, outcome{a.GetName(), a}})
	}
	return all, nil
}

// bandTable has a row for each quantile and day.
func (p *page) bandTable() table.Table {
	t := table.Table{
		Title:   "Headroom: the quantile of demand that Poolwright plans for",
		Columns: table.Columns("scenario", "quantile", "attained", "cost, of the clairvoyant's", "changes"),
	}
	for _, d := range p.days {
		for i := range d.bands {
			b := &d.bands[i]
			q := b.quantile
			if q == "" {
				q = "the default"
			}
			t.Add(d.name, q, percent(b.attainment()), ratio(b.cost()/d.clairvoyant().cost()), fmt.Sprintf("%.0f", b.result.GetScaleEvents().GetMean()))
		}
	}
	return t
}
