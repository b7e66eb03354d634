package access

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Config says who may ask what.
type Config struct {
	TLS            *TLS            // nil = nothing is encrypted
	Authentication *Authentication // nil = nobody is asked who they are
	Authorization  *Authorization  // nil = whoever is known may ask everything
	// Insecure: addresses beyond loopback may be listened on without what protects them.
	Insecure bool
}

// TLS is how connections are encrypted. The files are in PEM.
type TLS struct {
	CertificateFile, KeyFile string
	// ClientCAFile has the authorities of clients' certificates; empty = none is asked for.
	ClientCAFile string
	// RequireClientCertificate refuses connections without one.
	RequireClientCertificate bool
}

// Authentication is how callers are known, tried in the order of the fields.
type Authentication struct {
	ClientCertificates bool
	TokenFile          string       // empty = none
	TokenReview        *TokenReview // nil = none
	// PeerKeyFile has what other processes of this installation are known by; empty = the key of the
	// certificate.
	PeerKeyFile string
}

// TokenReview asks the API server who a token belongs to.
type TokenReview struct {
	Audiences []string // none = that of the API server
	// Cache is how long an answer counts, ≥ 0.
	Cache time.Duration
}

// Authorization is what callers may ask. One way that allows a call is enough.
type Authorization struct {
	Rules               []Rule
	SubjectAccessReview *SubjectAccessReview // nil = none
}

// Rule allows some methods in some namespaces to some callers.
type Rule struct {
	Users, Groups []string
	Methods       []string
	Namespaces    []string // none = all, and paths
}

// SubjectAccessReview asks the API server what a user may do.
type SubjectAccessReview struct {
	// Cache is how long an answer counts, ≥ 0.
	Cache time.Duration
}

// everything is what a rule has in place of names: all methods, or everybody who is known.
const everything = "*"

// Tokens tells whether callers show tokens.
func (a *Authentication) Tokens() bool {
	return a != nil && (a.TokenFile != "" || a.TokenReview != nil)
}

// Asks tells whether the API server of a cluster is asked.
func (c *Config) Asks() bool {
	return c.Authentication != nil && c.Authentication.TokenReview != nil ||
		c.Authorization != nil && c.Authorization.SubjectAccessReview != nil
}

// Validate reports every mistake with its path.
func (c *Config) Validate() error {
	var errs []error
	add := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("access: %s: %s", path, fmt.Sprintf(format, args...)))
	}
	if t := c.TLS; t != nil && t.RequireClientCertificate && t.ClientCAFile == "" {
		add("tls.requireClientCertificate", "needs clientCaFile")
	}
	if a := c.Authentication; a != nil {
		if a.ClientCertificates && (c.TLS == nil || c.TLS.ClientCAFile == "") {
			add("authentication.clientCertificates", "needs tls.clientCaFile")
		}
		if !a.ClientCertificates && !a.Tokens() {
			add("authentication", "there is no way by which anybody could be known")
		}
		if a.PeerKeyFile != "" && c.TLS == nil {
			add("authentication.peerKeyFile", "needs tls")
		}
	}
	if a := c.Authorization; a != nil {
		if c.Authentication == nil {
			add("authorization", "needs authentication")
		}
		if len(a.Rules) == 0 && a.SubjectAccessReview == nil {
			add("authorization", "there is nothing that would allow a call")
		}
		for i := range a.Rules {
			a.Rules[i].check(fmt.Sprintf("authorization.rules[%d]", i), add)
		}
	}
	return errors.Join(errs...)
}

func (r *Rule) check(path string, add func(path, format string, args ...any)) {
	if len(r.Users) == 0 && len(r.Groups) == 0 {
		add(path, "neither users nor groups: it is for nobody")
	}
	for j, m := range r.Methods {
		service, method, ok := strings.Cut(m, "/")
		if m != everything && (!ok || service != "" && (method == "" || strings.Contains(method, "/"))) {
			add(fmt.Sprintf("%s.methods[%d]", path, j), "%q is neither Service/Method, Service/*, a path nor *", m)
		}
		if ok && service == "" && len(r.Namespaces) > 0 {
			add(fmt.Sprintf("%s.methods[%d]", path, j), "%q is of all namespaces: allow it by a rule without namespaces", m)
		}
	}
	for j, n := range r.Namespaces {
		if n == "" || n == everything {
			add(fmt.Sprintf("%s.namespaces[%d]", path, j), "%q is no namespace: leave all of them out for every one", n)
		}
	}
}

// Listen returns why addresses may not be listened on, nil = they may.
func (c *Config) Listen(addresses ...net.Addr) error {
	if c.Insecure || !slices.ContainsFunc(addresses, beyondLoopback) {
		return nil
	}
	var listed []string
	for _, a := range addresses {
		if beyondLoopback(a) {
			listed = append(listed, a.String())
		}
	}
	where := strings.Join(listed, " and ")
	switch {
	case c.Authentication == nil:
		return fmt.Errorf("access: %s can be reached by others, and nobody is asked who they are: give authentication in the file of --server-config, or insecure: true", where)
	case c.Authentication.Tokens() && c.TLS == nil:
		return fmt.Errorf("access: %s can be reached by others, and tokens would not be encrypted: give tls in the file of --server-config, or insecure: true", where)
	}
	return nil
}

// beyondLoopback tells whether others than this machine reach an address.
func beyondLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || !tcp.IP.IsLoopback()
}
