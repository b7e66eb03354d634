//go:build linux

package controlplane

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// stages is what kwok does with nodes and pods.
//
//go:embed stages.yaml
var stages []byte

const (
	defaultHPASyncPeriod  = 2 * time.Second
	defaultScrapeInterval = time.Second
	defaultNodeLease      = 40 * time.Second

	// controllers are those that run. Without the one for the lifecycle of nodes pods never
	// become ready.
	controllers = "deployment-controller,replicaset-controller,statefulset-controller,job-controller,garbage-collector-controller," +
		"namespace-controller,serviceaccount-controller,pod-garbage-collector-controller,horizontal-pod-autoscaler-controller," +
		"endpointslice-controller,disruption-controller,resourcequota-controller,node-lifecycle-controller,taint-eviction-controller"
)

// configure says how every component is run, and writes the files that they read.
func (c *ControlPlane) configure(config *Config) error {
	prometheus, err := prometheus()
	if err != nil {
		return err
	}
	addresses, err := c.network.addresses(8)
	if err != nil {
		return err
	}
	etcd, peers, apiServer, prometheusAddress := addresses[0], addresses[1], addresses[2], addresses[3]
	c.TargetsAddress = addresses[4]
	if err := c.issue("https://" + apiServer); err != nil {
		return err
	}
	kubeconfig, err := c.Kubeconfig("admin", c.admin)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path("stages.yaml"), stages, 0o600); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	if err := os.WriteFile(c.path("audit.yaml"), audit, 0o600); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	if err := config.writePrometheus(c.path("prometheus.yml"), c.TargetsAddress); err != nil {
		return err
	}

	c.etcdURL = "http://" + etcd
	c.Etcd = c.component("etcd",
		"--data-dir="+c.path("etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=http://"+etcd, "--advertise-client-urls=http://"+etcd,
		"--listen-peer-urls=http://"+peers, "--initial-advertise-peer-urls=http://"+peers,
		"--initial-cluster=default=http://"+peers)
	c.Etcd.ready = answers(http.DefaultClient, c.etcdURL+"/health")
	if c.APIServer, err = c.apiServer(apiServer, etcd); err != nil {
		return err
	}
	if err := c.clients(config, kubeconfig, addresses[5:]); err != nil {
		return err
	}
	c.Prometheus = c.component("prometheus",
		"--config.file="+c.path("prometheus.yml"), "--storage.tsdb.path="+c.path("prometheus"),
		"--web.listen-address="+prometheusAddress, "--scrape.discovery-reload-interval=1s")
	c.Prometheus.command[0] = prometheus
	c.PrometheusURL = "http://" + prometheusAddress
	c.Prometheus.ready = answers(http.DefaultClient, c.PrometheusURL+"/-/ready")
	return nil
}

// clients are the components that talk to the API server. Each serves its health on an
// address.
func (c *ControlPlane) clients(config *Config, kubeconfig string, addresses []string) error {
	client, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	kubernetes := func(name, address string, arguments ...string) (*Component, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("controlplane: %w", err)
		}
		component := c.component(name, append(arguments,
			"--kubeconfig="+kubeconfig, "--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000",
			"--bind-address="+host, "--secure-port="+port,
			"--tls-cert-file="+c.path("certificate.pem"), "--tls-private-key-file="+c.path("key.pem"))...)
		component.ready = answers(client, "https://"+address+"/healthz")
		return component, nil
	}
	lease := cmp.Or(config.NodeLease, defaultNodeLease)
	c.ControllerManager, err = kubernetes("kube-controller-manager", addresses[0],
		"--service-account-private-key-file="+c.path("key.pem"), "--root-ca-file="+c.path("certificate.pem"),
		fmt.Sprintf("--horizontal-pod-autoscaler-sync-period=%s", cmp.Or(config.HPASyncPeriod, defaultHPASyncPeriod)),
		fmt.Sprintf("--node-monitor-grace-period=%s", lease+lease/4), // the default, 50 s, for the default
		"--controllers="+controllers)
	if err != nil {
		return err
	}
	if c.Scheduler, err = kubernetes("kube-scheduler", addresses[1]); err != nil {
		return err
	}
	c.Kwok = c.component("kwok",
		"--kubeconfig="+kubeconfig, "--config="+c.path("stages.yaml"), "--manage-all-nodes=true",
		fmt.Sprintf("--node-lease-duration-seconds=%.0f", lease.Seconds()), "--cidr="+c.network.pods, "--node-ip="+c.network.host, "--server-address="+addresses[2])
	c.Kwok.ready = answers(http.DefaultClient, "http://"+addresses[2]+"/healthz")
	return nil
}

func (c *ControlPlane) component(name string, arguments ...string) *Component {
	return &Component{
		name:    name,
		command: append([]string{filepath.Join(c.programs, name)}, arguments...),
		log:     c.path(name + ".log"),
	}
}

func (c *ControlPlane) apiServer(address, etcd string) (*Component, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	component := c.component("kube-apiserver",
		"--etcd-servers=http://"+etcd, "--bind-address="+host, "--advertise-address="+host, "--secure-port="+port,
		"--tls-cert-file="+c.path("certificate.pem"), "--tls-private-key-file="+c.path("key.pem"), "--cert-dir="+c.path("apiserver"),
		"--service-account-issuer=https://"+address,
		"--service-account-key-file="+c.path("key.pem"), "--service-account-signing-key-file="+c.path("key.pem"),
		"--token-auth-file="+c.path("tokens.csv"), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
		// Pods need no account, and are created without waiting for it.
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true", "--profiling=false",
		"--audit-policy-file="+c.path("audit.yaml"), "--audit-log-path="+c.path("audit.log"))
	component.ready = func(ctx context.Context) error {
		if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return err
		}
		// It makes its namespaces when it is ready.
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	}
	return component, nil
}

// answers asks whether a URL answers with 200.
func answers(client *http.Client, url string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}
