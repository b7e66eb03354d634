package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpccredentials "google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/emptypb"
	authorizationv1 "k8s.io/api/authorization/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/access/accesstest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// Tokens of the tests: admin may everything, team-a what concerns the namespace a, planner
// nothing but to optimize, and nobody nothing.
const (
	adminToken   = "token-of-the-admin"
	teamToken    = "token-of-the-team-a"
	plannerToken = "token-of-the-planner"
	nobodyToken  = "token-of-nobody-at-all"
)

// guarded is a server that asks who calls.
type guarded struct {
	*running
	cluster   *cluster
	client    *http.Client
	authority *accesstest.Authority
	clients   *accesstest.Authority
	address   string
}

func startGuarded(t *testing.T, c server.Config) *guarded {
	t.Helper()
	folder, authority, clients := t.TempDir(), accesstest.New(t, "CA"), accesstest.New(t, "clients")
	certificate := authority.Server(t, "poolwright")
	certificate.Write(t, folder)
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
		return filepath.Join(folder, name)
	}
	a, err := access.New(access.Config{
		TLS: &access.TLS{
			CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"), ClientCAFile: file("ca.crt", string(clients.PEM())),
		},
		Authentication: &access.Authentication{ClientCertificates: true, TokenFile: file("tokens",
			adminToken+",admin\n"+teamToken+",anna,team-a\n"+plannerToken+",planner\n"+nobodyToken+",nobody\n")},
		Authorization: &access.Authorization{Rules: []access.Rule{
			{Users: []string{"admin"}, Methods: []string{"*"}},
			{Groups: []string{"team-a"}, Methods: []string{"FleetService/*", "ExternalScaler/*"}, Namespaces: []string{"a"}},
			{Users: []string{"planner"}, Methods: []string{"OptimizerService/Optimize"}},
		}},
	}, nil)
	require.NoError(t, err)
	g := &guarded{authority: authority, clients: clients, cluster: newCluster(controller.HistoryConfig{}, "a/chat", "b/chat", "b/secret-project")}
	g.cluster.fleet.Pools[0].Quotas = []planner.Quota{{Namespace: "a", Devices: 100}, {Namespace: "b", Devices: 100}}
	c.Services = servicesOf(g.cluster)
	c.Services.Simulation = server.NewSimulation(server.SimulationConfig{Concurrent: 1})
	c.Registry, c.Access = prometheus.NewRegistry(), a
	g.running = startServer(t, c)
	g.address = g.conn.Target()
	g.url = strings.Replace(g.url, "http://", "https://", 1)
	g.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}, ForceAttemptHTTP2: true}}
	g.conn = g.dial(t)
	return g
}

// servicesOf are those that tell of a cluster's fleet, and plan others.
func servicesOf(x *cluster) server.Services {
	return server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(x),
		Scaler: server.NewScaler(server.ScalerConfig{Decisions: x, TTL: -1}),
	}
}

// dial connects by gRPC, with certificates of the client if there are any.
func (g *guarded) dial(t *testing.T, certificates ...tls.Certificate) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(g.address, grpc.WithTransportCredentials(grpccredentials.NewTLS(&tls.Config{
		RootCAs: g.authority.Pool(), Certificates: certificates,
	})))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// as calls with a token; empty = none.
func as(t *testing.T, token string) context.Context {
	t.Helper()
	if token == "" {
		return t.Context()
	}
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
}

// reply is how HTTP answered.
type reply struct {
	StatusCode int
	Header     http.Header
}

// ask asks by HTTP with a token and headers, given one after the other with their values.
func (g *guarded) ask(t *testing.T, token, method, path, body string, headers ...string) (reply, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, g.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := g.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{response.StatusCode, response.Header}, string(text)
}

