//go:build linux

package controlplane

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
)

// issue writes the API server's certificate and key, which also signs the tokens of
// service accounts, and makes the admin.
func (c *ControlPlane) issue(url string) error {
	certificate, key, err := certutil.GenerateSelfSignedCertKey(c.network.host, []net.IP{net.ParseIP(c.network.host)}, nil)
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	token := rand.Text()
	for name, text := range map[string][]byte{
		"certificate.pem": certificate,
		"key.pem":         key,
		"tokens.csv":      []byte(token + ",admin,admin,system:masters\n"),
	} {
		if err := os.WriteFile(c.path(name), text, 0o600); err != nil {
			return fmt.Errorf("controlplane: %w", err)
		}
	}
	c.admin = &rest.Config{Host: url, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: certificate}, QPS: 500, Burst: 1000}
	return nil
}

// ServiceAccount is a service account that exists, with no more rights than it was
// given, for an hour.
func (c *ControlPlane) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("controlplane: token of %s/%s: %w", namespace, name, err)
	}
	account := c.Admin()
	account.BearerToken = request.Status.Token
	return account, nil
}

// Kubeconfig writes a file with which a program is who the configuration says. It is
// named, and lasts as long as the control plane.
func (c *ControlPlane) Kubeconfig(name string, user *rest.Config) (file string, err error) {
	k := clientcmdapi.NewConfig()
	k.Clusters[name] = &clientcmdapi.Cluster{Server: user.Host, CertificateAuthorityData: user.CAData}
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: user.BearerToken}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	file = c.path(name + ".kubeconfig")
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		return "", fmt.Errorf("controlplane: %w", err)
	}
	return file, nil
}

// Environment is that of this process, but for kubectl, which is the one of the control plane
// there, and whoever looks for a kubeconfig, who is admin.
func (c *ControlPlane) Environment() []string {
	return append(os.Environ(),
		"KUBECONFIG="+c.path("admin.kubeconfig"), "HOME="+c.folder,
		"PATH="+c.programs+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Kubectl runs kubectl as admin and returns what it prints.
func (c *ControlPlane) Kubectl(ctx context.Context, arguments ...string) (string, error) {
	kubectl := exec.CommandContext(ctx, c.programs+"/kubectl", arguments...) //nolint:gosec // runs what was built for it
	kubectl.Env = c.Environment()
	out, err := kubectl.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("controlplane: kubectl %q: %w: %s", arguments, err, out)
	}
	return string(out), nil
}
