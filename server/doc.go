// Package server answers gRPC and REST: translation only.
//
// [Optimizer] is the service itself, without a network. [New] puts it, health,
// reflection, the REST gateway, the OpenAPI document and metrics behind one gRPC
// and one HTTP listener.
package server
