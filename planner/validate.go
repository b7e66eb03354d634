package planner

import (
	"errors"
	"fmt"
)

// validate finds all that the stages count on without looking, and reports it with its
// path. The rest is checked where it is used.
func (f *Fleet) validate() error {
	var errs []error
	for i := range f.Workloads {
		w := &f.Workloads[i]
		if len(w.Variants) == 0 {
			errs = append(errs, fmt.Errorf("planner: workloads[%d].variants: there is none", i))
		}
		if w.ZeroGrace < 0 {
			errs = append(errs, fmt.Errorf("planner: workloads[%d].zeroGrace: %v < 0", i, w.ZeroGrace))
		}
		if w.ExpansionRate != nil && *w.ExpansionRate < 0 {
			errs = append(errs, fmt.Errorf("planner: workloads[%d].expansionRate: %d < 0", i, *w.ExpansionRate))
		}
		for j := range w.Variants {
			if err := f.validateVariant(&w.Variants[j]); err != nil {
				errs = append(errs, &VariantError{Workload: i, Variant: j, Err: err})
			}
		}
	}
	return errors.Join(errs...)
}

func (f *Fleet) validateVariant(v *Variant) error {
	var errs []error
	if len(v.Pools) == 0 {
		errs = append(errs, errors.New("pools: there is none"))
	}
	for k, p := range v.Pools {
		if p < 0 || p >= len(f.Pools) {
			errs = append(errs, fmt.Errorf("pools[%d]: pool %d of %d", k, p, len(f.Pools)))
		}
	}
	for _, field := range [...]struct {
		name  string
		value int
	}{
		{"devicesPerReplica", v.DevicesPerReplica},
		{"nodesPerReplica", v.NodesPerReplica},
		{"minReplicas", v.MinReplicas},
		{"currentReplicas", v.CurrentReplicas},
		{"startingReplicas", v.StartingReplicas},
		{"leavingReplicas", v.LeavingReplicas},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d < 0", field.name, field.value))
		}
	}
	if v.Preference < 0 || v.Preference > MaxPreference {
		errs = append(errs, fmt.Errorf("preference: %d is not in [0, %d]", v.Preference, MaxPreference))
	}
	if n := len(v.PoolReplicas); n > 0 && n != len(v.Pools) {
		errs = append(errs, fmt.Errorf("poolReplicas: %d for %d pools", n, len(v.Pools)))
	}
	for k, n := range v.PoolReplicas {
		if n < 0 {
			errs = append(errs, fmt.Errorf("poolReplicas[%d]: %d < 0", k, n))
		}
	}
	return errors.Join(errs...)
}
