package access_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/access/accesstest"
)

const token = "0123456789abcdef"

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	file := filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func getFleet() access.Question {
	return access.Question{Method: "FleetService/GetFleet", Namespaced: true}
}

func TestNobodyIsAsked(t *testing.T) {
	a, err := access.New(access.Config{}, nil)
	require.NoError(t, err)
	require.Nil(t, a.TLS("h2"))
	require.False(t, a.Asked())
	u, err := a.Authenticate(t.Context(), access.Shown{Token: "whatever"})
	require.NoError(t, err)
	scope, err := a.Admit(t.Context(), u, getFleet())
	require.NoError(t, err)
	require.True(t, scope.Everywhere())
}

func TestTokenFile(t *testing.T) {
	folder := t.TempDir()
	c := access.Config{Authentication: &access.Authentication{TokenFile: write(t, folder, "tokens", token+",anna,team-a,team-b\n\n")}}
	a, err := access.New(c, nil)
	require.NoError(t, err)
	u, err := a.Authenticate(t.Context(), access.Shown{Token: token})
	require.NoError(t, err)
	require.Equal(t, access.User{Name: "anna", Groups: []string{"team-a", "team-b", "system:authenticated"}}, u)
	_, err = a.Admit(t.Context(), u, getFleet())
	require.NoError(t, err, "whoever is known may ask everything")

	for _, wrong := range []string{token[1:], token + "x", "0123456789abcdeF", "anna"} {
		_, err = a.Authenticate(t.Context(), access.Shown{Token: wrong})
		require.ErrorIs(t, err, access.ErrUnauthenticated)
		require.NotContains(t, err.Error(), wrong)
	}
	u, err = a.Authenticate(t.Context(), access.Shown{})
	require.NoError(t, err)
	require.Equal(t, access.Anonymous(), u)
	_, err = a.Admit(t.Context(), u, getFleet())
	require.ErrorIs(t, err, access.ErrUnauthenticated)

	// The file is read again; a mistake in it leaves what counted before.
	write(t, folder, "tokens", "fedcba9876543210,bert")
	require.NoError(t, a.Reload(c))
	_, err = a.Authenticate(t.Context(), access.Shown{Token: token})
	require.ErrorIs(t, err, access.ErrUnauthenticated)
	write(t, folder, "tokens", "")
	require.ErrorContains(t, a.Reload(c), "no token in it")
	u, err = a.Authenticate(t.Context(), access.Shown{Token: "fedcba9876543210"})
	require.NoError(t, err)
	require.Equal(t, "bert", u.Name)
}

// Mistakes in a file of tokens are named all at once, without what stands there.
func TestMistakesInTokens(t *testing.T) {
	const secret = "secret-secret-secret"
	file := write(t, t.TempDir(), "tokens", strings.Join([]string{
		secret + ",anna", "short,bert", secret + "2", secret + ",carl", secret + "3,system:anonymous", secret + "4,",
		secret + "5,system:admin", secret + "6,carl,team-a, system:masters", secret + "7,carl,my-system:masters",
	}, "\n"))
	_, err := access.New(access.Config{Authentication: &access.Authentication{TokenFile: file}}, nil)
	require.EqualError(t, err, "access: authentication.tokenFile: "+file+`: line 2: a token of less than 16 characters
line 3: no user: a line is token,user[,group]…
line 4: the token of line 1
line 5: a name that begins with system:, which Kubernetes alone gives
line 6: no user: a line is token,user[,group]…
line 7: a name that begins with system:, which Kubernetes alone gives
line 8: a name that begins with system:, which Kubernetes alone gives`)
}

