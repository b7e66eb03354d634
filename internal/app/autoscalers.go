package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// AutoscalerChoice says which autoscalers to compare.
type AutoscalerChoice struct {
	// Kinds are in the place of the simulation's autoscalers, each in its default settings.
	Kinds []string
	// All: where neither names any, all that there are.
	All bool
	// Grid: each kind in all settings of its published grid.
	Grid bool
}

// Autoscalers are the names of all kinds.
func Autoscalers() []string {
	var names []string
	for _, s := range autoscaler.Kinds() {
		if name := kindOf(message.OfAutoscaler(s)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// kindOf is the kind of an autoscaler as it is written on the command line.
func kindOf(m *poolwrightv1.Autoscaler) string {
	r := m.ProtoReflect()
	return asFlag(string(r.WhichOneof(r.Descriptor().Oneofs().ByName("kind")).Name()))
}

// apply puts what is chosen into a simulation.
func (c *AutoscalerChoice) apply(m *poolwrightv1.Simulation) error {
	for _, kind := range c.Kinds {
		if !slices.Contains(Autoscalers(), asFlag(kind)) {
			return fmt.Errorf("--autoscalers: there is no %q: must be of %s", kind, strings.Join(Autoscalers(), ", "))
		}
	}
	if len(c.Kinds) > 0 || len(m.GetAutoscalers()) == 0 && c.All {
		m.Autoscalers = nil
		for _, s := range autoscaler.Kinds() {
			one := message.OfAutoscaler(s)
			if len(c.Kinds) == 0 || slices.ContainsFunc(c.Kinds, func(kind string) bool { return asFlag(kind) == kindOf(one) }) {
				m.Autoscalers = append(m.Autoscalers, one)
			}
		}
	}
	if c.Grid {
		return grid(m)
	}
	return nil
}

// grid puts the whole grid in the place of each autoscaler, each setting once.
func grid(m *poolwrightv1.Simulation) error {
	chosen, err := message.Autoscalers(m.GetAutoscalers())
	if err != nil {
		return err
	}
	m.Autoscalers = nil
	seen := make(map[string]bool)
	for _, a := range chosen {
		for _, s := range a.Settings.Grid() {
			if !seen[s.Name()] {
				seen[s.Name()] = true
				m.Autoscalers = append(m.Autoscalers, message.OfAutoscaler(s))
			}
		}
	}
	return nil
}
