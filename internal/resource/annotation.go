package resource

// AnnotationDomain begins the names of the annotations that Poolwright reads and writes.
const AnnotationDomain = "poolwright.dev/"

// Annotations that do not stand for a field of the overlay, as those do that package
// sources/overlay reads.
const (
	// WorkloadAnnotation lets an object without an API of its own join a workload of its
	// namespace, by name (package sources/plain).
	WorkloadAnnotation = AnnotationDomain + "workload"
	// StatusAnnotation has what is to be known of an object whose status is not ours.
	StatusAnnotation = AnnotationDomain + "status"
)