func TestRules(t *testing.T) {
	known := func(name string, groups ...string) access.User {
		return access.User{Name: name, Groups: append(groups, "system:authenticated")}
	}
	path := func(p string) access.Question { return access.Question{Path: p, Verb: "get"} }
	optimize := access.Question{Method: "OptimizerService/Optimize"}
	folder := t.TempDir()
	a, err := access.New(access.Config{
		Authentication: &access.Authentication{TokenFile: write(t, folder, "tokens", token+",anna")},
		Authorization: &access.Authorization{Rules: []access.Rule{
			{Users: []string{"admin"}, Methods: []string{"*"}},
			{Groups: []string{"team-a"}, Methods: []string{"FleetService/GetFleet", "OptimizerService/*"}, Namespaces: []string{"a"}},
			{Groups: []string{"team-b"}, Methods: []string{"FleetService/*"}, Namespaces: []string{"b", "c"}},
			{Users: []string{"*"}, Methods: []string{"/openapi.json"}},
			{Users: []string{"prometheus"}, Methods: []string{"/metrics", "/debug/pprof"}},
			{Groups: []string{"system:unauthenticated"}, Methods: []string{"ExternalScaler/*"}, Namespaces: []string{"a"}},
			{Groups: []string{"team-c"}, Methods: []string{"*"}, Namespaces: []string{"c"}},
		}},
	}, nil)
	require.NoError(t, err)
	for _, test := range []struct {
		user       access.User
		question   access.Question
		err        error
		everywhere bool
		namespaces string // of a, b, c
	}{
		{user: known("admin"), question: getFleet(), everywhere: true, namespaces: "abc"},
		{user: known("admin"), question: path("/metrics"), everywhere: true, namespaces: "abc"},
		{user: known("x", "team-a"), question: getFleet(), namespaces: "a"},
		{user: known("x", "team-a", "team-b"), question: getFleet(), namespaces: "abc"},
		{user: known("x", "team-a"), question: optimize, everywhere: true, namespaces: "abc"},
		{user: known("x", "team-b"), question: optimize, err: access.ErrDenied},
		{user: known("team-a"), question: getFleet(), err: access.ErrDenied},
		{user: known("x", "team-a"), question: access.Question{Method: "FleetService/PauseWorkload", Namespaced: true}, err: access.ErrDenied},
		{user: known("x", "team-a"), question: access.Question{Method: "FleetService/GetFleetX", Namespaced: true}, err: access.ErrDenied},
		{user: known("x"), question: path("/openapi.json"), everywhere: true, namespaces: "abc"},
		{user: known("x"), question: path("/metrics"), err: access.ErrDenied},
		{user: access.Anonymous(), question: path("/openapi.json"), err: access.ErrUnauthenticated},
		{user: access.Anonymous(), question: access.Question{Method: "ExternalScaler/IsActive", Namespaced: true}, namespaces: "a"},
		{user: known("prometheus"), question: path("/metrics"), everywhere: true, namespaces: "abc"},
		{user: known("prometheus"), question: path("/debug/pprof/heap"), everywhere: true, namespaces: "abc"},
		{user: known("prometheus"), question: path("/debug/pprof/../../read/fleet"), err: access.ErrDenied},
		{user: known("prometheus"), question: path("/metricsx"), err: access.ErrDenied},
		{user: known("prometheus"), question: optimize, err: access.ErrDenied},
		{user: known("x", "team-c"), question: getFleet(), namespaces: "c"},
		{user: known("x", "team-c"), question: optimize, everywhere: true, namespaces: "abc"},
		{user: known("x", "team-c"), question: path("/metrics"), err: access.ErrDenied},
		{user: known("x", "team-c"), question: path("/debug/pprof/heap"), err: access.ErrDenied},
		{user: known("x", "team-c"), question: path("/openapi.json"), everywhere: true, namespaces: "abc"},
	} {
		scope, err := a.Admit(t.Context(), test.user, test.question)
		require.ErrorIs(t, err, test.err, "%+v", test)
		require.Equal(t, test.everywhere, scope.Everywhere(), "%+v", test)
		var in string
		for _, n := range []string{"a", "b", "c"} {
			has, err := scope.Has(t.Context(), n, nil)
			require.NoError(t, err)
			if has {
				in += n
			}
		}
		require.Equal(t, test.namespaces, in, "%+v", test)
	}
}

