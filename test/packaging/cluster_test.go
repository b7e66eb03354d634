//go:build e2e && linux

package packaging

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"

	"github.com/poolwright/poolwright/internal/controlplane"
)

const (
	binary = "../../bin/poolwright"
	// patience is how long a condition may take to come true on a busy machine, tick how often
	// it is looked at.
	patience = 2 * time.Minute
	tick     = 100 * time.Millisecond
)

// installation is of the chart, on a control plane with the kinds of all ecosystems.
type installation struct {
	*controlplane.ControlPlane
	t      *testing.T
	client kubernetes.Interface
	// https trusts the certificate of the program.
	https *http.Client
}

func newCluster(t *testing.T) *installation {
	t.Helper()
	c := &installation{ControlPlane: controlplane.New(t, controlplane.Config{}), t: t}
	c.client = kubernetes.NewForConfigOrDie(c.Admin())
	c.define("../../deploy/crds", "../../deploy/crds/kthena-v0.1", "testdata/kinds.yaml")
	return c
}

// define installs definitions of kinds.
func (c *installation) define(paths ...string) {
	c.t.Helper()
	for _, path := range paths {
		c.kubectl("apply", "--server-side", "--force-conflicts", "-f", path)
	}
	c.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
}

func (c *installation) kubectl(arguments ...string) string {
	c.t.Helper()
	out, err := c.Kubectl(c.t.Context(), arguments...)
	require.NoError(c.t, err)
	return out
}

// install installs the chart with some values, or upgrades it.
func (c *installation) install(values ...string) {
	c.t.Helper()
	helm := exec.CommandContext(c.t.Context(), "helm", append([]string{ //nolint:gosec // built by make
		"upgrade", "--install", "poolwright", chart, "--namespace", "poolwright", "--create-namespace",
	}, values...)...)
	helm.Env = c.Environment()
	out, err := helm.CombinedOutput()
	require.NoError(c.t, err, string(out))
}

// certify makes the Secret with the certificate of the program, for the address at which tests
// ask it.
func (c *installation) certify() {
	c.t.Helper()
	addresses, err := c.FreeAddresses(1)
	require.NoError(c.t, err)
	host, _, err := net.SplitHostPort(addresses[0])
	require.NoError(c.t, err)
	certificate, key, err := certutil.GenerateSelfSignedCertKey("poolwright", []net.IP{net.ParseIP(host)}, nil)
	require.NoError(c.t, err)
	_, err = c.client.CoreV1().Secrets("poolwright").Create(c.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "poolwright-tls"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}, metav1.CreateOptions{})
	require.NoError(c.t, err)
	roots := x509.NewCertPool()
	require.True(c.t, roots.AppendCertsFromPEM(certificate))
	c.https = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}}
}

// process is the program as a pod of the Deployment would run it.
type process struct {
	command *exec.Cmd
	log     string
	address string // of HTTP
	ended   chan error
}

// ask asks a process over HTTPS with a token, and returns the status and the answer; without
// either, what went wrong.
func (c *installation) ask(p *process, path, token string) (status int, answer string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "https://"+p.address+path, http.NoBody)
	require.NoError(c.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.https.Do(request)
	if err != nil {
		return 0, err.Error() // it may not listen yet
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	return response.StatusCode, string(body)
}

// start runs the program with the arguments and files that the Deployment gives its container,
// and the rights of its account.
func (c *installation) start(environment ...string) *process {
	c.t.Helper()
	deployment, err := c.client.AppsV1().Deployments("poolwright").Get(c.t.Context(), "poolwright", metav1.GetOptions{})
	require.NoError(c.t, err)
	root := c.t.TempDir()
	c.mount(deployment, root)
	account, err := c.ServiceAccount(c.t.Context(), "poolwright", deployment.Spec.Template.Spec.ServiceAccountName)
	require.NoError(c.t, err)
	kubeconfig, err := c.Kubeconfig("poolwright", account)
	require.NoError(c.t, err)
	addresses, err := c.FreeAddresses(2)
	require.NoError(c.t, err)

	var arguments []string
	for _, argument := range deployment.Spec.Template.Spec.Containers[0].Args {
		arguments = append(arguments, strings.ReplaceAll(argument, "=/etc", "="+root+"/etc"))
	}
	p := &process{log: filepath.Join(root, "log"), address: addresses[1], ended: make(chan error, 1)}
	log, err := os.Create(p.log)
	require.NoError(c.t, err)
	defer func() { _ = log.Close() }()
	p.command = exec.Command(binary, append(arguments, "--grpc-address="+addresses[0], "--http-address="+addresses[1])...) //nolint:gosec // the program under test; stop ends it
	p.command.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig), environment...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(c.t, p.command.Start())
	go func() { p.ended <- p.command.Wait() }()
	return p
}

// mount writes the files of a Deployment's volumes into a folder, as far as they exist.
func (c *installation) mount(deployment *appsv1.Deployment, root string) {
	c.t.Helper()
	pod := &deployment.Spec.Template.Spec
	for _, mount := range pod.Containers[0].VolumeMounts {
		folder := filepath.Join(root, mount.MountPath)
		require.NoError(c.t, os.MkdirAll(folder, 0o700))
		for _, volume := range pod.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			files := map[string][]byte{}
			switch {
			case volume.ConfigMap != nil:
				object, err := c.client.CoreV1().ConfigMaps(deployment.Namespace).Get(c.t.Context(), volume.ConfigMap.Name, metav1.GetOptions{})
				require.NoError(c.t, err)
				for name, text := range object.Data {
					files[name] = []byte(strings.ReplaceAll(text, " /etc", " "+root+"/etc"))
				}
			case volume.Secret != nil:
				object, err := c.client.CoreV1().Secrets(deployment.Namespace).Get(c.t.Context(), volume.Secret.SecretName, metav1.GetOptions{})
				require.NoError(c.t, err)
				files = object.Data
			}
			for name, text := range files {
				require.NoError(c.t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
			}
		}
	}
}

// stop ends the process as Kubernetes does, and fails if it ends badly.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-p.ended, p)
}

// says is the log.
func (p *process) says() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// String is the end of the log, for messages.
func (p *process) String() string {
	text := p.says()
	return text[max(0, len(text)-20_000):]
}

// until waits for a condition while a process runs.
func (p *process) until(t *testing.T, patience time.Duration, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		err := condition()
		if err == nil {
			return
		}
		select {
		case end := <-p.ended:
			require.Fail(t, "the program has ended", "%v: %v\n%s", end, err, p)
		case <-ticker.C:
		}
		require.True(t, time.Now().Before(deadline), "%v\n%s", errors.Join(fmt.Errorf("after %s", patience), err), p)
	}
}
