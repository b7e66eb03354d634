package config

import (
	"errors"
	"time"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// Server is who may reach a process, and how much it answers at once.
type Server struct {
	Access  access.Config
	Limits  server.Limits
	Tracing *Tracing // nil = none
}

// Tracing is where traces go.
type Tracing struct {
	// Endpoint is "host:port", CAFile a file of authorities in place of the system's.
	Endpoint, CAFile string
	// Insecure: the connection is not encrypted.
	Insecure bool
	// Sampling is the part of the calls that is traced, in (0, 1].
	Sampling float64
}

// defaultCache is how long answers of the API server about callers count.
const defaultCache = 10 * time.Second

// ReadServer reads the file of `serve --server-config` from YAML or JSON. The error names
// every mistake.
func ReadServer(data []byte) (Server, error) {
	m := &poolwrightv1.Server{}
	return read(data, m, func() (Server, error) { return serverOf(m) })
}

func serverOf(m *poolwrightv1.Server) (Server, error) {
	s := Server{Access: accessOf(m), Limits: limitsOf(m.GetLimits()), Tracing: tracingOf(m.GetTracing())}
	var mistakes message.Violations
	errors.As(message.Server(m), &mistakes)
	if mistakes = append(mistakes, located(s.Access.Validate())...); len(mistakes) > 0 {
		return Server{}, mistakes
	}
	return s, nil
}

func accessOf(m *poolwrightv1.Server) access.Config {
	c := access.Config{Insecure: m.GetInsecure()}
	if t := m.GetTls(); t != nil {
		c.TLS = &access.TLS{
			CertificateFile: t.GetCertificateFile(), KeyFile: t.GetKeyFile(),
			ClientCAFile: t.GetClientCaFile(), RequireClientCertificate: t.GetRequireClientCertificate(),
		}
	}
	if a := m.GetAuthentication(); a != nil {
		c.Authentication = &access.Authentication{ClientCertificates: a.GetClientCertificates(), TokenFile: a.GetTokenFile(), PeerKeyFile: a.GetPeerKeyFile()}
		if r := a.GetTokenReview(); r != nil {
			c.Authentication.TokenReview = &access.TokenReview{Audiences: r.GetAudiences(), Cache: duration(r.GetCache(), defaultCache)}
		}
	}
	if a := m.GetAuthorization(); a != nil {
		c.Authorization = &access.Authorization{}
		for _, r := range a.GetRules() {
			c.Authorization.Rules = append(c.Authorization.Rules, access.Rule{
				Users: r.GetUsers(), Groups: r.GetGroups(), Methods: r.GetMethods(), Namespaces: r.GetNamespaces(),
			})
		}
		if r := a.GetSubjectAccessReview(); r != nil {
			c.Authorization.SubjectAccessReview = &access.SubjectAccessReview{Cache: duration(r.GetCache(), defaultCache)}
		}
	}
	return c
}

func limitsOf(m *poolwrightv1.Limits) server.Limits {
	return server.Limits{
		MaxRequestBytes: int(m.GetMaxRequestBytes()), Concurrency: int(m.GetConcurrency()), Queue: int(m.GetQueue()),
		Rate: m.GetRate(), Burst: int(m.GetBurst()), Deadline: m.GetDeadline().AsDuration(), Connections: int(m.GetConnections()),
		RequestMemory: m.GetRequestMemoryBytes(),
	}
}

func tracingOf(m *poolwrightv1.Tracing) *Tracing {
	if m == nil {
		return nil
	}
	t := &Tracing{Endpoint: m.GetEndpoint(), CAFile: m.GetCaFile(), Insecure: m.GetInsecure(), Sampling: 1}
	if m.Sampling != nil {
		t.Sampling = m.GetSampling()
	}
	return t
}
