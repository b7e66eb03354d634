// Package servertest is a real API server with objects on it, for tests of what reads and
// writes them. They have the build tag e2e.
package servertest
