//go:build e2e && linux

package e2e

import (
	"crypto/rand"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/access/accesstest"
	"github.com/poolwright/poolwright/internal/controlplane"
)

// keeper is a program that knows every kind of secret.
type keeper struct {
	*cluster
	folder  string
	address string
	client  *http.Client
	process *exec.Cmd
	secrets map[string]string
}

// secret makes one up.
func (k *keeper) secret(name string) string {
	k.secrets[name] = rand.Text()
	return k.secrets[name]
}

func (k *keeper) write(name, text string) {
	k.t.Helper()
	require.NoError(k.t, os.WriteFile(filepath.Join(k.folder, name), []byte(text), 0o600)) //nolint:gosec // of the test
}

// said is what the program has logged.
func (k *keeper) said() string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.folder, "log"))
	require.NoError(k.t, err)
	return string(text)
}

// says waits until it has logged something.
func (k *keeper) says(words string) {
	k.t.Helper()
	k.until(func() bool { return strings.Contains(k.said(), words) }, "it does not say %q", words)
}

// ask asks it with a token.
func (k *keeper) ask(token, path string) (code int, text string) {
	k.t.Helper()
	request, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, "https://"+k.address+path, http.NoBody)
	require.NoError(k.t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := k.client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // only read
	answer, err := io.ReadAll(response.Body)
	require.NoError(k.t, err)
	return response.StatusCode, string(answer)
}

// plant writes the configuration with secrets of every kind.
func (k *keeper) plant(p pace) {
	k.t.Helper()
	account, err := k.ServiceAccount(k.t.Context(), "poolwright", "poolwright")
	require.NoError(k.t, err)
	k.secrets["account"] = account.BearerToken
	text, err := os.ReadFile(k.configuration("poolwright", account, p, setup{}))
	require.NoError(k.t, err)
	k.write("poolwright.yaml", strings.Replace(string(text), "metrics:\n",
		"metrics:\n  headers: {X-Key: "+k.secret("header")+"}\n  bearerTokenFile: prometheus\n", 1))
	k.write("prometheus", k.secret("token for Prometheus"))
	authority := accesstest.New(k.t, "CA")
	certificate := authority.Server(k.t, "poolwright")
	certificate.Write(k.t, k.folder)
	k.secrets["key of the certificate"] = strings.Split(string(certificate.KeyPEM), "\n")[1]
	k.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), ServerName: "poolwright"}}}
	k.write("tokens", k.secret("token")+",admin\n")
	k.write("peers", k.secret("key of processes")+k.secrets["token"])
	k.write("server.yaml", `
tls: {certificateFile: tls.crt, keyFile: tls.key}
authentication: {tokenFile: tokens, tokenReview: {}, peerKeyFile: peers}
authorization: {rules: [{users: [admin], methods: ['*']}], subjectAccessReview: {}}
tracing: {endpoint: '127.0.0.1:1', insecure: true}
`)
}

// start starts it, and what it says goes to its log.
func (k *keeper) start() {
	k.t.Helper()
	program, err := filepath.Abs(binary)
	require.NoError(k.t, err)
	addresses, err := k.FreeAddresses(2)
	require.NoError(k.t, err)
	log, err := os.Create(filepath.Join(k.folder, "log"))
	require.NoError(k.t, err)
	k.address = addresses[0]
	k.process = exec.Command(program, "serve", "--config", "poolwright.yaml", "--server-config", "server.yaml", "--ledger", "ledger", //nolint:gosec // the program under test
		"--log-level", "debug", "--http-address", addresses[0], "--grpc-address", addresses[1])
	k.process.Dir, k.process.Stdout, k.process.Stderr = k.folder, log, log
	k.process.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20"+k.secret("header for the collector"))
	k.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(k.t, k.process.Start())
	require.NoError(k.t, log.Close())
	k.t.Cleanup(func() {
		_ = k.process.Process.Kill() // it may have ended
		if k.t.Failed() {
			k.t.Log(k.said())
		}
	})
}

// fail makes everything fail that has to do with a secret.
func (k *keeper) fail() {
	k.t.Helper()
	code, _ := k.ask(k.secret("wrong token"), "/v1/fleet")
	require.Equal(k.t, http.StatusUnauthorized, code)
	code, _ = k.ask(k.secrets["account"], "/metrics")
	require.Equal(k.t, http.StatusForbidden, code)
	require.NoError(k.t, os.Remove(filepath.Join(k.folder, "prometheus")))
	k.says("bearerTokenFile: open prometheus")
	k.write("prometheus", k.secrets["token for Prometheus"]+"\n"+k.secret("line that is too much"))
	k.says("invalid header field value")
	k.write("tokens", k.secret("token without a user")+"\n")
	k.says("authentication.tokenFile: tokens: line 1: no user")
	k.write("peers", k.secret("short key"))
	k.says("authentication.peerKeyFile: peers: a key of less than")
	k.write("poolwright.yaml", "metrics: {url: 'http://user:"+k.secret("password")+"@prometheus', headers: {X-Key: "+k.secrets["header"]+"}}")
	k.says("holds a password")
	k.write("poolwright.yaml", "metrics: {headers: "+k.secrets["header"]+"}")
	k.says("metrics.headers: expected an object")
	k.Prometheus.Stop()
	k.APIServer.Stop()
	k.says("connection refused")
}

// TestSecrets: whatever goes wrong, nothing that the program says or writes has a secret in it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	p := newPace()
	k := &keeper{cluster: newCluster(t, controlplane.Config{ScrapeInterval: p.scrape}), folder: t.TempDir(), secrets: map[string]string{}}
	k.install()
	k.nodes("h100", devices)
	k.operate()
	k.applyFleet(p, "plain")
	k.offer(base, "plain")
	k.plant(p)
	k.start()
	k.until(func() bool {
		code, text := k.ask(k.secrets["token"], "/v1/decisions")
		return code == http.StatusOK && strings.Contains(text, "chat")
	}, "it does not decide")
	told := map[string]string{}
	told["cluster"] = k.kubectl("get", "events,leases,deployments,configmaps", "-A", "-o", "yaml")
	k.fail()
	for _, path := range []string{"/metrics", "/v1/fleet?view=FULL", "/v1/decisions?view=FULL", "/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		code, text := k.ask(k.secrets["token"], path)
		require.Equal(t, http.StatusOK, code, text)
		told[path] = text
	}
	require.NoError(t, k.process.Process.Signal(syscall.SIGTERM))
	_ = k.process.Wait() // its log says why it ended
	k.says("traces were lost")
	told["log"] = k.said()
	ledger, err := os.ReadFile(filepath.Join(k.folder, "ledger"))
	require.NoError(t, err)
	told["ledger"] = string(ledger)
	for where, text := range told {
		require.NotEmpty(t, text, where)
		for name, secret := range k.secrets {
			assert.NotContains(t, text, secret, "%s in %s", name, where)
		}
	}
}
