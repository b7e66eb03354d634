package main

import (
	"fmt"
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// judged is the number of workloads by which the service is judged, of one client; mostOverhead
// is the most that it may add.
const (
	judged       = 20
	mostOverhead = 1.5
)

const about = "Calls of `poolwright serve`, built in pure Go, on this machine, by ghz (gRPC) and hey (REST) in processes of their own, with a connection for each " +
	`client; every client asks again once it is answered. Fleets have three variants for each workload, with profiles and an SLO. Beside the service, in
turn, %d times, the same load goes to two servers that answer with what the service has answered, and have nothing behind them: *bytes* neither decodes nor
encodes, *messages* does both by the usual libraries, over REST by grpc-gateway. Overhead is the median latency of the service, less the median time of
what it computes (planned in this process, with nothing else running), over that of such a server; 1 is no overhead at all. It is told
for a single client, because what is computed by many at once shares the processors. Everything but planning counts as overhead: finding out who asks, holding calls to
limits, checking and translating messages, what memory is collected while it answers, and that caches are colder and processors sleep deeper after planning than after
nothing.

` + "```sh" + `
ghz --insecure --protoset schema.protoset --call poolwright.v1.OptimizerService.Optimize -B request.pb -n CALLS -c CLIENTS --connections CLIENTS -t 60s -O json ADDRESS
hey -n CALLS -c CLIENTS -t 60 -m POST -T application/json -D request.json -o '{{ jsonify . }}' http://ADDRESS/v1/optimize
` + "```"

// newReport returns what was found.
func newReport(cells []*cell, o options) *report.Report {
	r := &report.Report{
		Title: "Service", About: fmt.Sprintf(about, o.repeats), Versions: versions(),
		Tables: []table.Table{overheadTable(cells), latencyTable(cells)},
	}
	for _, c := range cells {
		if c.clients > 1 {
			continue
		}
		for _, x := range c.beside() {
			ratio := c.overhead(x.of)
			what := fmt.Sprintf("overhead of %s over %s, %d workloads, over an echo of %s", c.payload.method, c.way, c.payload.workloads, x.name)
			if c.payload.workloads == judged {
				r.Ratios = append(r.Ratios, report.Ratio{Name: what + ", inverse", Value: 1 / math.Max(c.undisturbed(x.of), 0.01)})
			}
			if c.payload.workloads == judged && c.payload.method == optimize {
				if x.judged {
					r.Targets = append(r.Targets, report.AtMost(what, ratio.Median, mostOverhead, ""))
				}
				r.Standings = append(r.Standings, report.Standing{
					What: what, Against: "a server with nothing behind it", Figure: ratio.Text(" ×"),
					Verdict: report.JudgeInterval(ratio.Inverse()),
				})
			}
		}
	}
	f := latencyFigure(cells)
	r.Figures = []report.Figure{report.Draw("service", &f)}
	return r
}

// echoed are the latencies of one kind of server without a service.
type echoed struct {
	name string
	of   []*latencies
	// judged tells whether the overhead over it has a target.
	judged bool
}

// beside judges what is beyond the decoding and encoding that every service does.
func (c *cell) beside() []echoed {
	return []echoed{{"messages", c.messages, true}, {"bytes", c.bytes, false}}
}

func overheadTable(cells []*cell) table.Table {
	t := table.Table{Title: "One client: median latency and overhead", Columns: table.Columns("way", "method", "workloads", "request, kB",
		"service, ms", "computing, ms", "echo of messages, ms", "echo of bytes, ms", "overhead over messages", "overhead over bytes")}
	for _, c := range cells {
		if c.clients > 1 {
			continue
		}
		size := len(c.payload.binary)
		if c.way == overREST {
			size = len(c.payload.text)
		}
		t.Add(c.way, c.payload.method, fmt.Sprint(c.payload.workloads), fmt.Sprintf("%.3g", float64(size)/1e3),
			medians(c.service, 0.5).Text(""), fmt.Sprintf("%.3g", 1e3*sample.Summarize(c.solve).Median),
			medians(c.messages, 0.5).Text(""), medians(c.bytes, 0.5).Text(""), c.overhead(c.messages).Text(""), c.overhead(c.bytes).Text(""))
	}
	return t
}

// medians summarizes a quantile of latencies over repetitions, in milliseconds.
func medians(all []*latencies, q float64) sample.Summary {
	values := make([]float64, len(all))
	for i, l := range all {
		values[i] = 1e3 * l.quantile(q)
	}
	return sample.Summarize(values)
}

func latencyTable(cells []*cell) table.Table {
	t := table.Table{Title: "Latency and throughput of the service", Columns: table.Columns("way", "method", "workloads", "clients",
		"p50, ms", "p95, ms", "p99, ms", "calls/s", "calls/s, echo of messages", "calls/s, echo of bytes")}
	for _, c := range cells {
		t.Add(c.way, c.payload.method, fmt.Sprint(c.payload.workloads), fmt.Sprint(c.clients),
			medians(c.service, 0.5).Text(""), medians(c.service, 0.95).Text(""), medians(c.service, 0.99).Text(""),
			rates(c.service), rates(c.messages), rates(c.bytes))
	}
	return t
}

func rates(all []*latencies) string {
	values := make([]float64, len(all))
	for i, l := range all {
		values[i] = l.rate
	}
	return sample.Summarize(values).Text("")
}

// latencyFigure shows medians by the number of workloads.
func latencyFigure(cells []*cell) chart.Figure {
	f := chart.Figure{Title: "Median latency of a single client by size of the fleet", Columns: 2}
	for _, method := range []string{optimize, capacity} {
		for _, way := range []string{overGRPC, overREST} {
			p := chart.Panel{
				Title: method + " over " + way,
				X:     chart.Axis{Label: "workloads", Low: 0.7, High: 1500, Log: true}, Y: chart.Axis{Label: "ms", Low: 0.02, High: 1000, Log: true},
			}
			service, computing := chart.Series{Name: "service"}, chart.Series{Name: "computing"}
			messages, bytes := chart.Series{Name: "echo of messages"}, chart.Series{Name: "echo of bytes"}
			for _, c := range cells {
				if c.way != way || c.payload.method != method || c.clients > 1 {
					continue
				}
				add := func(s *chart.Series, ms float64) {
					s.Points = append(s.Points, chart.Point{X: float64(c.payload.workloads), Y: ms})
				}
				add(&service, medians(c.service, 0.5).Median)
				add(&computing, 1e3*sample.Summarize(c.solve).Median)
				add(&messages, medians(c.messages, 0.5).Median)
				add(&bytes, medians(c.bytes, 0.5).Median)
			}
			p.Series = []chart.Series{service, computing, messages, bytes}
			f.Panels = append(f.Panels, p)
		}
	}
	return f
}
