//go:build e2e && linux

package packaging

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

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

// process is the program as a pod of the Deployment would run it.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan error
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
	p := &process{log: filepath.Join(root, "log"), ended: make(chan error, 1)}
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