// A scope is what counts when it is asked, not when it was given.
func TestScopeFollowsTheRules(t *testing.T) {
	c := access.Config{
		Authentication: &access.Authentication{TokenFile: write(t, t.TempDir(), "tokens", token+",anna")},
		Authorization:  &access.Authorization{Rules: []access.Rule{{Users: []string{"anna"}, Methods: []string{"*"}, Namespaces: []string{"a"}}}},
	}
	a, err := access.New(c, nil)
	require.NoError(t, err)
	scope, err := a.Admit(t.Context(), access.User{Name: "anna"}, getFleet())
	require.NoError(t, err)
	has, err := scope.Has(t.Context(), "a", nil)
	require.NoError(t, err)
	require.True(t, has)
	none, err := scope.Has(t.Context(), "", nil)
	require.NoError(t, err)
	require.False(t, none, "a workload without a namespace is for who sees all")

	c.Authorization = &access.Authorization{Rules: []access.Rule{{Users: []string{"bert"}, Methods: []string{"*"}}}}
	require.NoError(t, a.Reload(c))
	has, err = scope.Has(t.Context(), "a", nil)
	require.NoError(t, err)
	require.False(t, has)
}

// reviewing is an API server that knows a token and what its user may, and counts what it is
// asked.
func reviewing(t *testing.T, asked *atomic.Int64, fail *atomic.Bool) *fake.Clientset {
	t.Helper()
	client := fake.NewClientset()
	client.PrependReactor("create", "tokenreviews", func(action kubetesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		if fail.Load() {
			return true, nil, errors.New("away")
		}
		review := action.(kubetesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		if review.Spec.Token == token {
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"api"}, User: authenticationv1.UserInfo{
				Username: "system:serviceaccount:a:keda", Groups: []string{"system:serviceaccounts"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
			}}
		}
		return true, review, nil
	})
	client.PrependReactor("create", "subjectaccessreviews", func(action kubetesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		if fail.Load() {
			return true, nil, errors.New("away")
		}
		review := action.(kubetesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		require.Equal(t, authorizationv1.ExtraValue{"v"}, review.Spec.Extra["k"])
		if r := review.Spec.ResourceAttributes; r != nil {
			require.Equal(t, "poolwright.dev", r.Group)
			review.Status.Allowed = r.Resource == "fleet" && r.Verb == "getfleet" && r.Namespace == "a" || r.Resource == "optimizer" && r.Verb == "optimize"
		} else {
			review.Status.Allowed = *review.Spec.NonResourceAttributes == authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}
		}
		return true, review, nil
	})
	return client
}

func TestTheAPIServerIsAsked(t *testing.T) {
	var asked atomic.Int64
	var fail atomic.Bool
	c := access.Config{
		Authentication: &access.Authentication{TokenReview: &access.TokenReview{Cache: time.Hour}},
		Authorization:  &access.Authorization{SubjectAccessReview: &access.SubjectAccessReview{Cache: time.Hour}},
	}
	_, err := access.New(c, nil)
	require.EqualError(t, err, "access: there is no API server to ask")
	a, err := access.New(c, reviewing(t, &asked, &fail))
	require.NoError(t, err)
	count := func(want int64, what string) {
		t.Helper()
		require.Equal(t, want, asked.Swap(0), what)
	}

	fail.Store(true)
	_, err = a.Authenticate(t.Context(), access.Shown{Token: token})
	require.Error(t, err)
	require.NotErrorIs(t, err, access.ErrUnauthenticated)
	require.NotContains(t, err.Error(), token)
	count(1, "a failure")
	fail.Store(false)
	var u access.User
	for range 3 {
		u, err = a.Authenticate(t.Context(), access.Shown{Token: token})
		require.NoError(t, err)
		require.Equal(t, "system:serviceaccount:a:keda", u.Name)
		_, err = a.Authenticate(t.Context(), access.Shown{Token: "another"})
		require.ErrorIs(t, err, access.ErrUnauthenticated)
	}
	count(2, "each token once, and the failure was not remembered")

	for range 3 {
		scope, err := a.Admit(t.Context(), u, getFleet())
		require.NoError(t, err)
		require.False(t, scope.Everywhere())
		has, err := scope.Has(t.Context(), "a", nil)
		require.NoError(t, err)
		require.True(t, has)
		has, err = scope.Has(t.Context(), "b", nil)
		require.NoError(t, err)
		require.False(t, has)
		_, err = a.Admit(t.Context(), u, access.Question{Method: "OptimizerService/Optimize"})
		require.NoError(t, err)
		_, err = a.Admit(t.Context(), u, access.Question{Method: "OptimizerService/Explain"})
		require.ErrorIs(t, err, access.ErrDenied)
		_, err = a.Admit(t.Context(), u, access.Question{Path: "/metrics", Verb: "get"})
		require.NoError(t, err)
		_, err = a.Admit(t.Context(), u, access.Question{Path: "/metrics", Verb: "post"})
		require.ErrorIs(t, err, access.ErrDenied)
	}
	count(7, "each right once")

	// A token for others does not count here.
	c.Authentication = &access.Authentication{TokenReview: &access.TokenReview{Audiences: []string{"poolwright"}}}
	require.NoError(t, a.Reload(c))
	for range 2 {
		_, err = a.Authenticate(t.Context(), access.Shown{Token: token})
		require.ErrorIs(t, err, access.ErrUnauthenticated)
	}
	count(2, "nothing is remembered for no time")
}

