// Package e2e tests the program as it is installed: bin/poolwright against a real
// control plane, a real Prometheus and engines that behave like the simulated replicas.
//
// `make e2e` runs it with cycles of 2 seconds, and everything that is measured in
// cycles in proportion; `make e2e-long` with the cycles of a real cluster.
package e2e