// Every method of every service, whatever there will be, is for those only who may.
func TestEveryCallIsGuarded(t *testing.T) {
	g := startGuarded(t, server.Config{})
	g.cluster.ticks(t, "a/chat", 3)
	calls := 0
	invoke := func(token, method string) codes.Code {
		calls++
		ctx, cancel := context.WithTimeout(as(t, token), 30*time.Second)
		defer cancel()
		stream, err := g.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
		require.NoError(t, err)
		_ = stream.SendMsg(&emptypb.Empty{}) // it may have been refused before
		_ = stream.CloseSend()
		return status.Code(stream.RecvMsg(&emptypb.Empty{}))
	}
	for _, service := range []grpc.ServiceDesc{
		poolwrightv1.OptimizerService_ServiceDesc, poolwrightv1.FleetService_ServiceDesc, poolwrightv1.SimulationService_ServiceDesc,
		externalscaler.ExternalScaler_ServiceDesc,
		{ServiceName: "grpc.health.v1.Health", Streams: healthv1.Health_ServiceDesc.Streams},
		{ServiceName: "grpc.reflection.v1.ServerReflection", Streams: []grpc.StreamDesc{{StreamName: "ServerReflectionInfo"}}},
		{ServiceName: "grpc.reflection.v1alpha.ServerReflection", Streams: []grpc.StreamDesc{{StreamName: "ServerReflectionInfo"}}},
	} {
		var methods []string
		for _, m := range service.Methods {
			methods = append(methods, m.MethodName)
		}
		for _, m := range service.Streams {
			methods = append(methods, m.StreamName)
		}
		for _, m := range methods {
			method := "/" + service.ServiceName + "/" + m
			require.Equal(t, codes.Unauthenticated, invoke("", method), method)
			require.Equal(t, codes.Unauthenticated, invoke("a-token-that-is-wrong", method), method)
			require.Equal(t, codes.PermissionDenied, invoke(nobodyToken, method), method)
		}
	}
	require.Greater(t, calls, 3*15)
	code := invoke("", healthv1.Health_Check_FullMethodName)
	require.Equal(t, codes.OK, code, "which says no more than /readyz")
}

// Every path is for those only who may, but for health and pages.
func TestEveryPathIsGuarded(t *testing.T) {
	g := startGuarded(t, server.Config{})
	g.cluster.ticks(t, "a/chat", 3)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(poolwrightv1.OpenAPI, &document))
	require.Greater(t, len(document.Paths), 10)
	type request struct{ method, path string }
	requests := []request{
		{"GET", "/metrics"}, {"GET", "/openapi.json"}, {"POST", "/read/fleet"}, {"POST", "/read/simulation"}, {"HEAD", "/metrics"},
	}
	for path, methods := range document.Paths {
		for method := range methods {
			requests = append(requests, request{strings.ToUpper(method), strings.NewReplacer("{workload}", "a/chat").Replace(path)})
		}
	}
	for _, r := range requests {
		for token, want := range map[string]int{"": 401, "a-token-that-is-wrong": 401, nobodyToken: 403} {
			response, text := g.ask(t, token, r.method, r.path, "{}")
			require.Equal(t, want, response.StatusCode, "%v: %s", r, text)
			require.NotContains(t, text, "chat")
			if want == http.StatusUnauthorized {
				require.Equal(t, "Bearer", response.Header.Get("WWW-Authenticate"))
			}
		}
		if r.path == "/v1/decisions:watch" {
			continue // without end
		}
		response, text := g.ask(t, adminToken, r.method, r.path, "{}")
		require.NotContains(t, []int{401, 403}, response.StatusCode, "%v: %s", r, text)
	}
	for _, path := range []string{"/healthz", "/readyz", "/", "/what-if", "/api.js"} {
		response, _ := g.ask(t, "", http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, response.StatusCode, path)
	}
	for _, path := range []string{"//metrics", "/x/../metrics", "/v1/../metrics", "/%6detrics", "/metrics/", "/v1/fleet/", "/v1/workloads/a/chat"} {
		response, text := g.ask(t, "", http.MethodGet, path, "")
		require.NotEqual(t, http.StatusOK, response.StatusCode, "%s: %s", path, text)
	}
	refused, text := g.ask(t, nobodyToken, http.MethodGet, "/debug/pprof/%ff%00", "")
	require.Equal(t, http.StatusForbidden, refused.StatusCode, text)
	response, _ := g.ask(t, "", http.MethodPost, "/v1/fleet", "view=FULL", "Content-Type", "application/x-www-form-urlencoded", "X-HTTP-Method-Override", "GET")
	require.NotEqual(t, http.StatusOK, response.StatusCode, "a form is no other method")
}

