package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/web"
)

// HTML writes a page with tables and interactive charts of a result. It opens from disk and
// holds the result as JSON, with six significant digits in what is drawn over time.
func HTML(w io.Writer, result *poolwrightv1.SimulationResult) error {
	text, err := document.MarshalJSON(drawn(result))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var data bytes.Buffer
	if err := json.Compact(&data, text); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	title := result.GetName()
	if title == "" {
		title = "Simulation"
	}
	return web.Report(w, title, data.Bytes())
}

// drawn returns the result with series of no more digits than a chart shows: they are nearly all
// of a page.
func drawn(result *poolwrightv1.SimulationResult) *poolwrightv1.SimulationResult {
	out := proto.CloneOf(result)
	for _, d := range out.GetDemand() {
		round(d.GetArrivalRate())
	}
	for _, a := range out.GetAutoscalers() {
		round(a.GetCostPerHour())
		for _, r := range a.GetReplicas() {
			round(r.GetServing())
			round(r.GetPaid())
		}
		for _, l := range a.GetLatencies() {
			round(l.GetTtftMean())
			round(l.GetTtftP95())
			round(l.GetItlMean())
			round(l.GetAttainment())
		}
	}
	return out
}

const digits = 6

func round(values []float64) {
	for i, v := range values {
		text := strconv.AppendFloat(nil, v, 'g', digits, 64)
		values[i], _ = strconv.ParseFloat(string(text), 64) // it was a number
	}
}
