//go:build linux

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Config is what differs between tests.
type Config struct {
	// HPASyncPeriod is how often the HorizontalPodAutoscaler acts; 0 = 2 s.
	HPASyncPeriod time.Duration
	// ScrapeInterval of Prometheus; 0 = 1 s.
	ScrapeInterval time.Duration
	// NodeLease is how long the lease of a node lasts, which is renewed four times as often; 0 = 40 s,
	// as kubelets have it.
	NodeLease time.Duration
	// RuleFiles are rules that Prometheus evaluates, in intervals of ScrapeInterval.
	RuleFiles []string
}

// ControlPlane is a running control plane. Its components can be stopped and started
// again one by one.
type ControlPlane struct {
	Etcd, APIServer, ControllerManager, Scheduler, Kwok, Prometheus *Component

	// PodNetwork is where pods have their addresses.
	PodNetwork string
	// PrometheusURL is where Prometheus answers. It asks for its targets, over and over, at
	// http://TargetsAddress/targets (http_sd), where nobody need listen.
	PrometheusURL, TargetsAddress string

	// etcdURL is where etcd answers.
	etcdURL string
	// folder holds everything, programs the folder of what runs.
	folder, programs string
	network          *network
	admin            *rest.Config
}

// New starts a control plane for a test, which fails if that fails, and stops it when the
// test ends. Where the test has failed, the ends of the components' logs are logged.
func New(t testing.TB, config Config) *ControlPlane {
	t.Helper()
	c, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, component := range c.components() {
				t.Logf("%s:\n%s", component.name, component.tail())
			}
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Start starts a control plane and returns when it is ready. Whoever starts it stops it;
// after an error nothing runs.
func Start(ctx context.Context, config Config) (*ControlPlane, error) {
	c := &ControlPlane{}
	if err := c.start(ctx, &config); err != nil {
		_ = c.Stop() // the first error counts
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, config *Config) (err error) {
	if c.programs, err = programs(); err != nil {
		return err
	}
	if c.folder, err = os.MkdirTemp("", "poolwright-controlplane"); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	if c.network, err = claimNetwork(); err != nil {
		return err
	}
	c.PodNetwork = c.network.pods
	if err := c.configure(config); err != nil {
		return err
	}
	if err := c.Prometheus.launch(); err != nil {
		return err
	}
	for _, component := range []*Component{c.Etcd, c.APIServer, c.ControllerManager, c.Scheduler, c.Kwok} {
		if err := component.Start(ctx); err != nil {
			return err
		}
	}
	return c.Prometheus.wait(ctx)
}

// components are those that were configured, in the order in which they stop: etcd last,
// as the API server ends badly without it.
func (c *ControlPlane) components() []*Component {
	var all []*Component
	for _, component := range []*Component{c.Prometheus, c.Kwok, c.Scheduler, c.ControllerManager, c.APIServer, c.Etcd} {
		if component != nil {
			all = append(all, component)
		}
	}
	return all
}

// Stop kills all components and removes what they kept.
func (c *ControlPlane) Stop() error {
	for _, component := range c.components() {
		component.Stop()
	}
	if c.network != nil {
		_ = c.network.claim.Close()
	}
	if err := os.RemoveAll(c.folder); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	return nil
}

// Admin may do everything. The caller owns the copy.
func (c *ControlPlane) Admin() *rest.Config { return rest.CopyConfig(c.admin) }

// FreeAddresses are addresses of the control plane's network that nobody listens on.
func (c *ControlPlane) FreeAddresses(count int) ([]string, error) { return c.network.addresses(count) }

// Programs is the folder that kubectl is in.
func (c *ControlPlane) Programs() string { return c.programs }

func (c *ControlPlane) path(name string) string { return filepath.Join(c.folder, name) }