// Where a workload waits for the devices of another or makes room for it, only who sees the other
// learns which.
func TestNamesOfOthersAreCut(t *testing.T) {
	g := startGuarded(t, server.Config{})
	f := &g.cluster.fleet
	f.Pools[0].Capacity = optimizer.Bound{Limited: true, Value: 4}
	f.Pools = append(f.Pools, planner.Pool{Name: "zone", PricePerHour: 4, Capacity: f.Pools[0].Capacity})
	chat, secret := &f.Workloads[0], &f.Workloads[2]
	chat.Priority, secret.Variants[0].Pools = 2, []int{1}
	v := &chat.Variants[0]
	v.Pools, v.CurrentReplicas, v.PoolReplicas = []int{0, 1}, 4, []int{0, 4}
	g.cluster.rates["a/chat"] = 40
	g.cluster.tick(t, "b/secret-project", 20)
	for _, path := range []string{"/v1/fleet?view=FULL", "/v1/decisions?view=FULL", "/v1/decisions"} {
		_, all := g.ask(t, adminToken, http.MethodGet, path, "")
		require.Contains(t, all, "makes room for another workload (b/secret-project)", path)
		_, text := g.ask(t, teamToken, http.MethodGet, path, "")
		require.Contains(t, text, "makes room for another workload", path)
		require.NotContains(t, text, "secret-project", path)
	}
}

