package web

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

const chat = `tr[data-key="prod/chat"]`

func TestFleetFollowsTheLoop(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`document.querySelectorAll('#pools .pool').length === 2 && document.querySelectorAll('#workloads tbody tr').length === 3`)
	b.until(`document.getElementById('connection').textContent === 'live'`)
	assert.Contains(t, b.text(chat), "llama-3.1-8b")
	assert.Regexp(t, `\d ms`, b.text(chat+" td:nth-of-type(3)"), "predicted latency")

	b.until(`Number(/decision (\d+)/.exec(document.getElementById('clock').textContent)?.[1]) >= 6`)
	b.until(`document.querySelectorAll('#history canvas').length === 2`)
	b.pictures("fleet")

	b.fill("#filter", "70b")
	b.until(`document.querySelectorAll('#workloads tbody tr').length === 1`)
	assert.Contains(t, b.text("#workloads tbody"), "prod/assistant")
	b.fill("#filter", "no such")
	b.until(`document.querySelector('#workloads .empty') !== null`)
}

func TestFleetShowsHowADecisionCameAbout(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`[...document.querySelectorAll('.decision')].some((d) => !d.hidden)`)
	b.click(".decision:not([hidden]) summary")
	b.until(`document.querySelector('.decision[open] [aria-label^="Trail"] tbody')?.textContent.includes('solve')`)
	assert.Contains(t, b.text(".decision[open] .body"), "→")
	b.picture("decision")

	hidden := `[...document.querySelectorAll('.decision')].filter((d) => d.hidden).length`
	b.until(hidden + ` > 0`)
	b.click("#changes")
	assert.Zero(t, value[int](b, hidden), "all are shown")
}

func TestFleetHoldsAWorkload(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/")
	b.until(`document.querySelector('` + chat + ` button') !== null`)
	b.click(chat + " button")
	b.do(chromedp.WaitVisible(chromedp.CSS("#pause")))
	b.click("#pause button[type=submit]")
	assert.True(t, value[bool](b, `document.getElementById('pause').open`), "a reason is required")
	b.fill("#pause-reason", "incident 12")
	b.picture("pause")
	b.click("#pause button[type=submit]")
	b.until(`document.querySelector('` + chat + `').textContent.includes('incident 12')`)
	assert.Equal(t, "Resume", b.text(chat+" button"))
	assert.Contains(t, get(t, s.url+"/v1/fleet"), `"reason": "incident 12"`)

	b.do(chromedp.Focus(chromedp.CSS(chat + " button")))
	b.press("\r", 1)
	b.do(chromedp.WaitVisible(chromedp.CSS("#resume")))
	b.click("#resume button[type=submit]")
	b.until(`!document.querySelector('` + chat + `').textContent.includes('incident 12')`)
	assert.NotContains(t, get(t, s.url+"/v1/fleet"), "incident 12")
}

// cluster is a loop over a cluster: one decision about workloads whose replicas report what they do.
type cluster struct {
	poolwrightv1.UnimplementedFleetServiceServer
}

func (cluster) decision() *poolwrightv1.Decision {
	milliseconds := func(n int64) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Millisecond) }
	predicted := &poolwrightv1.LatencyPrediction{Mean: milliseconds(90), P95: milliseconds(850)}
	four := int32(4)
	return &poolwrightv1.Decision{
		Sequence: 7, Time: timestamppb.New(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)), View: poolwrightv1.Decision_FULL, Failure: "scale chat-h100: forbidden",
		Changes: []*poolwrightv1.Change{{Workload: "chat", Variant: "chat-h100", From: 3, To: 4, Goal: 5, Reason: "more demand"}},
		Plan: &poolwrightv1.Plan{
			Demand: poolwrightv1.Plan_PARTIAL, Proof: poolwrightv1.Plan_FEASIBLE, Gap: 0.02, PricePerHour: 12345.678,
			Pools: []*poolwrightv1.PoolPlan{{Name: "h100", Accelerator: "H100", Used: 4, Capacity: &four, ShadowPricePerHour: 7.5}, {Name: "cloud", Accelerator: "H100", Used: 1200}},
			Workloads: []*poolwrightv1.WorkloadPlan{{
				Name: "chat", ServedRps: 20, UnmetRps: 5, Predicted: &poolwrightv1.Prediction{Ttft: predicted, Itl: predicted},
				Conditions: []*poolwrightv1.Condition{{Type: "DemandUnknown", Message: "no replica reports how many requests arrive"}},
				Variants: []*poolwrightv1.VariantPlan{{
					Name: "chat-h100", Observed: &poolwrightv1.ObservedLatency{Window: milliseconds(60000), Ttft: milliseconds(432), Itl: milliseconds(21)},
					Replicas: &poolwrightv1.VariantReplicas{Current: 3, Planned: 5},
				}},
			}},
		},
	}
}