// Attempts are held to a limit with what has not counted lately, and with nothing else.
func TestAttempts(t *testing.T) {
	var asked atomic.Int64
	var fail atomic.Bool
	const other = "fedcba9876543210"
	a, err := access.New(access.Config{
		Authentication: &access.Authentication{TokenFile: write(t, t.TempDir(), "tokens", other+",anna"), TokenReview: &access.TokenReview{}},
		Authorization:  &access.Authorization{SubjectAccessReview: &access.SubjectAccessReview{}},
	}, reviewing(t, &asked, &fail))
	require.NoError(t, err)
	limited := errors.New("too many")
	refuse := func() error { return limited }
	for _, shown := range []string{token, other, "a-token-of-nobody"} {
		_, err = a.Authenticate(t.Context(), access.Shown{Token: shown, Attempt: refuse})
		require.ErrorIs(t, err, limited)
	}
	require.Zero(t, asked.Load())
	u, err := a.Authenticate(t.Context(), access.Shown{Token: token})
	require.NoError(t, err)
	_, err = a.Authenticate(t.Context(), access.Shown{Token: token, Attempt: refuse})
	require.NoError(t, err)
	_, err = a.Authenticate(t.Context(), access.Shown{})
	require.NoError(t, err, "who shows nothing attempts nothing")

	scope, err := a.Admit(t.Context(), u, getFleet())
	require.NoError(t, err)
	for _, namespace := range []string{"a", "b"} {
		_, err = scope.Has(t.Context(), namespace, refuse)
		require.ErrorIs(t, err, limited)
		has, err := scope.Has(t.Context(), namespace, nil)
		require.NoError(t, err)
		require.Equal(t, namespace == "a", has)
	}
	has, err := scope.Has(t.Context(), "a", refuse)
	require.NoError(t, err)
	require.True(t, has)
	_, err = scope.Has(t.Context(), "b", refuse)
	require.ErrorIs(t, err, limited)

	asked.Store(0)
	has, err = scope.Has(t.Context(), "No_Namespace", nil)
	require.NoError(t, err)
	require.False(t, has)
	require.Zero(t, asked.Load(), "no cluster has it")
}

// handshake connects to a server by the configuration, and returns what either says.
func handshake(t *testing.T, server, client *tls.Config) (shown []*x509.Certificate, serverError, clientError error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close() //nolint:errcheck // of the test
	b, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	a, err := listener.Accept()
	require.NoError(t, err)
	deadline := time.Now().Add(10 * time.Second)
	require.NoError(t, errors.Join(a.SetDeadline(deadline), b.SetDeadline(deadline)))
	type result struct {
		shown []*x509.Certificate
		err   error
	}
	done := make(chan result, 1)
	go func() {
		conn := tls.Server(a, server)
		err := conn.HandshakeContext(context.Background())
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		_ = a.Close()
		done <- result{conn.ConnectionState().PeerCertificates, err}
	}()
	conn := tls.Client(b, client)
	_, clientError = conn.Read(make([]byte, 1)) // in version 1.3 the client learns here that it is refused
	_ = b.Close()
	r := <-done
	return r.shown, r.err, clientError
}

