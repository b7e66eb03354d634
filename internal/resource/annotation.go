package resource

// AnnotationDomain begins the names of the annotations that Poolwright reads.
const AnnotationDomain = "poolwright.dev/"

// WorkloadAnnotation lets an object without an API of its own join a workload of its
// namespace, by name (package sources/plain). It does not stand for a field of the overlay,
// as those do that package sources/overlay reads.
const WorkloadAnnotation = AnnotationDomain + "workload"
