// Package kube connects to a Kubernetes cluster.
package kube
