// Package keda asks the external scaler of package server with KEDA's own client.
//
// KEDA has its client in one package with the scalers of dozens of services, which takes
// minutes to compile. So the two files that make up the client lie in scalers, unchanged,
// which a test sees to, and the rest of KEDA comes from its module.
package keda
