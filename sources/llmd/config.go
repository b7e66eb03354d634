package llmd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Config says where the llm-d family has what its objects leave out. What is zero has a
// default.
type Config struct {
	// Namespace of the ConfigMaps that are not in the namespace of an object; empty =
	// workload-variant-autoscaler-system.
	Namespace string
	// UnitPrices is the ConfigMap with a JSON object of device and cost for each accelerator;
	// empty = accelerator-unit-costs.
	UnitPrices string
	// ServiceClasses is the ConfigMap that is searched for the model of an object whose
	// sloClassRef names none that exists; empty = service-classes-config.
	ServiceClasses string
	// CostUnits is how many units of the costs of llm-d are one of the fleet's currency: 100
	// where they are cents; 0 = 1.
	CostUnits float64
	// ScaleToZero: a workload may have no replicas at all. Otherwise the last one stays, as
	// with llm-d.
	ScaleToZero bool
}

func (c Config) withDefaults() Config {
	c.Namespace = cmp.Or(c.Namespace, "workload-variant-autoscaler-system")
	c.UnitPrices = cmp.Or(c.UnitPrices, "accelerator-unit-costs")
	c.ServiceClasses = cmp.Or(c.ServiceClasses, "service-classes-config")
	c.CostUnits = cmp.Or(c.CostUnits, 1)
	return c
}

// mostUnits keeps prices within what numbers hold.
const mostUnits = 1e6

// Validate returns all that is wrong, nil if nothing is.
func (c Config) Validate() error {
	var errs []error
	if math.IsNaN(c.CostUnits) || c.CostUnits < 0 || c.CostUnits > mostUnits {
		errs = append(errs, fmt.Errorf("llmd: costUnits: %v is not in [0, %v]", c.CostUnits, float64(mostUnits)))
	}
	return errors.Join(errs...)
}
