package app

import (
	"fmt"
	"slices"
	"strings"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Strategy is how a plan is made. The zero value leaves that to the fleet.
type Strategy struct{ name string }

// Strategies are the names of all strategies, in the order of the fleet's schema.
func Strategies() []string {
	numbers := make([]int32, 0, len(poolwrightv1.Objective_Strategy_name))
	for number := range poolwrightv1.Objective_Strategy_name {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	names := make([]string, 0, len(numbers))
	for _, number := range numbers {
		names = append(names, strings.ReplaceAll(strings.ToLower(poolwrightv1.Objective_Strategy_name[number]), "_", "-"))
	}
	return names
}

// String is the name of the strategy.
func (s *Strategy) String() string { return s.name }

// Set chooses a strategy by name.
func (s *Strategy) Set(name string) error {
	if !slices.Contains(Strategies(), name) {
		return fmt.Errorf("must be one of %q", Strategies())
	}
	s.name = name
	return nil
}

// Type names the values of the flag in help texts.
func (s *Strategy) Type() string { return "strategy" }

// apply puts the strategy in the place of the fleet's own.
func (s *Strategy) apply(m *poolwrightv1.Fleet) {
	if s.name == "" {
		return
	}
	if m.GetObjective() == nil {
		m.Objective = &poolwrightv1.Objective{}
	}
	number := poolwrightv1.Objective_Strategy_value[strings.ReplaceAll(strings.ToUpper(s.name), "-", "_")]
	m.Objective.Strategy = poolwrightv1.Objective_Strategy(number)
}
