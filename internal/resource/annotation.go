package resource

// AnnotationDomain begins the names of the annotations that Poolwright reads.
const AnnotationDomain = "poolwright.dev/"

// Annotations that do not stand for a field of the overlay, as those do that package
// sources/overlay reads.
const (
	// WorkloadAnnotation lets an object without an API of its own join a workload of its
	// namespace, by name (package sources/plain).
	WorkloadAnnotation = AnnotationDomain + "workload"
	// WeightsAnnotation lets the weights of a route be written, where it is "true".
	WeightsAnnotation = AnnotationDomain + "weights"
)
