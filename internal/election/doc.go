// Package election chooses, of several processes, the one that may change a cluster.
package election
