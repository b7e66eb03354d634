package ledger_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
)

// monday is when every test begins.
func monday() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

// fleet has workloads of several kinds that compete for two pools.
func fleet(workloads int) planner.Fleet {
	f := planner.Fleet{
		Pools: []planner.Pool{
			{Name: "h100", Accelerator: "H100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: 3 * workloads}},
			{Name: "a100", Accelerator: "A100", PricePerHour: 2, Capacity: optimizer.Bound{Limited: true, Value: 3 * workloads}},
		},
		Objective: planner.Objective{RelativeGap: 0.01}, Control: planner.Control{Cycle: 5 * time.Minute},
	}
	variant := func(pool int, capacity float64) planner.Variant {
		return planner.Variant{
			Name: f.Pools[pool].Name, Pools: []int{pool}, DevicesPerReplica: 1, NodesPerReplica: 1,
			Capacity: queueing.Rate(capacity), Startup: 7 * time.Minute,
			ScaleTarget: planner.ScaleTarget{Kind: "Deployment", Name: f.Pools[pool].Name},
		}
	}
	for i := range workloads {
		w := planner.Workload{
			Namespace: "prod", Name: "w" + strconv.Itoa(i), Priority: 1 + i%2, ArrivalRate: queueing.Rate(9 + 2*i),
			Shape:    queueing.Shape{InputTokens: 512, OutputTokens: 128, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1},
			Variants: []planner.Variant{variant(0, 5.3), variant(1, 2.9)},
		}
		if i == 0 {
			w.SLO = queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.ITL, Quantile: 0, Value: 0.03}}}
			w.Variants[0].Capacity = 0
			w.Variants[0].Replica = &queueing.Replica{
				Profile: queueing.Profile{Alpha: 7e-3, Beta: 6e-5, Delta: 2.4e-6}, MaxBatch: 64,
			}
		}
		f.Workloads = append(f.Workloads, w)
	}
	return f
}

// world is a simulated fleet with noise, gaps and people in it.
type world struct {
	*simulation.Fluid

	random *rand.Rand
}

func newWorld(t *testing.T, workloads int) *world {
	t.Helper()
	curves := make([]simulation.Curve, workloads)
	for i := range curves {
		curves[i] = simulation.Curve{Trough: 0.2, Peak: time.Duration(12+3*i) * time.Hour}
	}
	fluid, err := simulation.NewFluid(fleet(workloads), curves, monday())
	require.NoError(t, err)
	return &world{Fluid: fluid, random: rand.New(rand.NewPCG(3, 4))}
}

// Fleet is sometimes short of devices, and does not know the lengths of some requests.
func (w *world) Fleet(ctx context.Context) (planner.Fleet, []planner.Pause, error) {
	f, _, err := w.Fluid.Fleet(ctx)
	f.Workloads[0].Shape = queueing.Shape{}
	if w.Now().Hour() == 13 {
		f.Pools = slices.Clone(f.Pools)
		f.Pools[0].Capacity.Value /= 2
	}
	return f, nil, err
}

// Observe is noisy, and sometimes blind.
func (w *world) Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	observations, err := w.Fluid.Observe(ctx, fleet)
	for i := range observations {
		o := &observations[i]
		o.ArrivalRate.Value *= 0.9 + 0.2*w.random.Float64()
		switch w.random.IntN(40) {
		case 0:
			o.ArrivalRate = planner.Measurement{State: planner.Invalid, Value: math.NaN()}
		case 1:
			o.ArrivalRate.State = planner.Incomplete
		case 2:
			o.Waiting = planner.Measurement{State: planner.Fresh, Value: 30 * w.random.Float64()}
		}
	}
	if w.random.IntN(10) > 0 {
		observations[0].InputTokens = planner.Measurement{State: planner.Fresh, Value: 450 + 100*w.random.Float64()}
		observations[0].OutputTokens = planner.Measurement{State: planner.Fresh, Value: 120 + 20*w.random.Float64()}
	}
	observations[0].Variants = []planner.VariantObservation{{Variant: "h100", Replica: calibration.Observation{
		Window: 60, Rate: calibration.Of(1 + w.random.Float64()), Running: calibration.Of(4 + 2*w.random.Float64()),
		InputTokens: calibration.Of(500), OutputTokens: calibration.Of(130), ITL: calibration.Of(9e-3 + 1e-3*w.random.Float64()),
	}}}
	return observations, err
}