// Kubernetes mounts a Secret as a link to a folder, and swaps the link.
func TestCertificatesAreExchanged(t *testing.T) {
	authority, folder := accesstest.New(t, "server CA"), t.TempDir()
	mount := func(version string, c accesstest.Certificate) {
		require.NoError(t, os.Mkdir(filepath.Join(folder, version), 0o700))
		c.Write(t, filepath.Join(folder, version))
		require.NoError(t, os.Symlink(version, filepath.Join(folder, "next")))
		require.NoError(t, os.Rename(filepath.Join(folder, "next"), filepath.Join(folder, "data")))
	}
	mount("1", authority.Server(t, "one"))
	c := access.Config{TLS: &access.TLS{
		CertificateFile: filepath.Join(folder, "data", "tls.crt"), KeyFile: filepath.Join(folder, "data", "tls.key"),
	}}
	a, err := access.New(c, nil)
	require.NoError(t, err)
	server := a.TLS("h2")
	is := func(name string) {
		t.Helper()
		_, serverError, clientError := handshake(t, server, &tls.Config{RootCAs: authority.Pool(), ServerName: name, NextProtos: []string{"h2"}})
		require.NoError(t, serverError)
		require.NoError(t, clientError)
	}
	is("one")
	mount("2", authority.Server(t, "two"))
	require.NoError(t, a.Reload(c))
	is("two")

	// A key that does not go with the certificate, as in the middle of a change.
	other := authority.Server(t, "three")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "2", "tls.crt"), other.PEM, 0o600))
	require.ErrorContains(t, a.Reload(c), "private key does not match public key")
	is("two")
	other.Write(t, filepath.Join(folder, "2"))
	require.NoError(t, a.Reload(c))
	is("three")

	// What was forgotten between it and its authority.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "2", "tls.crt"), append(other.PEM, authority.PEM()...), 0o600))
	require.NoError(t, a.Reload(c))
	served, err := server.GetConfigForClient(nil)
	require.NoError(t, err)
	require.Len(t, served.Certificates[0].Certificate, 2)
	require.Error(t, a.Reload(access.Config{}), "tls does not go while it runs")
	is("three")
}

