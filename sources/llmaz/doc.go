// Package llmaz reads the resources of llmaz: OpenModel, Playground, Service and
// BackendRuntime.
//
// A workload is an OpenModel in a namespace; its variants are the Playgrounds there that
// claim it, and the Services that no Playground controls. What is scaled is always the
// Playground or that Service: llmaz reverts what others write to the objects below.
//
// The statuses belong to llmaz's controllers, which keep conditions of types that they do
// not know. Ours stand beside theirs, under types that begin with poolwright.dev/.
//
// docs/conformance has a table of every field: read, written or ignored, and why.
package llmaz