// meddle changes replicas behind the controller's back.
func (w *world) meddle(t *testing.T) {
	t.Helper()
	f, _, err := w.Fleet(t.Context())
	require.NoError(t, err)
	v := &f.Workloads[1].Variants[1]
	for _, err := range w.Apply(t.Context(), []planner.Change{{Workload: "prod/w1", Variant: v.Name, From: v.CurrentReplicas, To: v.CurrentReplicas + 1}}) {
		require.NoError(t, err)
	}
}

// run writes cycles of a world into a ledger.
func run(t *testing.T, w *world, to controller.Ledger, from uint64, cycles int, step time.Duration) []controller.Entry {
	t.Helper()
	return goOn(t, w, controller.Config{Ledger: to, Sequence: from}, cycles, step)
}

// goOn runs cycles of a world with what a controller already knows.
func goOn(t *testing.T, w *world, config controller.Config, cycles int, step time.Duration) []controller.Entry {
	t.Helper()
	config.Planner, config.Catalog, config.Observer, config.Actuator = planner.New(lp.Simplex()), w, w, w
	c := controller.New(config)
	var entries []controller.Entry
	for range cycles {
		n := config.Sequence + uint64(len(entries))
		if n%100 == 77 {
			w.meddle(t)
		}
		var stop func() bool
		if n%20 == 13 {
			stop = func() bool { return true }
		}
		entry, err := c.Tick(t.Context(), w.Now(), stop)
		require.NoError(t, err)
		require.Equal(t, n+1, entry.Sequence)
		require.NoError(t, w.Advance(w.Now().Add(step)))
		entries = append(entries, entry)
	}
	return entries
}

// origin is that of every ledger here.
func origin() ledger.Origin {
	return ledger.Origin{Version: "v1", Engine: "go", Architecture: "any"}
}

// open opens a ledger that is closed at the end of the test.
func open(t *testing.T, c ledger.Config) (*ledger.Writer, ledger.Found) {
	t.Helper()
	c.Origin = origin()
	w, found, err := ledger.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w, found
}

// written is the text of a small ledger, with a checkpoint every so many entries.
func written(t *testing.T, workloads, cycles, every int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _ := open(t, ledger.Config{Path: path, CheckpointEntries: every, Sync: ledger.AtCheckpoints})
	run(t, newWorld(t, workloads), w, 0, cycles, 5*time.Minute)
	text, err := os.ReadFile(path) //nolint:gosec // written above
	require.NoError(t, err)
	return text
}

// withoutIntents is a ledger without the lines that replay passes over.
func withoutIntents(text []byte) []byte {
	var rest [][]byte
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line[:min(30, len(line))], []byte(`"intent":`)) {
			rest = append(rest, line)
		}
	}
	return bytes.Join(rest, nil)
}

// replay replays texts one after the other.
func replay(t *testing.T, texts ...[]byte) (ledger.Report, []ledger.Cycle) {
	t.Helper()
	r := ledger.NewReplayer(planner.New(lp.Simplex()))
	var differing []ledger.Cycle
	for i, text := range texts {
		require.NoError(t, r.Read(bytes.NewReader(text), "ledger."+strconv.Itoa(i), func(c ledger.Cycle) error {
			differing = append(differing, c)
			return nil
		}))
	}
	return r.Report(), differing
}

// segments are the files of a ledger, the oldest first.
func segments(t *testing.T, path string) [][]byte {
	t.Helper()
	names, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	slices.SortFunc(names, func(a, b string) int { return age(t, b) - age(t, a) })
	texts := make([][]byte, 0, len(names)+1)
	for _, name := range append(names, path) {
		text, err := os.ReadFile(name) //nolint:gosec // of the test's folder
		require.NoError(t, err)
		texts = append(texts, text)
	}
	return texts
}

func age(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	require.NoError(t, err)
	return n
}
