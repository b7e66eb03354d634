// Package packaging tests what users install. With the build tag packaging these are the chart,
// the kustomization, the Dockerfile and the archives, as they are; with e2e the chart and the
// kustomization on a real API server, and that every right which they grant is needed.
package packaging
