package report_test

import (
	"encoding/csv"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/report"
)

func one(v float64) *poolwrightv1.Estimate { return &poolwrightv1.Estimate{Mean: v} }

// result is of two autoscalers, of which the second says nothing of what may be absent.
func result() *poolwrightv1.SimulationResult {
	return &poolwrightv1.SimulationResult{
		Window: durationpb.New(time.Minute), Warmup: durationpb.New(90 * time.Second),
		Demand: []*poolwrightv1.DemandSeries{{Workload: "prod/chat", ArrivalRate: []float64{2.5, 3}}},
		Autoscalers: []*poolwrightv1.AutoscalerResult{
			{
				Name: "poolwright", Regret: &poolwrightv1.Estimate{Mean: 0.04, Lower: proto.Float64(0.03), Upper: proto.Float64(0.05)},
				Cost: one(12.25), DeviceHours: one(6), Attainment: one(0.995), UnmetRequests: one(3), ScaleEvents: one(8),
				Workloads: []*poolwrightv1.WorkloadResult{{
					Workload: "prod/chat", ServiceClass: "premium", Requests: 1000, Objective: proto.Float64(0.99),
					Attainment: one(0.995), UnmetRequests: one(3),
					Ttft: &poolwrightv1.LatencyEstimate{Mean: one(0.2), P50: one(0.15), P95: one(0.5), P99: one(0.9), Limit: proto.Float64(1)},
					Itl:  &poolwrightv1.LatencyEstimate{Mean: one(0.02), P50: one(0.0195), P95: one(0.03), P99: one(math.NaN())},
				}},
				Replicas: []*poolwrightv1.ReplicaSeries{
					{Workload: "prod/chat", Variant: "h100", Serving: []float64{1, 1.5}, Paid: []float64{2, 2}, DevicesPerReplica: 4, CapacityRps: proto.Float64(2)},
					{Workload: "prod/chat", Variant: "a100", Serving: []float64{0, 1}, Paid: []float64{1, 1}, DevicesPerReplica: 8},
					{Workload: "batch", Variant: "h100", Serving: []float64{7, 7}, Paid: []float64{7, 7}, DevicesPerReplica: 1},
				},
				Latencies: []*poolwrightv1.LatencySeries{{
					Workload: "prod/chat", TtftMean: []float64{0.2, math.NaN()}, TtftP95: []float64{0.4, math.NaN()},
					ItlMean: []float64{0.02, math.NaN()}, Attainment: []float64{1, 0.5},
				}},
			},
			{Name: "static, peak", Workloads: []*poolwrightv1.WorkloadResult{{Workload: "prod/chat"}}},
		},
	}
}

// read returns the cells by row and column.
func read(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := make(map[string]string)
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		require.Len(t, cells, len(row), "each column has a name of its own")
		out = append(out, cells)
	}
	return out
}

func assertCells(t *testing.T, want, row map[string]string) {
	t.Helper()
	for name, cell := range want {
		assert.Equal(t, cell, row[name], name)
	}
}

func TestCSV(t *testing.T) {
	var out strings.Builder
	require.NoError(t, report.CSV(&out, result()))
	rows := read(t, out.String())
	require.Len(t, rows, 2)
	assertCells(t, map[string]string{
		"autoscaler": "poolwright", "workload": "prod/chat", "service_class": "premium", "requests": "1000",
		"objective": "0.99", "attainment": "0.995", "attainment_lower": "", "unmet_requests": "3",
		"ttft_mean_seconds": "0.2", "ttft_p50_seconds": "0.15", "ttft_p95_seconds": "0.5", "ttft_p99_seconds": "0.9", "ttft_limit_seconds": "1",
		"itl_p50_seconds": "0.0195", "itl_p99_seconds": "", "itl_limit_seconds": "",
		"fleet_cost": "12.25", "fleet_device_hours": "6", "fleet_scale_events": "8", "fleet_attainment": "0.995",
		"fleet_regret": "0.04", "fleet_regret_lower": "0.03", "fleet_regret_upper": "0.05",
	}, rows[0])
	assertCells(t, map[string]string{
		"autoscaler": "static, peak", "requests": "0", "objective": "", "attainment": "", "fleet_regret": "", "fleet_regret_upper": "",
		"ttft_mean_seconds": "", "ttft_limit_seconds": "",
	}, rows[1])
}

func TestSweepCSV(t *testing.T) {
	var out strings.Builder
	require.NoError(t, report.SweepCSV(&out, &poolwrightv1.Sweep{
		Dimensions: []*poolwrightv1.SweepDimension{{Path: "pools.H100.capacity"}, {Path: "duration"}},
		Results: []*poolwrightv1.SweepPoint{
			{Values: []string{"8", "1h"}, Result: result()},
			{Index: 1, Values: []string{"16", "1h"}, Result: result()},
		},
	}))
	rows := read(t, out.String())
	require.Len(t, rows, 4)
	for i, capacity := range []string{"8", "8", "16", "16"} {
		assertCells(t, map[string]string{"pools.H100.capacity": capacity, "duration": "1h"}, rows[i])
	}
	assert.Equal(t, "static, peak", rows[3]["autoscaler"])
}

func TestSeriesCSV(t *testing.T) {
	var out strings.Builder
	require.NoError(t, report.SeriesCSV(&out, result()))
	rows := read(t, out.String())
	require.Len(t, rows, 4)
	assertCells(t, map[string]string{
		"autoscaler": "poolwright", "workload": "prod/chat", "window_start_seconds": "90", "arrival_rate_rps": "2.5",
		"capacity_rps": "2", "serving_replicas": "1", "paid_devices": "16",
		"ttft_mean_seconds": "0.2", "ttft_p95_seconds": "0.4", "itl_mean_seconds": "0.02", "attainment": "1",
	}, rows[0])
	assertCells(t, map[string]string{
		"window_start_seconds": "150", "arrival_rate_rps": "3", "serving_replicas": "2.5", "paid_devices": "16",
		"capacity_rps": "", "ttft_mean_seconds": "", "attainment": "0.5",
	}, rows[1])
	assertCells(t, map[string]string{
		"autoscaler": "static, peak", "arrival_rate_rps": "2.5", "serving_replicas": "0", "attainment": "",
	}, rows[2])
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteErrorsAreTold(t *testing.T) {
	require.ErrorContains(t, report.CSV(full{}, result()), "no space left")
	require.ErrorContains(t, report.SeriesCSV(full{}, result()), "no space left")
}
