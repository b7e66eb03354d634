// Package llmd reads workloads out of the VariantAutoscalings of llm-d
// (llmd.ai/v1alpha1), in all shapes that are in the field, and says what is to be written
// into their status. docs/conformance/llmd.md goes through the API field by field.
//
// The shapes are told apart by what an object has: coefficients beside the accelerator or
// in perfParms, a scaleTargetRef or none.
//
// # Workloads and variants
//
// The objects of a namespace that ask for one model in one service class declare one
// workload together, so that its traffic counts once. Each of their accelerators is a
// variant, named "object/accelerator".
//
// An object has one scale target, which runs on one type of accelerator. That variant is
// scaled. To move to another type, somebody must deploy something else, so the variants of
// the other accelerators get no replicas: the plan counts on nothing that is not there.
// Where one of them would be cheaper, by more than the transition penalty of the llm-d
// family, the status recommends it in desiredOptimizedAlloc, with the replicas that it
// would need; the target is scaled on the accelerator in use as long as nobody follows, and
// actuation.applied is false.
package llmd
