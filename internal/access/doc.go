// Package access knows who asks and what they may: certificates that are read again when
// they change, authenticators and authorizers.
//
// It knows no transport: who speaks one gives it what a caller has shown, and asks once
// per call what the caller may. Users, groups and those who show nothing have the names of
// Kubernetes.
package access
