// Command scaler serves the external scaler from decisions that it is told, on an address, to
// whom an [access.Config] in JSON lets ask. It prints the address that it listens on, takes a
// decision in JSON from each line of its input, and prints the number of each.
//
// It is a process of its own, since KEDA's client and Poolwright each have Go generated
// from the same protocol, which one process cannot hold.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/server"
)

// decision is about the workload team/chat with one variant.
type decision struct {
	// Replicas there are, and those To be.
	Replicas, To int
	// Unknown demand.
	Unknown bool
	// Age of the decision, in seconds.
	Age int
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address, reach string) error {
	var c access.Config
	if err := json.Unmarshal([]byte(reach), &c); err != nil {
		return err
	}
	callers, err := access.New(c, nil)
	if err != nil {
		return err
	}
	history := controller.NewHistory(controller.HistoryConfig{})
	s, err := server.New(server.Config{
		Services: server.Services{
			Optimizer: server.NewOptimizer(planner.New(lp.Simplex())),
			Scaler:    server.NewScaler(server.ScalerConfig{Decisions: history}),
		},
		Registry: prometheus.NewRegistry(), Access: callers,
	})
	if err != nil {
		return err
	}
	var config net.ListenConfig
	grpcListener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	httpListener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(grpcListener.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return s.Serve(ctx, grpcListener, httpListener) })
	group.Go(func() error {
		defer cancel()
		return decide(history)
	})
	return group.Wait()
}

// decide adds the decisions that are read.
func decide(history *controller.History) error {
	lines := bufio.NewScanner(os.Stdin)
	for sequence := uint64(1); lines.Scan(); sequence++ {
		var d decision
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return err
		}
		history.Add(d.entry(sequence))
		fmt.Println(sequence)
	}
	return lines.Err()
}

func (d *decision) entry(sequence uint64) controller.Entry {
	e := controller.Entry{Sequence: sequence}
	e.Decision.At = time.Now().Add(-time.Duration(d.Age) * time.Second)
	e.Decision.Fleet.Workloads = []planner.Workload{{
		Namespace: "team", Name: "chat", Variants: []planner.Variant{{Name: "h100", CurrentReplicas: d.Replicas}},
	}}
	e.Decision.Plans = make([]planner.WorkloadPlan, 1)
	if d.Unknown {
		e.Decision.Plans[0].Conditions = []planner.Condition{{Type: planner.DemandUnknown}}
	}
	if d.To != d.Replicas {
		e.Decision.Changes = []planner.Change{{Workload: "team/chat", Variant: "h100", From: d.Replicas, To: d.To}}
	}
	return e
}
