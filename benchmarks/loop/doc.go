// Loop measures cycles of `poolwright serve` over fleets of several sizes on a real control plane
// and a real Prometheus, by the test in test/scale.
package main
