package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/poolwright/poolwright/internal/access/accesstest"
	"github.com/poolwright/poolwright/internal/short"
)

var (
	hostileCount = flag.Int64("hostile", 5_000, "number of hostile requests")
	hostileSeed  = flag.Uint64("hostile-seed", 1, "seed of hostile requests")
)

// What the victim knows: planner may plan, anna may see and hold what is of the namespace a.
const (
	adminToken   = "3f1d-token-of-the-admin"   //nolint:gosec // of a test
	plannerToken = "77aa-token-of-the-planner" //nolint:gosec // of a test
	annaToken    = "b0c2-token-of-anna"        //nolint:gosec // of a test
	serverFile   = `
tls: {certificateFile: tls.crt, keyFile: tls.key, clientCaFile: ca.crt}
authentication: {clientCertificates: true, tokenFile: tokens}
authorization:
  rules:
  - {users: [admin], methods: ["*"]}
  - {users: ["*"], methods: [/openapi.json]}
  - {users: [planner], methods: ["OptimizerService/*", "SimulationService/*"]}
  - {users: [anna], methods: ["FleetService/*", "ExternalScaler/*"], namespaces: [a]}
limits: {maxRequestBytes: 65536}
`
	fleetFile = `
pools: [{name: h100, accelerator: H100, pricePerHour: 4}]
workloads:
- {name: chat, namespace: a, load: {arrivalRate: 5}, variants: [{name: v, accelerator: H100, capacityRps: 7}]}
- {name: chat-of-others, namespace: b, load: {arrivalRate: 5}, variants: [{name: v, accelerator: H100, capacityRps: 7}]}
`
)

// victim is the program under attack, a process of its own.
type victim struct {
	grpc, http string
	authority  *accesstest.Authority
	admin      *http.Client
	peer       func(time.Time) string // the token of a process of the same installation
	out        *output
	folder     string
}

var listening = regexp.MustCompile(`REST +(https?)://([^/]+)/(?s:.*?)gRPC +(\S+)`)

func startVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{authority: accesstest.New(t, "CA"), out: &output{}, folder: t.TempDir()}
	certificate := v.authority.Server(t, "poolwright")
	certificate.Write(t, v.folder)
	for name, text := range map[string]string{
		"ca.crt": string(v.authority.PEM()), "tokens": adminToken + ",admin\n" + plannerToken + ",planner\n" + annaToken + ",anna\n",
		"server.yaml": serverFile, "fleet.yaml": fleetFile,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(v.folder, name), []byte(text), 0o600))
	}
	command := exec.Command("poolwright", "serve", "--server-config", "server.yaml", "--fleet", "fleet.yaml", "--interval", "1s",
		"--ledger", "ledger.jsonl", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0")
	command.Dir, command.Stdout, command.Stderr = v.folder, v.out, v.out
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		require.NoError(t, command.Wait(), v.out.String())
	})
	require.Eventually(t, func() bool {
		found := listening.FindStringSubmatch(v.out.String())
		if found != nil {
			require.Equal(t, "https", found[1])
			v.http, v.grpc = found[2], found[3]
		}
		return found != nil
	}, 60*time.Second, 10*time.Millisecond, "it does not listen: %s", v.out)
	v.admin, v.peer = v.client(false), peerTokens(t, certificate.PrivateKey)
	for _, token := range []string{adminToken, plannerToken, annaToken} {
		v.ask(t, token, "/openapi.json") // so that it counts while others are guessed
	}
	return v
}

// peerTokens are those of processes that have a key, by the time at which they were made.
func peerTokens(t *testing.T, private any) func(time.Time) string {
	t.Helper()
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	key, err := hkdf.Key(sha256.New, secret, nil, "poolwright: one process of an installation asks another", sha256.Size)
	require.NoError(t, err)
	return func(at time.Time) string {
		shown := binary.BigEndian.AppendUint64(nil, uint64(at.Unix())) //nolint:gosec // after 1970
		mac := hmac.New(sha256.New, key)
		mac.Write(shown)
		return "poolwright-peer." + base64.RawURLEncoding.EncodeToString(mac.Sum(shown))
	}
}

