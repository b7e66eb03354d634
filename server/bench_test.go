package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// BenchmarkOptimize plans 20 workloads with six variants each: what the service and
// the way over gRPC take beside the planner.
func BenchmarkOptimize(b *testing.B) {
	m := fleet()
	one := m.GetWorkloads()[0]
	m.Workloads = nil
	for _, p := range m.GetPools() {
		p.Capacity = nil
	}
	for i := range 20 {
		w := &poolwrightv1.Workload{Name: fmt.Sprintf("w%02d", i), Load: one.GetLoad()}
		for j := range 6 {
			w.Variants = append(w.Variants, &poolwrightv1.Variant{
				Name: fmt.Sprintf("v%d", j), Accelerator: m.GetPools()[j%2].GetAccelerator(), CapacityRps: 2 + float64(j),
			})
		}
		m.Workloads = append(m.Workloads, w)
	}
	plans := planner.New(lp.Simplex())
	service := server.NewOptimizer(plans)
	client := poolwrightv1.NewOptimizerServiceClient(startService(b, service).conn)
	translated, err := message.Fleet(m)
	require.NoError(b, err)
	run := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("planner", func() error {
		_, _, err := plans.Plan(planner.Snapshot{Fleet: translated}, planner.Memory{}, nil)
		return err
	})
	run("service", func() error {
		_, err := service.Optimize(b.Context(), m)
		return err
	})
	run("grpc", func() error {
		_, err := client.Optimize(b.Context(), m)
		return err
	})
}
