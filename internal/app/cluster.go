package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/telemetry"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/kthena"
	"github.com/poolwright/poolwright/sources/llmaz"
	"github.com/poolwright/poolwright/sources/llmd"
	"github.com/poolwright/poolwright/sources/overlay"
	"github.com/poolwright/poolwright/sources/plain"
)

// clusterLoop runs the controller over a cluster while this process leads, and logs what
// it does. One that does not lead watches the cluster, so that it can take over at once.
type clusterLoop struct {
	settings *settings
	planner  *planner.Planner
	people   view
	client   *kube.Client
	// namespace is where the Lease is unless the configuration says otherwise.
	namespace  string
	watch      *cluster.Watch
	catalog    *cluster.Catalog
	actuator   *actuator.Actuator
	metrics    *telemetry.Loop
	traces     *tracing.Loop
	precedence *server.Precedence
	// leader is who leads, address where this process is reached.
	leader  leader
	address string
	pulse   pulse
	// ledgers is where one is kept, and ledger what this process writes of it while it leads.
	ledgers ledger.Config
	ledger  *ledger.Writer
	// last is the term of this process that began last; nil = it has never led.
	last *term
	// sequence is the number of the last entry, of this process or of the ledger.
	sequence uint64
	// past is the number of the last entry of the terms of this process that are over.
	past atomic.Uint64
	log  *slog.Logger
}

