//go:build linux

package clustertest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/overlay"
)

// Loop is the production loop, but for what it measures, with the rights of its service
// account.
type Loop struct {
	catalog    *cluster.Catalog
	actuator   *actuator.Actuator
	controller *controller.Controller
}

// New returns a loop that watches the cluster until the test ends. The rights have been
// given by deploy/kubernetes/rbac.yaml.
func New(t *testing.T, c *controlplane.ControlPlane, observer controller.Observer, said *overlay.Overlay, readers ...resource.Reader) *Loop {
	t.Helper()
	account, err := c.ServiceAccount(t.Context(), "poolwright", "poolwright")
	require.NoError(t, err)
	client, err := kube.New(account)
	require.NoError(t, err)
	watch := cluster.NewWatch(cluster.WatchConfig{Client: client.Dynamic, Mapper: client.Mapper, Kinds: cluster.Kinds(readers)})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watch.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	l := &Loop{catalog: cluster.New(cluster.Config{Watch: watch, Readers: readers, Overlay: func() *overlay.Overlay { return said }})}
	l.actuator = actuator.New(actuator.Config{Client: client, Targets: l.catalog})
	l.controller = controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: l.catalog, Observer: observer, Actuator: l.actuator,
	})
	return l
}

// Cycle goes round once, and writes what it means.
func (l *Loop) Cycle(ctx context.Context) (controller.Entry, error) {
	e, err := l.controller.Tick(ctx, time.Now(), nil)
	if err != nil {
		return e, err
	}
	patches, events := l.catalog.Report(&e)
	err = l.actuator.Publish(ctx, patches, append(events, l.actuator.Events(&e)...))
	return e, err
}
