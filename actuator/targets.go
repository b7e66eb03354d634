package actuator

import "github.com/poolwright/poolwright/internal/resource"

// Targets knows what the variants of the fleet scale. It is asked by many goroutines.
type Targets interface {
	// Target returns the target of a variant, by the qualified name of its workload and its
	// own name, as of the last snapshot; false if there is none.
	Target(workload, variant string) (resource.Target, bool)
}