func newClusterLoop(c ServeConfig, p *planner.Planner, people view, with instruments) (*clusterLoop, error) {
	settings, err := newSettings(c.Cluster)
	if err != nil {
		return nil, err
	}
	declared := settings.config.Cluster
	rest, namespace, err := kube.Load(declared.Kube)
	if err != nil {
		return nil, err
	}
	with.registry.MustRegister(telemetry.ConfigValid("loop", settings.valid))
	watched := telemetry.New(with.registry, telemetry.Config{})
	rest.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tracing.Transport("kubernetes", watched.Transport(next))
	})
	client, err := kube.New(rest)
	if err != nil {
		return nil, err
	}
	read := readers(&declared)
	watch := cluster.NewWatch(cluster.WatchConfig{
		Client: client.Dynamic, Mapper: client.Mapper, Kinds: cluster.Kinds(read), Namespaces: declared.Namespaces,
	})
	catalog := cluster.New(cluster.Config{
		Watch: watch, Readers: read, Overlay: func() *overlay.Overlay { return settings.config.Overlay },
		Self: self(&declared, namespace),
	})
	l := &clusterLoop{
		settings: settings, planner: p, people: people, client: client, namespace: namespace,
		watch: watch, catalog: catalog, actuator: actuator.New(actuator.Config{Client: client, Targets: catalog, FieldManager: declared.FieldManager}),
		metrics: watched, traces: tracing.NewLoop(with.traces), precedence: with.precedence, log: with.log.With("fleet", namespace),
		ledgers: ledger.Config{Path: c.Ledger, Origin: origin(c.Engine)},
	}
	klog.SetSlogLogger(l.log)
	if c.Ledger != "" {
		// Whoever leads opens it; mistakes are to be known at once.
		if _, _, err := ledger.Open(l.ledgers); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// self is how others know this installation.
func self(c *config.Cluster, namespace string) resource.Self {
	hosts := c.ScalerHosts
	if len(hosts) == 0 {
		hosts = []string{"poolwright." + namespace}
	}
	return resource.Self{FieldManager: c.FieldManager, ScalerHosts: hosts}
}

func readers(c *config.Cluster) []resource.Reader {
	var all []resource.Reader
	for _, source := range c.Sources {
		switch source {
		case poolwrightv1.Cluster_LLMD:
			all = append(all, llmd.NewReader(c.LLMD))
		case poolwrightv1.Cluster_KTHENA:
			all = append(all, new(kthena.Reader))
		case poolwrightv1.Cluster_LLMAZ:
			all = append(all, llmaz.Reader{})
		case poolwrightv1.Cluster_PLAIN:
			all = append(all, plain.Reader{})
		}
	}
	return all
}

func (l *clusterLoop) cluster() kube.Config { return l.settings.config.Cluster.Kube }

func (l *clusterLoop) scaler(decisions server.Decisions, a *access.Access) server.ScalerConfig {
	l.leader.access = a
	return server.ScalerConfig{Decisions: current{decisions, &l.past}, Leader: l.leader.ask}
}

// current are the decisions since this process has led last: those before tell nothing of what
// others have decided meanwhile.
type current struct {
	all  server.Decisions
	past *atomic.Uint64
}

// Newest implements [server.Decisions].
func (c current) Newest() (controller.Remembered, bool) {
	newest, ok := c.all.Newest()
	return newest, ok && newest.Sequence > c.past.Load()
}

// Wait implements [server.Decisions].
func (c current) Wait(ctx context.Context, sequence uint64) error {
	return c.all.Wait(ctx, max(sequence, c.past.Load()))
}

func (l *clusterLoop) show(own *server.Fleet) poolwrightv1.FleetServiceServer {
	return server.Follow(own, l.leader.ask)
}

func (l *clusterLoop) live() error { return l.pulse.live(time.Now()) }

// ready is whether this process could plan: it has read the cluster, and decides where it leads.
func (l *clusterLoop) ready() error {
	return errors.Join(l.watch.Synced(), l.pulse.ready(time.Now()))
}

func (l *clusterLoop) listening(grpc, http net.Addr) {
	l.address = reachable(grpc)
	l.log.Info("listening", "grpc", grpc.String(), "http", http.String())
}

// podIP is the variable of the environment with the address of the pod.
const podIP = "POD_IP"

// reachable is where others reach what listens on an address: there, or at that port of the
// pod.
func reachable(a net.Addr) string {
	ip := os.Getenv(podIP)
	_, port, err := net.SplitHostPort(a.String())
	if ip == "" || err != nil {
		return a.String()
	}
	return net.JoinHostPort(ip, port)
}

// elected is told who leads, and where a lease was given back that nobody does.
func (l *clusterLoop) elected(now election.Leader) {
	if now.Identity == "" {
		l.log.Info("nobody leads")
	} else {
		l.log.Info("a leader was elected", "leader", now.Identity, "self", now.Self)
	}
	if err := l.leader.changed(now); err != nil {
		l.log.Error("the leader cannot be asked", "address", now.Address, "error", err)
	}
}

func (l *clusterLoop) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		l.watch.Run(ctx)
		return nil
	})
	group.Go(func() error {
		e := l.settings.config.Cluster.Election
		if e.Disabled {
			_ = l.leader.changed(election.Leader{Self: true}) // nobody is connected to
			return l.lead(ctx, context.WithoutCancel(ctx), nil)
		}
		if e.Config.Namespace == "" {
			e.Config.Namespace = l.namespace
		}
		e.Config.Address, e.Config.Changed = l.address, l.elected
		return election.Run(ctx, l.client.Typed, e.Config, l.lead)
	})
	return group.Wait()
}

// contested are the conditions of workloads that somebody else scales too.
func (l *clusterLoop) contested() []telemetry.Condition {
	var all []telemetry.Condition
	for _, name := range l.catalog.Contested() {
		all = append(all, telemetry.Condition{Workload: name, Type: cluster.OwnershipConflict})
	}
	return all
}

// objects are the names of the objects that declare variants.
func (l *clusterLoop) objects() map[telemetry.Variant]string {
	all := make(map[telemetry.Variant]string)
	l.catalog.Objects(func(workload, variant, object string) {
		all[telemetry.Variant{Workload: workload, Variant: variant}] = object
	})
	return all
}

// advised are the variants whose changes are only published.
func (l *clusterLoop) advised() map[telemetry.Variant]bool {
	all := make(map[telemetry.Variant]bool)
	l.catalog.Advised(func(workload, variant string) { all[telemetry.Variant{Workload: workload, Variant: variant}] = true })
	return all
}

// term is the time of a leader, to whose controller it is observer and actuator.
type term struct {
	*clusterLoop
	mandate   *election.Mandate
	cycle     cycle
	observed  metrics.Config
	observer  *metrics.Observer
	decisions decisionLog
	// measurements and refusals are what was logged of them in the last cycle.
	measurements, refusals news
}