// A caller sees the workloads of its namespaces and nothing that tells of others.
func TestNamespacesAreCut(t *testing.T) {
	g := startGuarded(t, server.Config{})
	g.cluster.ticks(t, "b/secret-project", 3)
	g.cluster.ticks(t, "a/chat", 3)
	for _, path := range []string{"/v1/fleet?view=FULL", "/v1/decisions?view=FULL", "/v1/decisions"} {
		_, all := g.ask(t, adminToken, http.MethodGet, path, "")
		require.Contains(t, all, "secret-project", path)
		response, text := g.ask(t, teamToken, http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, response.StatusCode, text)
		require.Contains(t, text, `"a`, path)
		require.NotContains(t, text, "secret-project", path)
		require.NotContains(t, text, `"b"`, path)
		require.NotContains(t, text, "b/chat", path)
	}
	client := poolwrightv1.NewFleetServiceClient(g.conn)
	fleet, err := client.GetFleet(as(t, teamToken), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.Len(t, fleet.GetFleet().GetWorkloads(), 1)
	require.Equal(t, map[string]int32{"a": 100}, fleet.GetFleet().GetPools()[0].GetQuotas())

	watch, err := client.WatchDecisions(as(t, teamToken), &poolwrightv1.WatchDecisionsRequest{View: poolwrightv1.Decision_FULL})
	require.NoError(t, err)
	m, err := watch.Recv()
	require.NoError(t, err)
	require.NotContains(t, protojson.Format(m), "b/")

	denied := func(err error) {
		t.Helper()
		require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
		require.NotContains(t, err.Error(), "secret-project")
	}
	for _, workload := range []string{"b/chat", "b/none", "none/chat"} {
		_, err = client.PauseWorkload(as(t, teamToken), &poolwrightv1.PauseWorkloadRequest{Workload: workload, Reason: "why not"})
		denied(err)
		_, err = client.ResumeWorkload(as(t, teamToken), &poolwrightv1.ResumeWorkloadRequest{Workload: workload})
		denied(err)
		_, err = client.ListDecisions(as(t, teamToken), &poolwrightv1.ListDecisionsRequest{Workload: workload})
		denied(err)
		response, text := g.ask(t, teamToken, http.MethodPost, "/v1/workloads/"+workload+":pause", `{"reason": "why not"}`)
		require.Equal(t, http.StatusForbidden, response.StatusCode, text)
	}
	require.Empty(t, g.cluster.At(g.cluster.now))
	_, err = client.PauseWorkload(as(t, teamToken), &poolwrightv1.PauseWorkloadRequest{Workload: "a/secret-projec", Reason: "why not"})
	require.Equal(t, codes.NotFound, status.Code(err))
	require.NotContains(t, err.Error(), "b/", "no other namespace is proposed")
	_, err = client.PauseWorkload(as(t, adminToken), &poolwrightv1.PauseWorkloadRequest{Workload: "b/chat", Reason: "why not"})
	require.NoError(t, err)
	_, err = client.PauseWorkload(as(t, teamToken), &poolwrightv1.PauseWorkloadRequest{Workload: "a/chat", Reason: "why not"})
	require.NoError(t, err)
	fleet, err = client.GetFleet(as(t, teamToken), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.Len(t, fleet.GetPauses(), 1)
	_, err = client.ResumeWorkload(as(t, teamToken), &poolwrightv1.ResumeWorkloadRequest{Workload: "b/chat"})
	denied(err)

	scaler := externalscaler.NewExternalScalerClient(g.conn)
	ref := func(namespace, workload string) *externalscaler.ScaledObjectRef {
		return &externalscaler.ScaledObjectRef{Namespace: namespace, ScalerMetadata: map[string]string{"workload": workload}}
	}
	_, err = scaler.IsActive(as(t, teamToken), ref("a", "chat"))
	require.NoError(t, err)
	for _, other := range []*externalscaler.ScaledObjectRef{ref("b", "chat"), ref("a", "b/chat")} {
		_, err = scaler.IsActive(as(t, teamToken), other)
		denied(err)
		_, err = scaler.GetMetricSpec(as(t, teamToken), other)
		denied(err)
	}
}

// What a caller says of itself is no identity, by whatever header.
func TestIdentitiesAreNotTaken(t *testing.T) {
	g := startGuarded(t, server.Config{})
	g.cluster.ticks(t, "a/chat", 3)
	const claimed = `{"Name":"admin"}`
	for _, name := range []string{
		"Poolwright-Caller-Bin", "Grpc-Metadata-Poolwright-Caller-Bin", "Grpcgateway-Poolwright-Caller-Bin", "X-Remote-User", "X-Forwarded-User",
		"Impersonate-User", "Grpc-Metadata-Authorization",
	} {
		for _, value := range []string{claimed, "eyJOYW1lIjoiYWRtaW4ifQ==", "Bearer " + adminToken} {
			response, text := g.ask(t, "", http.MethodGet, "/v1/fleet", "", name, value)
			require.Equal(t, http.StatusUnauthorized, response.StatusCode, "%s: %s", name, text)
			response, text = g.ask(t, teamToken, http.MethodGet, "/v1/fleet", "", name, value)
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.NotContains(t, text, "secret-project", name)
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "poolwright-caller-bin", claimed)
	_, err := poolwrightv1.NewFleetServiceClient(g.conn).GetFleet(ctx, &poolwrightv1.GetFleetRequest{})
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	ctx = metadata.AppendToOutgoingContext(as(t, teamToken), "poolwright-caller-bin", claimed)
	fleet, err := poolwrightv1.NewFleetServiceClient(g.conn).GetFleet(ctx, &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.Len(t, fleet.GetFleet().GetWorkloads(), 1)
	ctx = metadata.AppendToOutgoingContext(as(t, nobodyToken), "authorization", "Bearer "+adminToken)
	_, err = poolwrightv1.NewFleetServiceClient(g.conn).GetFleet(ctx, &poolwrightv1.GetFleetRequest{})
	require.Equal(t, codes.Unauthenticated, status.Code(err), "which of two counts?")
}

func TestClientCertificateIsAnIdentity(t *testing.T) {
	g := startGuarded(t, server.Config{})
	g.cluster.ticks(t, "a/chat", 3)
	certificate := g.clients.Client(t, time.Now().Add(time.Hour), "bert", "team-a")
	fleet, err := poolwrightv1.NewFleetServiceClient(g.dial(t, certificate.Certificate)).GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.Len(t, fleet.GetFleet().GetWorkloads(), 1)
	g.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: g.authority.Pool(), Certificates: []tls.Certificate{certificate.Certificate},
	}}}
	response, text := g.ask(t, "", http.MethodGet, "/v1/fleet", "")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.NotContains(t, text, "secret-project")
}

// Who guesses tokens can neither try nor have the API server asked as often as it likes. Those that
// have counted lately count all the same.
func TestGuessesOfTokensAreLimited(t *testing.T) {
	client, asked := fake.NewClientset(), 0
	client.PrependReactor("create", "tokenreviews", func(action kubetesting.Action) (bool, kuberuntime.Object, error) {
		asked++
		return true, action.(kubetesting.CreateAction).GetObject(), nil // nobody's
	})
	tokens := filepath.Join(t.TempDir(), "tokens")
	right := func(n int) string { return fmt.Sprintf("%s-%d", plannerToken, n) }
	lines := adminToken + ",admin\n"
	for n := range 100 {
		lines += fmt.Sprintf("%s,planner-%d\n", right(n), n)
	}
	require.NoError(t, os.WriteFile(tokens, []byte(lines), 0o600))
	a, err := access.New(access.Config{Authentication: &access.Authentication{TokenFile: tokens, TokenReview: &access.TokenReview{}}}, client)
	require.NoError(t, err)
	x := newCluster(controller.HistoryConfig{}, "a/chat")
	x.ticks(t, "a/chat", 1)
	r := startServer(t, server.Config{
		Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(x)},
		Registry: prometheus.NewRegistry(), Access: a,
	})
	get := func(token string) codes.Code {
		_, err := poolwrightv1.NewFleetServiceClient(r.conn).GetFleet(as(t, token), &poolwrightv1.GetFleetRequest{})
		return status.Code(err)
	}
	require.Equal(t, codes.OK, get(adminToken))
	refused := map[codes.Code]int{}
	for i := range 1000 {
		refused[get(fmt.Sprint("guess ", i))]++
	}
	require.Len(t, refused, 2, "%v", refused)
	require.Equal(t, asked, refused[codes.Unauthenticated])
	require.Positive(t, refused[codes.ResourceExhausted])
	require.Equal(t, codes.OK, get(adminToken))
	// One that comes just when another attempt is allowed again is answered, and counts from then on.
	limited := false
	for n := 0; n < 100 && !limited; n++ {
		for range 10 {
			get("another guess")
		}
		limited = get(right(n)) == codes.ResourceExhausted
	}
	require.True(t, limited, "a guess that is right is one too many")
}

