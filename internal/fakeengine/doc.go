// Package fakeengine plays the inference engines of all pods of a cluster, for tests.
//
// A pod whose annotation [Annotation] describes an engine gets one as soon as it is
// ready: a simulated replica (package simulation/replica) that lives in real time, and a
// listener on the pod's own address and port that reports what it does under the names
// of the engine's metrics, for Prometheus and for whoever scrapes pods. That works where
// pods have addresses of this machine, as those of package internal/controlplane have.
//
// A [Fleet] offers each model a load, hands every request to the ready pod with the
// least to do for its batch, and keeps what became of it. A pod that is deleted ends
// what it has begun and reports no more. Requests that find no ready pod are lost; where
// a gateway stands before the model, that counts them.
//
// What goes wrong in the field can be switched on: see [Fleet.Break] and [Fleet.Restart].
package fakeengine
