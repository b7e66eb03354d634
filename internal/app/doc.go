// Package app wires everything: it answers the commands of the poolwright binary
// by the same service that gRPC and REST reach.
package app