// Who names namespaces that it has made up cannot have the API server asked about each. What it has a
// right to it may ask for all the same.
func TestNamesOfNamespacesAreLimited(t *testing.T) {
	client, asked, paths := fake.NewClientset(), 0, map[string]bool{}
	client.PrependReactor("create", "subjectaccessreviews", func(action kubetesting.Action) (bool, kuberuntime.Object, error) {
		review := action.(kubetesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		switch r := review.Spec.ResourceAttributes; {
		case r == nil:
			paths[review.Spec.NonResourceAttributes.Path] = true
		case strings.HasPrefix(r.Namespace, "made-up"):
			asked++
		default:
			review.Status.Allowed = r.Namespace == "a"
		}
		return true, review, nil
	})
	a, err := access.New(access.Config{
		Authentication: &access.Authentication{TokenReview: &access.TokenReview{}},
		Authorization:  &access.Authorization{SubjectAccessReview: &access.SubjectAccessReview{}},
	}, client)
	require.NoError(t, err)
	x := newCluster(controller.HistoryConfig{}, "a/chat", "b/chat")
	x.ticks(t, "a/chat", 3)
	r := startServer(t, server.Config{Services: servicesOf(x), Registry: prometheus.NewRegistry(), Access: a})
	spec := func(namespace string) codes.Code {
		_, err := externalscaler.NewExternalScalerClient(r.conn).GetMetricSpec(t.Context(), &externalscaler.ScaledObjectRef{
			Namespace: namespace, ScalerMetadata: map[string]string{"workload": "chat"},
		})
		return status.Code(err)
	}
	require.Equal(t, codes.OK, spec("a"))
	refused := map[codes.Code]int{}
	for i := range 1000 {
		refused[spec(fmt.Sprint("made-up-", i))]++
	}
	require.Len(t, refused, 2, "%v", refused)
	require.Equal(t, asked, refused[codes.Unauthenticated])
	require.Less(t, asked, 900)
	require.Equal(t, codes.OK, spec("a"))
	code, text := r.do(t, http.MethodGet, "/v1/fleet", "", "")
	require.Equal(t, http.StatusOK, code, "namespaces of the fleet are few: %s", text)

	for _, profile := range []string{"made-up", "made-up/too", "heap"} {
		code, _ := r.do(t, http.MethodGet, "/debug/pprof/"+profile, "", "")
		require.Equal(t, http.StatusUnauthorized, code)
	}
	require.Equal(t, map[string]bool{"/debug/pprof": true, "/debug/pprof/heap": true}, paths)
}

// Nothing of a request is read before it is known who may ask.
func TestRefusedRequestsAreNotRead(t *testing.T) {
	g := startGuarded(t, server.Config{})
	for _, test := range []struct {
		token, method, path string
		length, want        int
	}{
		{nobodyToken, "POST", "/v1/optimize", 1000, http.StatusForbidden},
		{nobodyToken, "POST", "/v1/optimize", 1_000_000, http.StatusForbidden},
		{adminToken, "PUT", "/v1/optimize", 1000, http.StatusMethodNotAllowed},
		{nobodyToken, "PUT", "/v1/optimize", 1_000_000, http.StatusMethodNotAllowed},
		{nobodyToken, "DELETE", "/v1/fleet", 1000, http.StatusMethodNotAllowed},
		{nobodyToken, "POST", "/v1/nothing", 1000, http.StatusNotFound},
	} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(g.url, "https://"), &tls.Config{RootCAs: g.authority.Pool(), NextProtos: []string{"http/1.1"}})
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n{", test.method, test.path, test.token, test.length)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, "the answer does not wait for the rest: %v", test)
		require.Equal(t, test.want, response.StatusCode, "%v", test)
		require.NoError(t, errors.Join(response.Body.Close(), conn.Close()))
	}

	stream, err := g.conn.NewStream(as(t, nobodyToken), &grpc.StreamDesc{}, poolwrightv1.OptimizerService_Optimize_FullMethodName)
	require.NoError(t, err)
	require.Equal(t, codes.PermissionDenied, status.Code(stream.RecvMsg(&emptypb.Empty{})), "before anything was sent")
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	g := startGuarded(t, server.Config{})
	for _, path := range []string{"/", "/v1/fleet", "/metrics", "/healthz", "/nothing"} {
		response, _ := g.ask(t, adminToken, http.MethodGet, path, "")
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Strict-Transport-Security": "max-age=31536000",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			assert.Equal(t, []string{value}, response.Header.Values(name), "%s %s", path, name)
		}
		policy := response.Header.Values("Content-Security-Policy")
		require.Len(t, policy, 1)
		assert.Contains(t, policy[0], "default-src 'none'")
		assert.Contains(t, policy[0], "frame-ancestors 'none'")
		assert.NotContains(t, policy[0], "unsafe")
	}
	response, _ := g.ask(t, adminToken, http.MethodGet, "/v1/fleet", "")
	assert.Equal(t, "no-store", response.Header.Get("Cache-Control"))
}

