package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/internal/telemetry"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/overlay"
)

// ledOnce is a loop that has led for a cycle, which began when the configuration said "9s" and no
// longer "7s", with the cycles that it was planned for.
func ledOnce(t *testing.T) (l *clusterLoop, planned []time.Duration) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "poolwright.yaml")
	write := func(cycle string) {
		text := "metrics: {url: http://prometheus:9090}\nfleet: {control: {cycle: " + cycle + "}}\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("7s")
	s, err := newSettings(file)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := cluster.NewWatch(cluster.WatchConfig{})
	catalog := cluster.New(cluster.Config{Watch: watch, Overlay: func() *overlay.Overlay {
		planned = append(planned, s.config.Cycle)
		cancel()
		return s.config.Overlay
	}})
	l = &clusterLoop{
		settings: s, planner: planner.New(lp.Simplex()), watch: watch, catalog: catalog, actuator: actuator.New(actuator.Config{Targets: catalog}),
		people:  view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}},
		metrics: telemetry.New(prometheus.NewRegistry(), telemetry.Config{}), traces: tracing.NewLoop(nil), log: slog.New(slog.DiscardHandler), precedence: &server.Precedence{},
	}
	write("9s")
	require.NoError(t, l.lead(ctx, t.Context(), nil))
	return l, planned
}

// A process that waited for long to lead begins with the configuration of now.
func TestLeaderBeginsWithTheConfigurationOfNow(t *testing.T) {
	l, planned := ledOnce(t)
	require.Equal(t, []time.Duration{9 * time.Second}, planned)
	_, decided := l.people.Newest()
	require.True(t, decided, "the cycle that ran is brought to its end")
}

// Others may have decided since a process led last: KEDA is not told what it decided then.
func TestScalerForgetsTermsThatAreOver(t *testing.T) {
	l, _ := ledOnce(t)
	last, decided := l.people.Newest()
	require.True(t, decided)
	scaler := l.scaler(l.people, nil).Decisions
	_, decided = scaler.Newest()
	require.False(t, decided)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, scaler.Wait(ended, 0), context.Canceled)

	l.people.Add(controller.Entry{Sequence: last.Sequence + 1})
	_, decided = scaler.Newest()
	require.True(t, decided)
	require.NoError(t, scaler.Wait(ended, 0))
}

// fullDisk is the world of a loop whose ledger can't be written.
type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	return planner.Fleet{}, nil, nil
}

func (fullDisk) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	return nil, nil
}

func (fullDisk) Apply(context.Context, []planner.Change) []error { return nil }

func (fullDisk) Checkpoint(m planner.Memory) (planner.Memory, error) { return m, errFull }

func (fullDisk) Intend(uint64, []planner.Change) error { return errFull }

func (fullDisk) Append(controller.Entry) error { return errFull }

// What is decided is carried out without a ledger, and so it is published.
func TestBrokenLedgerPublishesAllTheSame(t *testing.T) {
	var published []uint64
	c := newCycle(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: fullDisk{}, Observer: fullDisk{}, Actuator: fullDisk{}, Ledger: fullDisk{},
	}, telemetry.New(prometheus.NewRegistry(), telemetry.Config{}), &pulse{}, tracing.NewLoop(nil), &server.Precedence{},
		func(_ context.Context, e *controller.Entry) telemetry.Declared {
			published = append(published, e.Sequence)
			return telemetry.Declared{}
		})
	_, err := c.run(t.Context(), time.Now(), time.Second, planner.Objective{TimeLimit: time.Second})
	require.ErrorIs(t, err, errFull)
	require.Equal(t, []uint64{1}, published)
}

// Whoever takes over remembers what the one before knew, people's pauses too, and goes on with
// its numbers.
func TestLeaderRemembersWhatTheLedgerKnows(t *testing.T) {
	c := ServeConfig{Ledger: filepath.Join(t.TempDir(), "ledger.jsonl"), Simulation: SimulationConfig{Interval: time.Second, Speed: 60}}
	p := planner.New(lp.Simplex())
	with := instruments{registry: prometheus.NewRegistry(), log: slog.New(slog.DiscardHandler), precedence: &server.Precedence{}}
	before, err := newSimulatedLoop(c, p, view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}}, with, nil, io.Discard)
	require.NoError(t, err)
	for range 3 {
		_, err := before.tick(t.Context())
		require.NoError(t, err)
	}

	l := &clusterLoop{
		planner: p, people: view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}},
		ledgers: ledger.Config{Path: c.Ledger, Origin: origin("")}, log: slog.New(slog.DiscardHandler),
	}
	l.people.Pause(planner.Pause{Workload: "of an earlier term"})
	var config controller.Config
	require.NoError(t, l.resume(&config))
	require.EqualValues(t, 3, config.Sequence)
	require.NotEmpty(t, config.Memory.Workloads)
	require.Empty(t, l.people.At(time.Now()))
	require.NotNil(t, config.Ledger)
	require.NoError(t, l.close())
	require.NoError(t, l.close(), "nothing is open any more")
	require.NoError(t, before.close())

	l.ledgers.Path = filepath.Join(t.TempDir(), "none", "ledger.jsonl")
	config = controller.Config{}
	require.ErrorIs(t, l.resume(&config), os.ErrNotExist)
	require.Nil(t, config.Ledger, "what cannot be kept stops nothing")
}

// What is so in every cycle is logged once: thousands of workloads may be recommended
// something that nobody does, or have no metrics.
func TestWhatStaysSoIsLoggedOnce(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	term := &term{clusterLoop: &clusterLoop{
		metrics: telemetry.New(prometheus.NewRegistry(), telemetry.Config{}), traces: tracing.NewLoop(nil), log: log,
	}, decisions: decisionLog{log: log}}
	cycle := func(to int, dropped bool, warnings ...string) string {
		out.Reset()
		e := &controller.Entry{Failure: "it is refused"}
		c := planner.Change{Workload: "a/w", Variant: "v", From: 1, To: to, Reason: "for reasons"}
		e.Decision.Changes = []planner.Change{c}
		if dropped {
			e.Dropped = []controller.Drop{{Change: c, Reason: "for others"}}
		}
		term.queried(metrics.Report{Failures: []error{errors.New("no answer")}, Warnings: warnings})
		term.decisions.report(e)
		var said []string
		for line := range strings.Lines(out.String()) {
			if _, message, _ := strings.Cut(line, "msg="); !strings.HasPrefix(message, "decided ") {
				said = append(said, message)
			}
		}
		return strings.Join(said, "")
	}
	first := cycle(2, true, "no engine")
	for _, what := range []string{`failure="no answer"`, `warning="no engine"`, "change sequence=", `"change dropped"`, "not all was done"} {
		require.Contains(t, first, what)
	}
	require.Empty(t, cycle(2, true, "no engine"))
	require.Contains(t, cycle(2, true, "no engine", "no other"), "no other")
	require.Regexp(t, "^change .*to=3", cycle(3, false))
	require.Contains(t, cycle(3, true), "change dropped")
	require.Contains(t, cycle(3, true, "no engine"), "no engine", "it was away")
}
