package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// The ways to call.
const (
	overGRPC = "gRPC"
	overREST = "REST"
)

// load is calls that clients make one after the other, each its own.
type load struct {
	way     string
	payload *payload
	clients int
}

// latencies are what a run of load has measured.
type latencies struct {
	// seconds in ascending order.
	seconds []float64
	// rate is in calls per second, of all clients.
	rate float64
}

// quantile is the least latency that at least the share q of calls does not exceed, in seconds.
func (l *latencies) quantile(q float64) float64 {
	return l.seconds[max(0, int(math.Ceil(q*float64(len(l.seconds))))-1)]
}

// files are what the programs read that make load.
type files struct{ folder string }

func (f files) binary(p *payload) string { return filepath.Join(f.folder, p.String()+".request.pb") }

func (f files) text(p *payload) string { return filepath.Join(f.folder, p.String()+".request.txt") }
func (f files) schema() string         { return filepath.Join(f.folder, "schema.protoset") }

// write writes them all.
func (f files) write(payloads []*payload) error {
	for _, p := range payloads {
		if err := os.WriteFile(f.binary(p), p.binary, 0o600); err != nil { //nolint:gosec // in a folder of its own
			return err
		}
		if err := os.WriteFile(f.text(p), p.text, 0o600); err != nil { //nolint:gosec // as well
			return err
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	addFile(set, map[string]bool{}, poolwrightv1.File_poolwright_v1_optimizer_service_proto)
	schema, err := proto.Marshal(set)
	if err != nil {
		return err
	}
	return os.WriteFile(f.schema(), schema, 0o600)
}

// addFile adds a file after those that it imports.
func addFile(set *descriptorpb.FileDescriptorSet, known map[string]bool, d protoreflect.FileDescriptor) {
	if known[d.Path()] {
		return
	}
	known[d.Path()] = true
	for i := range d.Imports().Len() {
		addFile(set, known, d.Imports().Get(i).FileDescriptor)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(d))
}

// errTorn is what ghz makes of an answer now and then, where many are large: its gRPC v1.34 estimates windows in a
// race with new streams (grpc-go #5358), and it can't be built with the one that has been mended.
var errTorn = errors.New("unexpected EOF")

// attempts is how often calls are made until none is torn. A server that tears them does so again.
const attempts = 3

// run makes so many calls of a server for each client.
func (l load) run(ctx context.Context, f files, where addresses, calls int) (*latencies, error) {
	n, c := fmt.Sprint(calls*l.clients), fmt.Sprint(l.clients)
	var measured *latencies
	var err error
	if l.way == overGRPC {
		for range attempts {
			measured, err = l.ghz(ctx, "--insecure", "--protoset", f.schema(), "--call", "poolwright.v1.OptimizerService."+l.payload.method,
				"-B", f.binary(l.payload), "-n", n, "-c", c, "--connections", c, "-t", "60s", "-O", "json", where.GRPC)
			if !errors.Is(err, errTorn) {
				break
			}
		}
	} else {
		measured, err = l.hey(ctx, "-n", n, "-c", c, "-t", "60", "-m", "POST", "-T", "application/json",
			"-D", f.text(l.payload), "-o", "{{ jsonify . }}", where.HTTP+path(l.payload.method))
	}
	if err != nil {
		return nil, err
	}
	if len(measured.seconds) != calls*l.clients {
		return nil, fmt.Errorf("%d of %s calls are answered", len(measured.seconds), n)
	}
	slices.Sort(measured.seconds)
	return measured, nil
}

// versions are those of the programs that make load, where they are installed.
func versions() []string {
	var all []string
	for _, name := range []string{"ghz", "hey"} {
		file, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if built, err := buildinfo.ReadFile(file); err == nil {
			all = append(all, name+" "+built.Main.Version)
		}
	}
	return all
}

func (l load) ghz(ctx context.Context, arguments ...string) (*latencies, error) {
	var r struct {
		Rps     float64
		Details []struct {
			Latency       time.Duration
			Status, Error string
		}
	}
	if err := ask(ctx, &r, "ghz", arguments...); err != nil {
		return nil, err
	}
	measured := &latencies{rate: r.Rps}
	for _, d := range r.Details {
		switch {
		case d.Status == codes.Internal.String() && strings.HasSuffix(d.Error, "desc = "+errTorn.Error()):
			return nil, fmt.Errorf("ghz: %w", errTorn)
		case d.Status != codes.OK.String():
			return nil, fmt.Errorf("ghz: a call has %s: %s", d.Status, d.Error)
		}
		measured.seconds = append(measured.seconds, d.Latency.Seconds())
	}
	return measured, nil
}

func (l load) hey(ctx context.Context, arguments ...string) (*latencies, error) {
	var r struct {
		Rps            float64
		Lats           []float64
		StatusCodeDist map[string]int
	}
	if err := ask(ctx, &r, "hey", arguments...); err != nil {
		return nil, err
	}
	if r.StatusCodeDist["200"] != len(r.Lats) {
		return nil, fmt.Errorf("hey: answers by status: %v", r.StatusCodeDist)
	}
	return &latencies{rate: r.Rps, seconds: r.Lats}, nil
}

// ask reads what a program prints as JSON.
func ask(ctx context.Context, answer any, name string, arguments ...string) error {
	var out, mistakes bytes.Buffer
	c := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // programs of this repository's tools
	c.Stdout, c.Stderr = &out, &mistakes
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, mistakes.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("%s: %w: %.300s", name, err, out.Bytes())
	}
	return nil
}
