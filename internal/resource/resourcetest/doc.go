// Package resourcetest is a cluster made of YAML documents, for tests of what reads
// objects.
package resourcetest
