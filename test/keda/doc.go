// Package keda asks the external scaler of package server with KEDA's own client.
//
// `make test-unit` runs it; alone: `tools/keda.sh test .`, since a part of KEDA is laid over
// the folder scalers.
package keda