// client asks by HTTP/1.1, or by HTTP/2.
func (v *victim) client(second bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!second)
	protocols.SetHTTP2(second)
	return &http.Client{
		Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: v.authority.Pool()}, Protocols: protocols},
	}
}

// ask asks with a token, again where others have just guessed too many.
func (v *victim) ask(t *testing.T, token, path string) string {
	t.Helper()
	var code int
	var text []byte
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+v.http+path, http.NoBody)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := v.admin.Do(request)
		require.NoError(t, err)
		defer response.Body.Close() //nolint:errcheck // only read
		text, err = io.ReadAll(response.Body)
		require.NoError(t, err)
		code = response.StatusCode
		return code != http.StatusTooManyRequests
	}, time.Minute, 100*time.Millisecond)
	require.Equal(t, http.StatusOK, code, string(text))
	return string(text)
}

// size is what the process takes: memory that is resident, in bytes, and goroutines.
func (v *victim) size(t *testing.T) (memory, goroutines float64) {
	t.Helper()
	text := v.ask(t, adminToken, "/metrics")
	value := func(name string) float64 {
		lines := bufio.NewScanner(strings.NewReader(text))
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
				n, err := strconv.ParseFloat(rest, 64)
				require.NoError(t, err)
				return n
			}
		}
		require.Fail(t, "there is no metric "+name)
		return 0
	}
	return value("process_resident_memory_bytes"), value("go_goroutines")
}

// Malformed and hostile requests: none gets through, none ends the process or makes it grow, and none
// makes it tell a secret.
func TestHostileRequests(t *testing.T) {
	v := startVictim(t)
	control := v.attacker(t, rand.New(rand.NewPCG(*hostileSeed, 0)))
	_, err := control.request(http.MethodGet, "/openapi.json", v.peer(time.Now()), "", nil, http.StatusForbidden)
	require.NoError(t, err, "a token of a process that has not expired is known")
	control.leave()
	requests := short.Of(*hostileCount)
	warm := min(requests/4, 50_000)
	v.attack(t, warm, 0)
	memory, goroutines := v.size(t)
	began := time.Now()
	v.attack(t, requests-warm, 1)
	took := time.Since(began)
	var after, now float64
	// Connections that were broken off end within their time.
	require.Eventually(t, func() bool {
		after, now = v.size(t)
		return now < goroutines+100
	}, 90*time.Second, 100*time.Millisecond, "goroutines")
	t.Logf("%d requests, %.0f/s; resident memory %.0f MiB before and %.0f MiB after, goroutines %.0f and %.0f",
		requests, float64(requests-warm)/took.Seconds(), memory/(1<<20), after/(1<<20), goroutines, now)
	if !testing.Short() { // what looks for races keeps memory for all that was ever touched
		require.Less(t, after, memory+(64<<20), "memory grows")
	}

	fleet := v.ask(t, adminToken, "/v1/fleet")
	require.Contains(t, fleet, "chat-of-others")
	require.Contains(t, fleet, `"pauses": []`, "nobody who might has held a workload")
	v.keepsSecrets(t)
}

// keepsSecrets checks that no token is in what the process says and writes.
func (v *victim) keepsSecrets(t *testing.T) {
	t.Helper()
	ledger, err := os.ReadFile(filepath.Join(v.folder, "ledger.jsonl"))
	require.NoError(t, err)
	for where, text := range map[string]string{
		"output": v.out.String(), "ledger": string(ledger), "metrics": v.ask(t, adminToken, "/metrics"), "decisions": v.ask(t, adminToken, "/v1/decisions?view=FULL"), "page": v.ask(t, adminToken, "/"),
	} {
		require.NotEmpty(t, text, where)
		for _, secret := range []string{adminToken, plannerToken, annaToken, "PRIVATE KEY", "eyJhbGci"} {
			require.NotContains(t, text, secret, where)
		}
		require.NotContains(t, text, "panic", where)
	}
}

