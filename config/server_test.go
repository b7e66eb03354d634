package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/server"
)

func TestEmptyServer(t *testing.T) {
	s, err := config.ReadServer([]byte("{}"))
	require.NoError(t, err)
	require.Equal(t, config.Server{}, s)
}

func TestDefaultsOfTheServer(t *testing.T) {
	s, err := config.ReadServer([]byte(`
authentication: {tokenReview: {}}
authorization: {subjectAccessReview: {}}
tracing: {endpoint: "collector:4317"}
`))
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, s.Access.Authentication.TokenReview.Cache)
	require.Equal(t, 10*time.Second, s.Access.Authorization.SubjectAccessReview.Cache)
	require.InDelta(t, 1, s.Tracing.Sampling, 0)
}

func TestEverySettingOfTheServer(t *testing.T) {
	s, err := config.ReadServer([]byte(`
tls: {certificateFile: tls.crt, keyFile: tls.key, clientCaFile: ca.crt, requireClientCertificate: true}
authentication:
  clientCertificates: true
  tokenFile: tokens
  tokenReview: {audiences: [poolwright], cache: 0s}
  peerKeyFile: peers
authorization:
  rules:
  - {users: [anna], groups: [team-a], methods: [FleetService/*, OptimizerService/*], namespaces: [a, b]}
  subjectAccessReview: {cache: 1m}
limits: {maxRequestBytes: 1000, concurrency: 2, queue: 3, rate: 4.5, burst: 6, deadline: 7s, connections: 8, requestMemoryBytes: 9}
tracing: {endpoint: "collector:4317", insecure: true, caFile: roots.crt, sampling: 0.5}
insecure: true
`))
	require.NoError(t, err)
	require.Equal(t, config.Server{
		Access: access.Config{
			TLS: &access.TLS{CertificateFile: "tls.crt", KeyFile: "tls.key", ClientCAFile: "ca.crt", RequireClientCertificate: true},
			Authentication: &access.Authentication{
				ClientCertificates: true, TokenFile: "tokens", TokenReview: &access.TokenReview{Audiences: []string{"poolwright"}},
				PeerKeyFile: "peers",
			},
			Authorization: &access.Authorization{
				Rules: []access.Rule{{
					Users: []string{"anna"}, Groups: []string{"team-a"}, Methods: []string{"FleetService/*", "OptimizerService/*"}, Namespaces: []string{"a", "b"},
				}},
				SubjectAccessReview: &access.SubjectAccessReview{Cache: time.Minute},
			},
			Insecure: true,
		},
		Limits: server.Limits{
			MaxRequestBytes: 1000, Concurrency: 2, Queue: 3, Rate: 4.5, Burst: 6, Deadline: 7 * time.Second, Connections: 8, RequestMemory: 9,
		},
		Tracing: &config.Tracing{Endpoint: "collector:4317", Insecure: true, CAFile: "roots.crt", Sampling: 0.5},
	}, s)
}

// Every mistake is named at once, with its path.
func TestMistakesOfTheServer(t *testing.T) {
	for name, test := range map[string]struct{ text, mistakes string }{
		"syntax": {"tls: {keyfile: x}", "tls.certificateFile: must be at least 1 characters\ntls.keyFile: must be at least 1 characters\ntls.keyfile: unknown field; did you mean keyFile? (line 1, column 7)"},
		"rules": {
			"tls: {}\nlimits: {rate: -1, deadline: 0s}",
			`limits.deadline: must be greater than 0s
limits.rate: must be greater than or equal to 0 and less than or equal to 1000000
tls.certificateFile: must be at least 1 characters
tls.keyFile: must be at least 1 characters`,
		},
		"meaning": {
			`
tls: {certificateFile: c, keyFile: k, requireClientCertificate: true}
authentication: {clientCertificates: true}
authorization: {rules: [{methods: ["GetFleet", "/metrics", "A/B/C", "A/*", "*"], namespaces: ["*"]}]}`,
			`tls.requireClientCertificate: needs clientCaFile
authentication.clientCertificates: needs tls.clientCaFile
authorization.rules[0]: neither users nor groups: it is for nobody
authorization.rules[0].methods[0]: "GetFleet" is neither Service/Method, Service/*, a path nor *
authorization.rules[0].methods[1]: "/metrics" is of all namespaces: allow it by a rule without namespaces
authorization.rules[0].methods[2]: "A/B/C" is neither Service/Method, Service/*, a path nor *
authorization.rules[0].namespaces[0]: "*" is no namespace: leave all of them out for every one`,
		},
		"nothing in it": {
			"authentication: {}\nauthorization: {}",
			`authentication: there is no way by which anybody could be known
authorization: there is nothing that would allow a call`,
		},
		"no part of the calls": {
			"tracing: {endpoint: 'a:1', sampling: 0}", "tracing.sampling: must be greater than 0 and less than or equal to 1",
		},
		"nothing encrypted": {
			"authentication: {tokenFile: t, peerKeyFile: k}", "authentication.peerKeyFile: needs tls",
		},
		"nobody known": {
			"authorization: {rules: [{users: [a], methods: ['*']}]}", "authorization: needs authentication",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.ReadServer([]byte(test.text))
			require.EqualError(t, err, test.mistakes)
		})
	}
}

func FuzzReadServer(f *testing.F) {
	f.Add([]byte("tls: {certificateFile: a, keyFile: b}\nauthentication: {tokenFile: c}\nauthorization: {rules: [{users: [a], methods: [A/B]}]}"))
	f.Add([]byte(`{"limits": {"deadline": "0s", "rate": 1e300}, "tracing": {"sampling": 2}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := config.ReadServer(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NoError(t, s.Access.Validate())
	})
}