// observe observes from now on as the configuration says.
func (t *term) observe() error {
	config := t.settings.config.Metrics
	if t.observer != nil && reflect.DeepEqual(config, t.observed) {
		return nil
	}
	observer, err := metrics.New(config, t.series, t.catalog, t.queried)
	if err != nil {
		return err
	}
	t.observed, t.observer = config, observer
	return nil
}

// follow takes over what has changed in the configuration.
func (t *term) follow() {
	changed, err := t.settings.follow()
	if changed {
		mistake := t.observe()
		t.settings.refused.Store(mistake != nil)
		err = errors.Join(err, mistake)
		t.log.Info("the configuration has changed")
	}
	if err != nil {
		t.log.Error("not all of the configuration counts", "error", err)
	}
}

// run runs one cycle, unless that is the next leader's.
func (t *term) run(ctx context.Context) {
	if t.mandate.Valid() != nil {
		return
	}
	t.refused()
	if _, err := t.cycle.run(ctx, time.Now(), t.settings.config.Cycle, t.settings.config.Overlay.Fleet.Objective); err != nil {
		t.log.Error("the cycle failed", "error", err)
	}
}

// refused logs what may not be read.
func (t *term) refused() {
	t.refusals.begin()
	for _, err := range t.watch.Refused() {
		if t.refusals.add(err.Error()) {
			t.log.Warn("not all of the cluster may be read", "error", err)
		}
	}
}

// decided logs a cycle and publishes it.
func (t *term) decided(ctx context.Context, e *controller.Entry) telemetry.Declared {
	t.sequence = e.Sequence
	t.decisions.report(e)
	t.publish(ctx, e)
	return telemetry.Declared{Conditions: t.contested(), Objects: t.objects(), Advised: t.advised()}
}

// publish writes what a cycle means for the objects of the cluster, and tells of it.
func (t *term) publish(ctx context.Context, e *controller.Entry) {
	if t.mandate.Valid() != nil {
		return // that is the next leader's
	}
	patches, events := t.catalog.Report(e)
	if err := t.actuator.Publish(ctx, patches, append(events, t.actuator.Events(e)...)); err != nil {
		t.log.Error("not all was published", "sequence", e.Sequence, "error", err)
	}
}

// queried is told how the queries of a cycle went.
func (t *term) queried(r metrics.Report) {
	t.metrics.Observed(r)
	t.measurements.begin()
	for _, failure := range r.Failures {
		if t.measurements.add(failure.Error()) {
			t.log.Warn("metrics", "failure", failure)
		}
	}
	for _, warning := range r.Warnings {
		if t.measurements.add(warning) {
			t.log.Warn("metrics", "warning", warning)
		}
	}
}

// Observe implements [controller.Observer].
func (t *term) Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	return t.observer.Observe(ctx, fleet)
}

// Apply implements [controller.Actuator]: nothing is written without a valid mandate.
func (t *term) Apply(ctx context.Context, changes []planner.Change) []error {
	if err := t.mandate.Valid(); err != nil {
		errs := make([]error, len(changes))
		for i := range errs {
			errs[i] = fmt.Errorf("not written: %w", err)
		}
		return errs
	}
	return t.actuator.Apply(ctx, changes)
}

// series says where the metrics of a workload are, as the catalog found it.
func (t *term) series(w *planner.Workload) metrics.Series {
	s, _ := t.catalog.Series(w.QualifiedName())
	series := metrics.Series{Engine: metrics.Engine(s.Engine), Selector: s.Selector, ModelLabel: s.ModelLabel, Parts: parts(s.Parts)}
	if s.Port != 0 {
		series.Scrape = &metrics.Scrape{Port: s.Port, Path: s.Path}
	}
	if g := s.Gateway; g != nil {
		series.Gateway = &metrics.Gateway{Selector: g.Selector, ModelLabel: g.ModelLabel}
	}
	return series
}

// parts are the pods of replicas as package metrics has them.
func parts(of map[string][]resource.Part) map[string][]metrics.Part {
	if of == nil {
		return nil
	}
	all := make(map[string][]metrics.Part, len(of))
	for variant, parts := range of {
		for _, p := range parts {
			all[variant] = append(all[variant], metrics.Part(p))
		}
	}
	return all
}
