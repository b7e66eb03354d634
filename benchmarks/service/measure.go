package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/benchmarks/internal/sample"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// cell is a load and what was measured of it, an entry for each repetition.
type cell struct {
	load
	// service, bytes and messages are latencies of the three servers.
	service, bytes, messages []*latencies
	// solve is how long the computation took by itself, in this process, in seconds: the
	// median of each repetition.
	solve []float64
}

// measureAll measures every load of the options against every server, in turn.
func measureAll(ctx context.Context, o options, log io.Writer) ([]*cell, error) {
	folder, err := os.MkdirTemp("", "poolwright-service")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // in the folder for such things
	cells, payloads, err := o.cells()
	if err != nil {
		return nil, err
	}
	f := files{folder}
	if err := f.write(payloads); err != nil {
		return nil, err
	}
	program, err := build(ctx, folder)
	if err != nil {
		return nil, err
	}
	p, where, err := startService(ctx, program)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	for _, x := range payloads {
		if err := keep(ctx, where, x, folder); err != nil {
			return nil, fmt.Errorf("%s: %w", x, err)
		}
	}
	e, beside, err := startEchoes(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer e.stop()
	for _, c := range cells {
		if _, err := fmt.Fprintf(log, "%s %s, %d clients\n", c.way, c.payload, c.clients); err != nil {
			return nil, err
		}
		if err := c.measure(ctx, o, f, where, beside); err != nil {
			return nil, fmt.Errorf("%s %s, %d clients: %w", c.way, c.payload, c.clients, err)
		}
	}
	return cells, nil
}

// cells are all combinations.
func (o *options) cells() ([]*cell, []*payload, error) {
	var cells []*cell
	var payloads []*payload
	for _, method := range []string{optimize, capacity} {
		for _, workloads := range o.sizes {
			p, err := newPayload(method, workloads)
			if err != nil {
				return nil, nil, err
			}
			payloads = append(payloads, p)
			for _, way := range []string{overGRPC, overREST} {
				for _, clients := range o.clients {
					cells = append(cells, &cell{load: load{way, p, clients}})
				}
			}
		}
	}
	return cells, payloads, nil
}

// keep asks the service both ways and keeps what it answers.
func keep(ctx context.Context, where addresses, p *payload, folder string) error {
	conn, err := grpc.NewClient(where.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostBytes)))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only asked
	k := kept{Method: p.method, Workloads: p.workloads}
	answered := emptyAnswer(p.method)
	if err := conn.Invoke(ctx, "/poolwright.v1.OptimizerService/"+p.method, p.fleet, answered); err != nil {
		return err
	}
	if k.Binary, err = proto.Marshal(answered); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, where.HTTP+path(p.method), strings.NewReader(string(p.text)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if k.Text, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("REST answers %s: %s", response.Status, k.Text)
	}
	return k.write(folder)
}

// measure repeats the load against the three servers in turn.
func (c *cell) measure(ctx context.Context, o options, f files, where addresses, beside echoes) error {
	servers := []struct {
		name  string
		where addresses
		to    *[]*latencies
	}{{"service", where, &c.service}, {"echo of bytes", beside.Bytes, &c.bytes}, {"echo of messages", beside.Messages, &c.messages}}
	calls := make([]int, len(servers))
	for i, s := range servers {
		// Warms up as well.
		const few = 5
		l, err := c.run(ctx, f, s.where, few)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		calls[i] = min(10_000, max(few, int(o.turn.Seconds()/l.quantile(0.5))))
	}
	for range o.repeats {
		for i, s := range servers {
			l, err := c.run(ctx, f, s.where, calls[i])
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			*s.to = append(*s.to, l)
		}
		seconds, err := c.payload.solve(o.turn)
		if err != nil {
			return err
		}
		c.solve = append(c.solve, seconds)
	}
	return nil
}

// solve returns the median time of what the service has to compute, in seconds.
func (p *payload) solve(turn time.Duration) (float64, error) {
	m, err := message.Fleet(p.fleet)
	if err != nil {
		return 0, err
	}
	compute := planner.New(lp.Simplex())
	var all []float64
	for begin := time.Now(); len(all) < 3 || time.Since(begin) < turn/4; {
		start := time.Now()
		if p.method == capacity {
			_, err = compute.Capacities(m)
		} else {
			_, _, err = compute.Plan(planner.Snapshot{Now: start, Fleet: m}, planner.Memory{}, func() bool { return false })
		}
		if err != nil {
			return 0, err
		}
		all = append(all, time.Since(start).Seconds())
	}
	return sample.Summarize(all).Median, nil
}

// undisturbed is the overhead by the least figure of all repetitions: what else the machine does can
// only lengthen times.
func (c *cell) undisturbed(beside []*latencies) float64 {
	least := func(all []*latencies) float64 {
		seconds := math.Inf(1)
		for _, l := range all {
			seconds = min(seconds, l.quantile(0.5))
		}
		return seconds
	}
	return math.Max(0, least(c.service)-slices.Min(c.solve)) / least(beside)
}

// overhead is the median latency of the service, net of what it computes, over that of
// servers without a service behind them.
func (c *cell) overhead(beside []*latencies) sample.Summary {
	ratios := make([]float64, len(c.service))
	for i := range c.service {
		ratios[i] = math.Max(0, c.service[i].quantile(0.5)-c.solve[i]) / beside[i].quantile(0.5)
	}
	return sample.Summarize(ratios)
}