// attackers attack at a time.
const attackers = 24

// attack sends so many requests. Those of each attacker follow from seed, part and its number.
func (v *victim) attack(t *testing.T, requests int64, part uint64) {
	t.Helper()
	var wait sync.WaitGroup
	var sent atomic.Int64
	failures := make(chan error, attackers)
	for i := range uint64(attackers) {
		a := v.attacker(t, rand.New(rand.NewPCG(*hostileSeed, part<<32+i)))
		wait.Go(func() {
			defer a.leave()
			for n := int64(0); n < requests/attackers; {
				kind := a.choose()
				did, err := kind.do(a)
				if err != nil {
					failures <- fmt.Errorf("%s: %w", kind.name, err)
					return
				}
				n += did
				sent.Add(did)
			}
		})
	}
	wait.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, sent.Load(), requests/attackers*attackers)
}

// attacker attacks with connections of its own.
type attacker struct {
	*victim
	random        *rand.Rand
	first, second *http.Client
	conn          *grpc.ClientConn
	strange       accesstest.Certificate // of an authority that is not trusted
	expired       accesstest.Certificate
	zipped        []byte // little that becomes much
	kinds         []kind
}

func (v *victim) attacker(t *testing.T, random *rand.Rand) *attacker {
	t.Helper()
	conn, err := grpc.NewClient(v.grpc, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: v.authority.Pool()})))
	require.NoError(t, err)
	return &attacker{
		victim: v, random: random, first: v.client(false), second: v.client(true), conn: conn, zipped: zeroes(), kinds: kinds(),
		strange: accesstest.New(t, "CA").Client(t, time.Now().Add(time.Hour), "admin"),
		expired: v.authority.Client(t, time.Now().Add(-time.Minute), "admin"),
	}
}

func (a *attacker) leave() {
	a.first.CloseIdleConnections()
	a.second.CloseIdleConnections()
	_ = a.conn.Close()
}

// kind is one of hostile requests. It does some, and returns how many; the error says what the
// process should not have answered.
type kind struct {
	name   string
	weight int
	do     func(*attacker) (int64, error)
}

func (a *attacker) choose() kind {
	total := 0
	for _, k := range a.kinds {
		total += k.weight
	}
	n := a.random.IntN(total)
	i := slices.IndexFunc(a.kinds, func(k kind) bool {
		n -= k.weight
		return n < 0
	})
	return a.kinds[i]
}

// pick is one of some.
func pick[T any](a *attacker, all ...T) T { return all[a.random.IntN(len(all))] }

// bytes are random ones, up to so many.
func (a *attacker) bytes(most int) []byte {
	all := make([]byte, 1+a.random.IntN(most))
	for i := range all {
		all[i] = byte(a.random.Uint32()) //nolint:gosec // any of them
	}
	return all
}

// request sends a request over HTTP and checks how it is answered: by one of some codes, or, where
// there are none given, by one that refuses. That the connection breaks is no answer, and right.
func (a *attacker) request(method, path, token, contentType string, body []byte, codes ...int) (int64, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, "https://"+a.http+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil //nolint:nilerr // it is refused here
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return a.send(request, codes...)
}

func (a *attacker) send(request *http.Request, codes ...int) (int64, error) {
	client := a.first
	if a.random.IntN(2) == 0 {
		client = a.second
	}
	response, err := client.Do(request)
	if err != nil {
		return 1, nil
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, _ := io.ReadAll(response.Body)
	code := response.StatusCode
	switch {
	case bytes.Contains(text, []byte("chat-of-others")), bytes.Contains(text, []byte("goroutine ")):
		return 1, fmt.Errorf("%s %s tells %.200s", request.Method, request.URL.Path, text)
	case slices.Contains(codes, code), code == http.StatusTooManyRequests:
	case len(codes) > 0, code < 300, code == http.StatusInternalServerError:
		return 1, fmt.Errorf("%s %s is answered with %d: %.200s", request.Method, request.URL.Path, code, text)
	}
	return 1, nil
}
