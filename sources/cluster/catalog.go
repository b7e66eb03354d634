package cluster

import (
	"context"
	"sync/atomic"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
)

// Config is what a catalog works with. All but Self is needed.
type Config struct {
	// Watch has the kinds of [Kinds].
	Watch *Watch
	// Readers of the ecosystems, the first of which keeps what two of them claim.
	Readers []resource.Reader
	// Overlay returns the one that counts now. It is called once per fleet.
	Overlay func() *overlay.Overlay
	// Self is how others see this installation.
	Self resource.Self
}

// Catalog knows the fleet of a cluster. Fleet and Report are for one goroutine, all else
// is for any.
type Catalog struct {
	config  Config
	partial bool
	latest  atomic.Pointer[snapshot]
	telling telling
}

var _ controller.Catalog = (*Catalog)(nil)

// New returns a catalog.
func New(c Config) *Catalog {
	return &Catalog{config: c, partial: len(c.Watch.config.Namespaces) > 0}
}

// Fleet implements [controller.Catalog]: the fleet of one consistent view of the cluster.
// Workloads whose mode is off are left alone. It fails where the view is too old or not
// whole.
func (c *Catalog) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	v, err := c.config.Watch.View()
	if err != nil {
		return planner.Fleet{}, nil, err
	}
	o := c.config.Overlay()
	if last := c.latest.Load(); last == nil || last.view.version != v.version || last.overlay != o {
		c.latest.Store(c.snapshot(v, o))
	}
	s := c.latest.Load()
	return s.fleet, s.pauses, nil
}
