package simulation

import (
	"errors"
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// violations collects what is wrong.
type violations []error

func (v *violations) add(format string, args ...any) {
	*v = append(*v, fmt.Errorf("simulation: "+format, args...))
}

// validate finds everything that is wrong with a configuration.
func (c *Config) validate() error {
	var v violations
	if c.Requests == nil {
		v.add("requests: there are none")
	}
	if !(c.StartupSCV >= 0 && c.StartupSCV <= maxStartupSCV) {
		v.add("startupSCV: %v is not in [0, %d]", c.StartupSCV, maxStartupSCV)
	}
	if c.Routing < LeastLoaded || c.Routing > PrefixAware {
		v.add("routing: %d is not known", c.Routing)
	}
	if c.Gateway.MostHeld < 0 {
		v.add("gateway.mostHeld: %d < 0", c.Gateway.MostHeld)
	}
	if c.Gateway.Timeout < 0 {
		v.add("gateway.timeout: %v < 0", c.Gateway.Timeout)
	}
	if c.Window != 0 && c.Window < leastWindow {
		v.add("window: %v < %v", c.Window, leastWindow)
	}
	if c.RateWindow < 0 || c.RateWindow > mostRateWindow {
		v.add("rateWindow: %v is not in [0s, %v]", c.RateWindow, mostRateWindow)
	}
	if n := len(c.Undeclared); n != 0 && n != len(c.Fleet.Workloads) {
		v.add("undeclared: of %d workloads for %d", n, len(c.Fleet.Workloads))
	}
	pools := c.validatePools(&v)
	for i := range c.Disruptions {
		c.Disruptions[i].validate(fmt.Sprintf("disruptions[%d]", i), pools, &v)
	}
	replicas := 0
	for i := range c.Fleet.Workloads {
		c.validateWorkload(i, &v)
		for j := range c.Fleet.Workloads[i].Variants {
			replicas += c.Fleet.Workloads[i].Variants[j].CurrentReplicas
		}
	}
	if replicas > maxReplicas {
		v.add("fleet.workloads: %d replicas at the start are more than the %d that a cluster may have", replicas, maxReplicas)
	}
	return errors.Join(v...)
}

// validatePools returns the names of the pools.
func (c *Config) validatePools(v *violations) map[string]bool {
	names := make(map[string]bool)
	for i := range c.Fleet.Pools {
		p := &c.Fleet.Pools[i]
		if names[p.Name] {
			v.add("fleet.pools[%d].name: %q is the name of another pool", i, p.Name)
		}
		names[p.Name] = true
		if p.Capacity.Limited && p.Capacity.Value < 0 {
			v.add("fleet.pools[%d].capacity: %d < 0", i, p.Capacity.Value)
		}
		if p.DevicesPerNode < 0 {
			v.add("fleet.pools[%d].devicesPerNode: %d < 0", i, p.DevicesPerNode)
		}
	}
	return names
}

func (d *Disruption) validate(path string, pools map[string]bool, v *violations) {
	if !pools[d.Pool] {
		v.add("%s.pool: there is no pool %q", path, d.Pool)
	}
	if d.Devices < 1 {
		v.add("%s.devices: %d < 1", path, d.Devices)
	}
	if d.At < 0 {
		v.add("%s.at: %v < 0", path, d.At)
	}
	if d.ReturnsAfter < 0 {
		v.add("%s.returnsAfter: %v < 0", path, d.ReturnsAfter)
	}
	if d.Notice < 0 {
		v.add("%s.notice: %v < 0", path, d.Notice)
	}
}

func (c *Config) validateWorkload(i int, v *violations) {
	w := &c.Fleet.Workloads[i]
	prefill, decode := false, false
	for j := range w.Variants {
		c.validateVariant(w, j, fmt.Sprintf("fleet.workloads[%d].variants[%d]", i, j), v)
		prefill = prefill || w.Variants[j].Role == optimizer.Prefill
		decode = decode || w.Variants[j].Role == optimizer.Decode
	}
	if len(w.Variants) == 0 {
		v.add("fleet.workloads[%d].variants: there is none", i)
	}
	if prefill != decode {
		v.add("fleet.workloads[%d].variants: one role of prefill and decode is missing", i)
	}
}

func (c *Config) validateVariant(w *planner.Workload, j int, path string, v *violations) {
	one := &w.Variants[j]
	if len(one.Pools) == 0 {
		v.add("%s.pools: there is none", path)
	}
	for k, p := range one.Pools {
		if p < 0 || p >= len(c.Fleet.Pools) {
			v.add("%s.pools[%d]: pool %d of %d", path, k, p, len(c.Fleet.Pools))
		}
	}
	for _, field := range [...]struct {
		name  string
		value int
	}{
		{"devicesPerReplica", one.DevicesPerReplica},
		{"nodesPerReplica", one.NodesPerReplica},
		{"currentReplicas", one.CurrentReplicas},
	} {
		if field.value < 0 {
			v.add("%s.%s: %d < 0", path, field.name, field.value)
		}
	}
	if one.Startup < 0 {
		v.add("%s.startup: %v < 0", path, one.Startup)
	}
	if one.Replica == nil && !(one.Capacity > 0) {
		v.add("%s.profile: there is neither a profile nor a capacity to simulate", path)
		return
	}
	if one.Replica == nil && one.Role != optimizer.Whole {
		v.add("%s.profile: a role needs one", path)
		return
	}
	machine, _ := machineOf(one)
	if _, err := replica.New(machine); err != nil {
		v.add("%s.profile: %w", path, err)
	} else if _, _, err := sustained(one, w); err != nil {
		v.add("%s: %w", path, err)
	}
}

// check says what is wrong with a request, as of the moment of its arrival.
func (c *Cluster) check(r *trace.Request) error {
	switch {
	case !(r.At >= c.last):
		return fmt.Errorf("simulation: request at %v s comes after one at %v s", r.At, c.last)
	case r.Workload < 0 || r.Workload >= len(c.workloads):
		return fmt.Errorf("simulation: request at %v s: workload %d of %d", r.At, r.Workload, len(c.workloads))
	case r.Input < 0 || r.Input > maxTokens || r.Output < 1 || r.Output > maxTokens:
		return fmt.Errorf("simulation: request at %v s: %d input and %d output tokens, not in [0, %d] and [1, %[4]d]",
			r.At, r.Input, r.Output, maxTokens)
	case len(r.Prefix) > 0 && r.BlockTokens < 1:
		return fmt.Errorf("simulation: request at %v s: %d tokens in a block of its prefix", r.At, r.BlockTokens)
	}
	c.last = r.At
	return nil
}

// maxTokens bounds the lengths of requests.
const maxTokens = 1 << 30