// Connections beyond those that may be are for probes, and make room again.
func TestConnectionsAreCounted(t *testing.T) {
	g := startGuarded(t, server.Config{Limits: func() server.Limits { return server.Limits{Connections: 2} }})
	dial := func() *tls.Conn {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", strings.TrimPrefix(g.url, "https://"), &tls.Config{RootCAs: g.authority.Pool()})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	get := func(conn *tls.Conn, path string) (code int, retry string, last bool) {
		_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, response.Header.Get("Retry-After"), response.Close
	}
	first, second := dial(), dial()
	code, _, last := get(second, "/v1/fleet")
	assert.Equal(t, http.StatusUnauthorized, code)
	assert.False(t, last)

	oldest := dial()
	var probes []*tls.Conn
	for range 16 {
		probes = append(probes, dial())
	}
	_, err := oldest.Read(make([]byte, 1))
	require.Error(t, err, "the oldest makes place")
	code, _, last = get(probes[0], "/readyz")
	assert.Equal(t, http.StatusOK, code)
	assert.True(t, last, "once")
	code, retry, _ := get(probes[1], "/v1/fleet")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "1", retry)

	require.NoError(t, first.Close())
	require.Eventually(t, func() bool {
		code, _, _ := get(dial(), "/v1/fleet")
		return code == http.StatusUnauthorized
	}, 10*time.Second, 10*time.Millisecond)
}

