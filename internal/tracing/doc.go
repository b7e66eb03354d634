// Package tracing sends traces to a collector of OpenTelemetry: of the loop's cycles, with what
// is read, observed, queried, solved and written in them. Calls are traced by package server
// with the same provider.
package tracing
