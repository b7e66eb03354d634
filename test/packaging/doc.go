// Package packaging tests what users install: the chart, the kustomization, the Dockerfile and
// the archives. With the build tag packaging it needs no cluster; with e2e it installs them on
// a real API server as well, and checks that every right which they grant is needed.
package packaging