func (c cluster) GetFleet(context.Context, *poolwrightv1.GetFleetRequest) (*poolwrightv1.GetFleetResponse, error) {
	variant := &poolwrightv1.Variant{Name: "chat-h100", Accelerator: "H100", CurrentReplicas: 3, StartingReplicas: 1}
	return &poolwrightv1.GetFleetResponse{
		Decision: c.decision(),
		Fleet: &poolwrightv1.Fleet{
			Pools: []*poolwrightv1.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 3.9}, {Name: "cloud", Accelerator: "H100", PricePerHour: 9, Interruptible: true}},
			Workloads: []*poolwrightv1.Workload{{
				Name: "chat", Model: "<b>m</b>", Load: &poolwrightv1.Load{ArrivalRate: 25}, Variants: []*poolwrightv1.Variant{variant},
				Slo: &poolwrightv1.SLO{Ttft: &poolwrightv1.LatencyLimits{P95: durationpb.New(800 * time.Millisecond)}},
			}},
		},
	}, nil
}

func (c cluster) ListDecisions(context.Context, *poolwrightv1.ListDecisionsRequest) (*poolwrightv1.ListDecisionsResponse, error) {
	return &poolwrightv1.ListDecisionsResponse{Decisions: []*poolwrightv1.Decision{c.decision()}}, nil
}

func (cluster) WatchDecisions(_ *poolwrightv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[poolwrightv1.WatchDecisionsResponse]) error {
	<-stream.Context().Done()
	return stream.Context().Err()
}

func TestFleetShowsWhatIsAmiss(t *testing.T) {
	b := newTab(t)
	b.open(answering(t, server.Services{Fleet: cluster{}}) + "/")
	b.until(`document.querySelectorAll('#workloads tbody tr').length === 1`)
	row := b.text("#workloads tbody tr")
	assert.Contains(t, row, "observed 432 ms mean", "what replicas report")
	assert.Contains(t, row, "850 ms p95")
	assert.Contains(t, row, "limit 800 ms")
	assert.Contains(t, row, "5 unmet")
	assert.Regexp(t, `3 → 4 \(plan 5\) × chat-h100, 1 starting`, row)
	assert.Contains(t, row, "DemandUnknown")
	assert.Contains(t, row, "no replica reports how many requests arrive")
	assert.Contains(t, row, "<b>m</b>", "names are text")
	assert.Contains(t, b.text("#overview"), "12,345.68")
	assert.Contains(t, b.text("#overview"), "partly served")
	assert.Contains(t, b.text("#pools"), "shadow price 7.50 per hour")
	assert.Contains(t, b.text("#pools"), "1,200 devices planned, no limit")
	assert.Contains(t, b.text("#decisions"), "failed")
	assert.Equal(t, "Decision 7 could not be carried out: scale chat-h100: forbidden", b.text("#failure"))
	b.pictures("fleet-amiss")
}

func TestFleetFindsTheServiceAgain(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.quiet.Store(true) // a service that is gone is complained about by the browser
	b.open(s.url + "/")
	b.until(`document.getElementById('connection').textContent === 'live'`)
	decision := `Number(/decision (\d+)/.exec(document.getElementById('clock').textContent)[1])`
	b.until(decision + ` >= 8`)
	s.stop()
	b.until(`document.getElementById('connection').textContent === 'reconnecting'`)
	b.picture("reconnecting")
	serve(t, s.port(), "--interval", "1h", "--speed", "1")
	b.until(`document.getElementById('connection').textContent === 'live'`)
	b.until(decision + ` === 1 && document.getElementById('problem').hidden`)
}