// Where nobody is asked who they are, a page of another site cannot pretend to be this one.
func TestOtherNamesForThisMachine(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		a, err := access.New(access.Config{Insecure: insecure}, nil)
		require.NoError(t, err)
		r := startServer(t, server.Config{
			Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex()))}, Registry: prometheus.NewRegistry(), Access: a,
		})
		for host, own := range map[string]bool{"": true, "localhost:8080": true, "[::1]:8080": true, "10.0.0.1": true, "evil.example.com": false, "evil.example.com:8080": false} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", http.NoBody)
			require.NoError(t, err)
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			want := http.StatusOK
			if !own && !insecure {
				want = http.StatusMisdirectedRequest
			}
			require.Equal(t, want, response.StatusCode, host)
		}
	}
}

// An API server that fails is not asked about one namespace after the other. Whoever has shown nothing,
// and may see nothing, is asked to.
func TestNamespacesThatAreNotKnown(t *testing.T) {
	client, asked := fake.NewClientset(), atomic.Int64{}
	client.PrependReactor("create", "subjectaccessreviews", func(action kubetesting.Action) (bool, kuberuntime.Object, error) {
		review := action.(kubetesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		if review.Spec.ResourceAttributes.Namespace == "" || review.Spec.User == "system:anonymous" {
			return true, review, nil // not allowed
		}
		asked.Add(1)
		return true, nil, errors.New("away")
	})
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte(teamToken+",anna\n"), 0o600))
	a, err := access.New(access.Config{
		Authentication: &access.Authentication{TokenFile: tokens}, Authorization: &access.Authorization{SubjectAccessReview: &access.SubjectAccessReview{}},
	}, client)
	require.NoError(t, err)
	x := newCluster(controller.HistoryConfig{}, "a/chat", "b/chat", "c/chat")
	x.ticks(t, "a/chat", 3)
	r := startServer(t, server.Config{
		Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(x)},
		Registry: prometheus.NewRegistry(), Access: a,
	})
	_, err = poolwrightv1.NewFleetServiceClient(r.conn).GetFleet(as(t, teamToken), &poolwrightv1.GetFleetRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
	require.EqualValues(t, 1, asked.Load())
	code, text := r.do(t, http.MethodGet, "/v1/fleet", "", "")
	require.Equal(t, http.StatusUnauthorized, code, text)
	code, text = r.do(t, http.MethodGet, "/v1/decisions?workload=a/chat", "", "")
	require.Equal(t, http.StatusUnauthorized, code, text)
}

// Whoever may no longer ask is told so by the streams that go on, too.
func TestRightsThatEnd(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte(adminToken+",admin\n"), 0o600))
	c := access.Config{
		Authentication: &access.Authentication{TokenFile: tokens},
		Authorization:  &access.Authorization{Rules: []access.Rule{{Users: []string{"admin"}, Methods: []string{"*"}}}},
	}
	a, err := access.New(c, nil)
	require.NoError(t, err)
	x := newCluster(controller.HistoryConfig{}, "a/chat")
	x.ticks(t, "a/chat", 3)
	r := startServer(t, server.Config{Services: servicesOf(x), Registry: prometheus.NewRegistry(), Access: a})
	watch, err := poolwrightv1.NewFleetServiceClient(r.conn).WatchDecisions(as(t, adminToken), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	active, err := externalscaler.NewExternalScalerClient(r.conn).StreamIsActive(as(t, adminToken), &externalscaler.ScaledObjectRef{
		Namespace: "a", ScalerMetadata: map[string]string{"workload": "chat"},
	})
	require.NoError(t, err)
	_, err = active.Recv()
	require.NoError(t, err)
	c.Authorization = &access.Authorization{Rules: []access.Rule{{Users: []string{"anna"}, Methods: []string{"*"}}}}
	require.NoError(t, a.Reload(c))
	x.tick(t, "a/chat", 9)
	_, err = watch.Recv()
	require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
	_, err = active.Recv()
	require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
}
