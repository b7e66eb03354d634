package server_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// BenchmarkOptimize plans 20 workloads with six variants each. Beside the planner it measures what
// answers the same in other ways: the service, asked directly and over gRPC, and bare servers, one that plans and
// one that does not. Of the medians of calls that are made in turn, overhead is the service over the
// echo, net of the planner, and added-ns is what the service takes more than the server that only plans.
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
	answer, err := service.Optimize(b.Context(), m)
	require.NoError(b, err)
	translated, err := message.Fleet(m)
	require.NoError(b, err)
	plan := func() error {
		_, _, err := plans.Plan(planner.Snapshot{Fleet: translated}, planner.Memory{}, nil)
		return err
	}
	asked := func(conn *grpc.ClientConn) func() error {
		client := poolwrightv1.NewOptimizerServiceClient(conn)
		return func() error {
			_, err := client.Optimize(b.Context(), m)
			return err
		}
	}
	calls := []timed{
		{name: "planner", call: plan},
		{name: "service", call: func() error {
			_, err := service.Optimize(b.Context(), m)
			return err
		}},
		{name: "grpc", call: asked(startService(b, service).conn)},
		{name: "planning", call: asked(startBare(b, bare{answer: answer, plan: plan}))},
		{name: "echo", call: asked(startBare(b, bare{answer: answer, plan: func() error { return nil }}))},
	}
	for _, c := range calls {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("overhead", func(b *testing.B) {
		for b.Loop() {
			for i := range calls {
				calls[i].measure(b)
			}
		}
		planner, grpc, planning, echo := calls[0].median(), calls[2].median(), calls[3].median(), calls[4].median()
		b.ReportMetric(float64(grpc-planner)/float64(echo), "overhead")
		b.ReportMetric(float64(grpc-planning), "added-ns")
	})
}

// timed is a call and the times that it took.
type timed struct {
	name  string
	call  func() error
	times []time.Duration
}

func (t *timed) measure(b *testing.B) {
	b.Helper()
	begin := time.Now()
	if err := t.call(); err != nil {
		b.Fatal(err)
	}
	t.times = append(t.times, time.Since(begin))
}

func (t *timed) median() time.Duration {
	slices.Sort(t.times)
	return t.times[len(t.times)/2]
}

// bare is a service that takes and gives messages, and plans something in between.
type bare struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	answer *poolwrightv1.Plan
	plan   func() error
}

// Optimize implements [poolwrightv1.OptimizerServiceServer].
func (s bare) Optimize(context.Context, *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	return s.answer, s.plan()
}

// startBare runs a service by nothing but gRPC.
func startBare(b *testing.B, service bare) *grpc.ClientConn {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s := grpc.NewServer()
	poolwrightv1.RegisterOptimizerServiceServer(s, service)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, conn.Close())
		s.Stop()
		require.NoError(b, <-served)
	})
	return conn
}
