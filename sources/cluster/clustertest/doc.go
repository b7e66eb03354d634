// Package clustertest runs the production loop over a control plane, for tests of readers.
package clustertest
