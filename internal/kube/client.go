package kube

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// Config says which cluster, and how fast it may be asked.
type Config struct {
	// Kubeconfig is a file; empty = those of $KUBECONFIG or the home folder and, where
	// there is none, the cluster that the process runs in.
	Kubeconfig string
	// Context of the file; empty = its current one.
	Context string
	// QPS and Burst limit requests per second; 0 = 500 and 1000. client-go's own defaults,
	// 5 and 10, would make a cycle that changes hundreds of objects take minutes.
	QPS   float32
	Burst int
}

// Client is everything that is needed to read and change objects of any kind.
type Client struct {
	Typed     kubernetes.Interface
	Dynamic   dynamic.Interface
	Discovery discovery.CachedDiscoveryInterface
	// Mapper knows the kinds of the cluster. It is to be reset when one is missing, which
	// may have been installed since.
	Mapper meta.ResettableRESTMapper
}

// Load reads how to reach a cluster, and the namespace that is meant where none is named.
func Load(c Config) (r *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context})
	r, err = loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errors.New("kube: no cluster: there is no kubeconfig file, and the process does not run in a cluster")
	case err != nil:
		return nil, "", fmt.Errorf("kube: no cluster: %w", err)
	}
	if namespace, _, err = loader.Namespace(); err != nil {
		return nil, "", fmt.Errorf("kube: %w", err)
	}
	r.QPS, r.Burst = 500, 1000
	if c.QPS > 0 {
		r.QPS = c.QPS
	}
	if c.Burst > 0 {
		r.Burst = c.Burst
	}
	r.UserAgent = rest.DefaultKubernetesUserAgent()
	return r, namespace, nil
}

// New returns a client. It asks the cluster nothing yet.
func New(r *rest.Config) (*Client, error) {
	r = rest.CopyConfig(r)
	transport, err := rest.HTTPClientFor(r)
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	typed, err := kubernetes.NewForConfigAndClient(r, transport)
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfigAndClient(r, transport)
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	cached := memory.NewMemCacheClient(typed.Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	return &Client{Typed: typed, Dynamic: dynamicClient, Discovery: cached, Mapper: mapper}, nil
}
