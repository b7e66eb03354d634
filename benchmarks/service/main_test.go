package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []int{judged}, o.sizes)
	for _, wrong := range [][]string{{"-repeats", "0"}, {"-turn", "x"}, {"-sizes", "0"}, {"-clients", "1,,2"}, {"-nothing"}} {
		_, err := parse(wrong, io.Discard)
		assert.Error(t, err, wrong)
	}
}

// The fleets that are asked about can be served, whole, and within their SLOs.
func TestFleetsAreServed(t *testing.T) {
	for _, workloads := range []int{1, 20, 200} {
		f, err := message.Fleet(fleet(workloads))
		require.NoError(t, err)
		d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
		require.NoError(t, err)
		assert.Equal(t, poolwrightv1.Plan_SERVED, message.Plan(&d).GetDemand())
	}
}

func TestPayloadsAreTheSameBothWays(t *testing.T) {
	p, err := newPayload(optimize, 20)
	require.NoError(t, err)
	var binary, text poolwrightv1.Fleet
	require.NoError(t, proto.Unmarshal(p.binary, &binary))
	require.NoError(t, protojson.Unmarshal(p.text, &text))
	assert.True(t, proto.Equal(&binary, &text))
}

// startEcho runs the servers in this process, with an answer for each of two payloads.
func startEcho(t *testing.T, payloads ...*payload) (where echoes, answer *poolwrightv1.Plan) {
	t.Helper()
	folder := t.TempDir()
	answer = &poolwrightv1.Plan{PricePerHour: 7}
	binary, err := proto.Marshal(answer)
	require.NoError(t, err)
	for _, p := range payloads {
		require.NoError(t, (&kept{p.method, p.workloads, binary, []byte(`{"pricePerHour": 7}`)}).write(folder))
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- echo(ctx, folder, w) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	require.NoError(t, json.NewDecoder(r).Decode(&where))
	return where, answer
}

func TestEchoesAnswerAsTheService(t *testing.T) {
	p, err := newPayload(optimize, 3)
	require.NoError(t, err)
	other, err := newPayload(optimize, 4)
	require.NoError(t, err)
	where, want := startEcho(t, p, other)
	for _, a := range []addresses{where.Bytes, where.Messages} {
		conn, err := grpc.NewClient(a.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		got, err := poolwrightv1.NewOptimizerServiceClient(conn).Optimize(t.Context(), p.fleet)
		require.NoError(t, err)
		assert.True(t, proto.Equal(want, got))
		require.NoError(t, conn.Close())

		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.HTTP+path(optimize), strings.NewReader(string(p.text)))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode)
		var read poolwrightv1.Plan
		require.NoError(t, protojson.Unmarshal(text, &read), string(text))
		assert.True(t, proto.Equal(want, &read))
	}
}

// The schema has every file after those that it imports.
func TestSchemaIsWhole(t *testing.T) {
	f := files{t.TempDir()}
	require.NoError(t, f.write(nil))
	text, err := os.ReadFile(f.schema())
	require.NoError(t, err)
	var set descriptorpb.FileDescriptorSet
	require.NoError(t, proto.Unmarshal(text, &set))
	known := map[string]bool{}
	for _, file := range set.GetFile() {
		for _, imported := range file.GetDependency() {
			assert.True(t, known[imported], "%s imports %s", file.GetName(), imported)
		}
		known[file.GetName()] = true
	}
	assert.True(t, known["poolwright/v1/optimizer_service.proto"])
}

func TestAddressesAreRead(t *testing.T) {
	assert.Equal(t, "http://127.0.0.1:41649", string(pages.FindSubmatch([]byte("page     http://127.0.0.1:41649/\n"))[1]))
	assert.Equal(t, "127.0.0.1:38453", string(calls.FindSubmatch([]byte("gRPC     127.0.0.1:38453\n"))[1]))
}

// made is a cell of one client with these latencies in each of six repetitions, in seconds.
func made(way, method string, service, solve, messages, bytes float64) *cell {
	c := &cell{load: load{way, &payload{method: method, workloads: judged}, 1}}
	for range 6 {
		at := func(x float64) *latencies { return &latencies{seconds: []float64{x / 2, x, 2 * x}, rate: 1 / x} }
		c.service, c.messages, c.bytes = append(c.service, at(service)), append(c.messages, at(messages)), append(c.bytes, at(bytes))
		c.solve = append(c.solve, solve)
	}
	return c
}

func TestOverheadIsNetOfWhatIsComputed(t *testing.T) {
	c := made(overGRPC, optimize, 0.005, 0.002, 0.002, 0.001)
	assert.InDelta(t, 1.5, c.overhead(c.messages).Median, 1e-12)
	assert.InDelta(t, 3, c.overhead(c.bytes).Median, 1e-12)
	c = made(overGRPC, optimize, 0.001, 0.002, 0.002, 0.001)
	assert.Zero(t, c.overhead(c.messages).Median, "computing took longer by itself")

	c = made(overGRPC, optimize, 0.005, 0.002, 0.002, 0.001)
	c.service[0], c.solve[1], c.messages[2] = &latencies{seconds: []float64{0.004}}, 0.001, &latencies{seconds: []float64{0.0015}}
	assert.InDelta(t, 2, c.undisturbed(c.messages), 1e-12)
}

func TestReportSaysWhatIsMissed(t *testing.T) {
	cells := []*cell{
		made(overGRPC, optimize, 0.005, 0.002, 0.0021, 0.001), made(overREST, optimize, 0.005, 0.002, 0.001, 0.001),
		made(overGRPC, capacity, 0.005, 0.002, 0.001, 0.001),
	}
	r := newReport(cells, options{repeats: 6, turn: time.Second})
	var met []bool
	for _, x := range r.Targets {
		met = append(met, x.Met)
	}
	assert.Equal(t, []bool{true, false}, met)
	assert.Len(t, r.Standings, 4)
	require.Len(t, r.Ratios, 6)
	assert.InDelta(t, 2.1/3, r.Ratios[0].Value, 1e-9)
	assert.Contains(t, r.Text(), "5 (5–5)")
	assert.Contains(t, r.Figures[0].SVG, "Optimize over REST")
	assert.False(t, math.IsNaN(r.Ratios[5].Value))
}

func TestQuantile(t *testing.T) {
	l := latencies{seconds: []float64{1, 2, 3, 4}}
	assert.InDelta(t, 2, l.quantile(0.5), 0)
	assert.InDelta(t, 4, l.quantile(0.99), 0)
	assert.InDelta(t, 1, l.quantile(0), 0)
}

func TestTornAnswersAreAskedAgain(t *testing.T) {
	for torn, wanted := range map[int]string{0: "", 2: "", 3: "ghz: unexpected EOF"} {
		folder := t.TempDir()
		program := fmt.Appendf(nil, `#!/bin/sh
cd %q
echo >>runs
if [ $(wc -l <runs) -le %d ]; then
  echo '{"details": [{"status": "Internal", "error": "rpc error: code = Internal desc = unexpected EOF"}]}'
else
  echo '{"details": [{"status": "OK", "latency": 1000000}]}'
fi
`, folder, torn)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "ghz"), program, 0o700)) //nolint:gosec // a program
		t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
		measured, err := load{way: overGRPC, payload: &payload{method: optimize}, clients: 1}.run(t.Context(), files{folder}, addresses{}, 1)
		if wanted != "" {
			require.EqualError(t, err, wanted)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []float64{1e-3}, measured.seconds)
	}
}