func TestClientCertificates(t *testing.T) {
	authority, clients, strangers, folder := accesstest.New(t, "server CA"), accesstest.New(t, "client CA"), accesstest.New(t, "client CA"), t.TempDir()
	certificate := authority.Server(t, "poolwright")
	certificate.Write(t, folder)
	c := access.Config{
		TLS: &access.TLS{
			CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"),
			ClientCAFile: write(t, folder, "ca.crt", string(clients.PEM())),
		},
		Authentication: &access.Authentication{ClientCertificates: true},
	}
	a, err := access.New(c, nil)
	require.NoError(t, err)
	hour := time.Now().Add(time.Hour)
	shows := func(shown ...accesstest.Certificate) *tls.Config {
		client := &tls.Config{RootCAs: authority.Pool(), ServerName: "poolwright"}
		for _, s := range shown {
			client.Certificates = append(client.Certificates, s.Certificate)
		}
		// The chosen one is shown whoever the server says it trusts.
		if len(shown) > 0 {
			client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &client.Certificates[0], nil }
		}
		return client
	}
	annas, serverError, clientError := handshake(t, a.TLS(), shows(clients.Client(t, hour, "anna", "team-a")))
	require.NoError(t, errors.Join(serverError, clientError))
	u, err := a.Authenticate(t.Context(), access.Shown{Certificates: annas, Token: "ignored"})
	require.NoError(t, err)
	require.Equal(t, access.User{Name: "anna", Groups: []string{"team-a", "system:authenticated"}}, u)

	shown, serverError, clientError := handshake(t, a.TLS(), shows())
	require.NoError(t, errors.Join(serverError, clientError))
	require.Empty(t, shown, "none is needed")
	for name, wrong := range map[string]accesstest.Certificate{
		"of another authority": strangers.Client(t, hour, "anna"), "expired": clients.Client(t, time.Now().Add(-time.Minute), "anna"),
		"of a server": clients.Server(t, "anna"),
	} {
		_, serverError, clientError = handshake(t, a.TLS(), shows(wrong))
		require.Error(t, serverError, name)
		require.Error(t, clientError, name)
	}
	for _, names := range [][]string{{""}, {"system:anonymous"}, {"system:admin", "team-a"}, {"anna", "team-a", "system:masters"}} {
		shown, serverError, clientError = handshake(t, a.TLS(), shows(clients.Client(t, hour, names[0], names[1:]...)))
		require.NoError(t, errors.Join(serverError, clientError))
		_, err = a.Authenticate(t.Context(), access.Shown{Certificates: shown})
		require.ErrorIs(t, err, access.ErrUnauthenticated)
	}

	// It expires while the connection goes on.
	old := clients.Client(t, time.Now().Add(-time.Second), "anna")
	_, err = a.Authenticate(t.Context(), access.Shown{Certificates: []*x509.Certificate{old.Leaf}})
	require.ErrorIs(t, err, access.ErrUnauthenticated)

	required := *c.TLS
	required.RequireClientCertificate = true
	c.TLS = &required
	require.NoError(t, a.Reload(c))
	for _, wrong := range [][]accesstest.Certificate{nil, {strangers.Client(t, hour, "anna")}, {clients.Server(t, "anna")}} {
		_, serverError, clientError = handshake(t, a.TLS(), shows(wrong...))
		require.Error(t, serverError)
		require.Error(t, clientError)
	}
	_, serverError, clientError = handshake(t, a.TLS(), shows(clients.Client(t, hour, "anna")))
	require.NoError(t, errors.Join(serverError, clientError))

	// Who is trusted changes with the file, on connections that go on too.
	write(t, folder, "ca.crt", string(strangers.PEM()))
	require.NoError(t, a.Reload(c))
	_, err = a.Authenticate(t.Context(), access.Shown{Certificates: annas})
	require.ErrorIs(t, err, access.ErrUnauthenticated)
	_, serverError, _ = handshake(t, a.TLS(), shows(strangers.Client(t, hour, "anna")))
	require.NoError(t, serverError)
	_, serverError, _ = handshake(t, a.TLS(), shows(clients.Client(t, hour, "anna")))
	require.Error(t, serverError)
}

