// Package controlplane runs a real Kubernetes control plane and Prometheus for tests.
//
// etcd, the API server, the controller manager, the scheduler and kwok, which plays
// nodes and their pods, run as processes in a temporary folder, all on one network of
// the loopback interface (127.N.0.0/16), so that several can run side by side. Each can
// be stopped and started again on its own. They are ready in a few seconds and are
// killed when the test ends. Linux only: other systems have one loopback address.
//
// The programs are built once by `make controlplane`, from the module
// test/controlplane. Prometheus is the system's (`make setup-prometheus`). Tests that
// need them have the build tag e2e, and `make e2e` runs them; alone:
//
//	go test -tags e2e -run TestName ./actuator
//
// with, in the test,
//
//	cluster := controlplane.New(t, controlplane.Config{})
//	err := cluster.AddNodes(t.Context(), controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 8))
//	client := kubernetes.NewForConfigOrDie(cluster.Admin())
//
// The API server writes down every write to a scale subresource:
// [ControlPlane.Scalings] are proof of what was changed, and by whom.
//
// Pods become ready at once, or as late as their annotation [LoadTimeAnnotation] says,
// with addresses of the loopback network, on which a test can listen.
package controlplane