func TestPeers(t *testing.T) {
	authority, stranger := accesstest.New(t, "CA"), accesstest.New(t, "CA")
	process := func(c accesstest.Certificate) (*access.Access, func(accesstest.Certificate)) {
		folder := t.TempDir()
		c.Write(t, folder)
		config := access.Config{
			TLS: &access.TLS{CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key")},
			Authentication: &access.Authentication{
				TokenFile: write(t, folder, "tokens", token+",anna"),
			},
			Authorization: &access.Authorization{Rules: []access.Rule{{Users: []string{"*"}, Methods: []string{"*"}}}},
		}
		a, err := access.New(config, nil)
		require.NoError(t, err)
		return a, func(next accesstest.Certificate) {
			next.Write(t, folder)
			require.NoError(t, a.Reload(config))
		}
	}
	asks := func(from, to *access.Access) error {
		client, shows := from.Peer()
		_, serverError, clientError := handshake(t, to.TLS(), client)
		if clientError != nil {
			return clientError
		}
		require.NoError(t, serverError)
		u, err := to.Authenticate(t.Context(), access.Shown{Token: shows()})
		if err != nil {
			return err
		}
		require.True(t, u.Peer())
		_, err = to.Admit(t.Context(), u, getFleet())
		require.ErrorIs(t, err, access.ErrDenied, "a peer asks nothing for itself, whatever the rules say")
		return nil
	}
	first, second := authority.Server(t, "poolwright.poolwright.svc"), authority.Server(t, "poolwright.poolwright.svc")
	leader, renewLeader := process(first)
	follower, renewFollower := process(first)
	require.NoError(t, asks(follower, leader))

	impostor, _ := process(stranger.Server(t, "poolwright.poolwright.svc"))
	require.ErrorContains(t, asks(follower, impostor), "no other process of this installation")
	require.Error(t, asks(impostor, leader))
	client, _ := follower.Peer()
	_, _, clientError := handshake(t, leader.TLS(), client)
	require.NoError(t, clientError)
	_, shows := impostor.Peer()
	_, err := leader.Authenticate(t.Context(), access.Shown{Token: shows()})
	require.ErrorIs(t, err, access.ErrUnauthenticated)

	// Those whose certificate is new know the one before it.
	renewLeader(second)
	_, shows = follower.Peer()
	_, err = leader.Authenticate(t.Context(), access.Shown{Token: shows()})
	require.NoError(t, err)
	renewFollower(second)
	require.NoError(t, asks(follower, leader))
}

// Where processes are known by a key of their own, that of the certificate is none.
func TestKeyOfPeers(t *testing.T) {
	certificate := accesstest.New(t, "CA").Server(t, "poolwright.poolwright.svc")
	const old, next = "a-key-of-processes-that-is-secret", "another-key-of-processes-that-is-secret"
	process := func(key string) (*access.Access, func(key string) error) {
		folder := t.TempDir()
		certificate.Write(t, folder)
		config := access.Config{
			TLS:            &access.TLS{CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key")},
			Authentication: &access.Authentication{TokenFile: write(t, folder, "tokens", token+",anna")},
		}
		if key != "" {
			config.Authentication.PeerKeyFile = write(t, folder, "peers", key+"\n")
		}
		a, err := access.New(config, nil)
		require.NoError(t, err)
		return a, func(key string) error {
			write(t, folder, "peers", key)
			return a.Reload(config)
		}
	}
	asks := func(from, to *access.Access) error {
		client, shows := from.Peer()
		_, serverError, clientError := handshake(t, to.TLS(), client)
		require.NoError(t, errors.Join(serverError, clientError))
		u, err := to.Authenticate(t.Context(), access.Shown{Token: shows()})
		require.Equal(t, err == nil, u.Peer())
		return err
	}
	leader, change := process(old)
	follower, changeFollower := process(old)
	thief, _ := process("")
	require.NoError(t, asks(follower, leader))
	require.ErrorIs(t, asks(thief, leader), access.ErrUnauthenticated)

	// A key is exchanged as a certificate is.
	require.NoError(t, change(next))
	require.NoError(t, asks(follower, leader))
	require.NoError(t, changeFollower(next))
	require.NoError(t, asks(follower, leader))
	fresh, _ := process(next)
	require.ErrorIs(t, asks(thief, fresh), access.ErrUnauthenticated)

	err := change("short")
	require.ErrorContains(t, err, "access: authentication.peerKeyFile: ")
	require.ErrorContains(t, err, ": a key of less than 32 bytes")
	require.NotContains(t, err.Error(), "short")
	require.NoError(t, asks(follower, leader), "what counted before counts")
}

// Where connections need a certificate of a client, processes show each other that of the server.
func TestPeersShowCertificates(t *testing.T) {
	authority, clients, folder := accesstest.New(t, "CA"), accesstest.New(t, "clients"), t.TempDir()
	certificate := authority.Server(t, "poolwright")
	certificate.Write(t, folder)
	a, err := access.New(access.Config{
		TLS: &access.TLS{
			CertificateFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"),
			ClientCAFile: write(t, folder, "ca.crt", string(clients.PEM())), RequireClientCertificate: true,
		},
		Authentication: &access.Authentication{ClientCertificates: true},
	}, nil)
	require.NoError(t, err)
	client, shows := a.Peer()
	shown, serverError, clientError := handshake(t, a.TLS(), client)
	require.NoError(t, errors.Join(serverError, clientError))
	u, err := a.Authenticate(t.Context(), access.Shown{Certificates: shown, Token: shows()})
	require.NoError(t, err)
	require.True(t, u.Peer())
	_, err = a.Authenticate(t.Context(), access.Shown{Certificates: shown})
	require.ErrorIs(t, err, access.ErrUnauthenticated, "it is no user")

	other := authority.Server(t, "poolwright")
	client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &other.Certificate, nil }
	_, serverError, _ = handshake(t, a.TLS(), client)
	require.Error(t, serverError, "which has another key")
}
