package access

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
)

// Access knows who asks and what they may, by a configuration and its files as they were read
// last.
type Access struct {
	cluster *cluster
	now     atomic.Pointer[state]
	// counted are the digests of tokens that have counted lately.
	counted *cache.LRUExpireCache
}

// lately is for how long it is known that a token has counted, or that there was a right: those
// are not held to a limit on attempts.
const lately = time.Hour

// state is what a configuration and its files say. It is never changed.
type state struct {
	config Config
	files  *files
}

// New reads the files of a configuration. The client is that of the cluster whose API server
// is asked; nil where none is.
func New(c Config, client kubernetes.Interface) (*Access, error) {
	a := &Access{counted: cache.NewLRUExpireCache(mostAnswers)}
	if client != nil {
		a.cluster = newCluster(client)
	}
	f, err := read(&c, &files{})
	if err == nil {
		err = a.asks(&c)
	}
	if err != nil {
		return nil, err
	}
	a.now.Store(&state{c, f})
	return a, nil
}

// asks returns why there is nobody to ask.
func (a *Access) asks(c *Config) error {
	if c.Asks() && a.cluster == nil {
		return errors.New("access: there is no API server to ask")
	}
	return nil
}

// Reload takes a configuration, and reads its files again. What cannot be read or is
// mistaken leaves in place what counted before. Whether connections are encrypted cannot
// change.
func (a *Access) Reload(c Config) error {
	was := a.now.Load()
	if (c.TLS == nil) != (was.config.TLS == nil) {
		return errors.New("access: tls cannot come or go while the process runs")
	}
	if err := a.asks(&c); err != nil {
		return err
	}
	f, err := read(&c, was.files)
	if err == nil || reflect.DeepEqual(c, was.config) {
		a.now.Store(&state{c, f})
	}
	return err
}

// Encrypted tells whether connections are.
func (a *Access) Encrypted() bool { return a.now.Load().config.TLS != nil }

// Asked tells whether callers are asked who they are.
func (a *Access) Asked() bool { return a.now.Load().config.Authentication != nil }

// Insecure tells whether the configuration leaves protection to others.
func (a *Access) Insecure() bool { return a.now.Load().config.Insecure }

// TLS is how connections for the given protocols are encrypted, nil = they are not. Each
// connection has the certificates of its time. Sessions are not resumed: that would let a
// client in whose authority is no longer trusted.
func (a *Access) TLS(protocols ...string) *tls.Config {
	if !a.Encrypted() {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			s := a.now.Load()
			c := &tls.Config{
				MinVersion: tls.VersionTLS12, NextProtos: protocols, SessionTicketsDisabled: true,
				Certificates: []tls.Certificate{*s.files.certificate},
			}
			switch {
			case s.files.clients == nil:
			case s.config.TLS.RequireClientCertificate:
				c.ClientCAs, c.ClientAuth = s.files.clients, tls.RequireAnyClientCert
				c.VerifyConnection = func(shown tls.ConnectionState) error { return s.files.admit(shown.PeerCertificates) }
			default:
				c.ClientCAs, c.ClientAuth = s.files.clients, tls.VerifyClientCertIfGiven
			}
			return c, nil
		},
	}
}

// Shown is what a caller shows.
type Shown struct {
	// Certificates are that of the client, and those between it and its authority.
	Certificates []*x509.Certificate
	// Token is a bearer token; empty = none.
	Token string
	// Attempt is asked before it is found out whose a token is that has not counted lately; it
	// returns why it is not to be. nil = it always is.
	Attempt func() error
}

// Authenticate returns who shows something: [Anonymous] who shows nothing. The error is
// [ErrUnauthenticated] for a token that is nobody's.
func (a *Access) Authenticate(ctx context.Context, shown Shown) (User, error) {
	s := a.now.Load()
	c := s.config.Authentication
	if c == nil {
		return Anonymous(), nil
	}
	if s.files.peers != nil && s.files.peers.isPeer(shown.Token, time.Now()) {
		u := known(peerUser)
		u.peer = true
		return u, nil
	}
	if c.ClientCertificates && len(shown.Certificates) > 0 {
		// It may have expired, or its authority be trusted no longer, since the connection began.
		if err := s.files.verify(shown.Certificates); err != nil {
			return User{}, fmt.Errorf("%w: %w", ErrUnauthenticated, err)
		}
		return userOf(shown.Certificates[0])
	}
	if shown.Token == "" {
		return Anonymous(), nil
	}
	key := sha256.Sum256([]byte(shown.Token))
	if _, has := a.counted.Get(key); !has && shown.Attempt != nil {
		if err := shown.Attempt(); err != nil {
			return User{}, err
		}
	}
	u, err := a.userOf(ctx, s, shown.Token)
	if err == nil {
		a.counted.Add(key, nil, lately)
	}
	return u, err
}

// userOf is whom a token belongs to.
func (a *Access) userOf(ctx context.Context, s *state, token string) (User, error) {
	c := s.config.Authentication
	if c.TokenFile != "" {
		if u, ok := s.files.tokens.user(token); ok {
			return u, nil
		}
	}
	if c.TokenReview != nil {
		u, err := a.cluster.user(ctx, c.TokenReview, token)
		if err != nil {
			return User{}, err
		}
		if u != nil {
			return *u, nil
		}
	}
	return User{}, fmt.Errorf("%w: the token is not known, or no longer", ErrUnauthenticated)
}

// Admit lets a user ask, in all namespaces or in some. The error is [ErrUnauthenticated] for
// who has to say who they are first, [ErrDenied] for who may not ask in any namespace.
func (a *Access) Admit(ctx context.Context, u User, q Question) (Scope, error) {
	s := a.now.Load()
	c := s.config.Authorization
	switch {
	case s.config.Authentication == nil, c == nil && u.Known() && !u.peer:
		return Everywhere(), nil
	case c != nil && !u.peer:
		scope, err := a.authorize(ctx, c, &u, &q)
		if err == nil || !errors.Is(err, ErrDenied) {
			return scope, err
		}
	}
	if !u.Known() {
		return Scope{}, fmt.Errorf("%w: show a certificate or a bearer token", ErrUnauthenticated)
	}
	return Scope{}, fmt.Errorf("%w: %s may not ask for %s", ErrDenied, u.Name, q.name())
}

func (q *Question) name() string {
	if q.Method != "" {
		return q.Method
	}
	return q.Path
}

// authorize asks the rules, and then the API server.
func (a *Access) authorize(ctx context.Context, c *Authorization, u *User, q *Question) (Scope, error) {
	var rules []Rule
	for _, r := range c.Rules {
		if !r.isFor(u) || !r.allows(q) {
			continue
		}
		if len(r.Namespaces) == 0 || !q.Namespaced {
			return Everywhere(), nil
		}
		rules = append(rules, r)
	}
	if c.SubjectAccessReview != nil {
		all, err := a.cluster.may(ctx, c.SubjectAccessReview, u, q, "", nil)
		if err != nil {
			return Scope{}, err
		}
		if all {
			return Everywhere(), nil
		}
	}
	if len(rules) == 0 && (c.SubjectAccessReview == nil || !q.Namespaced) {
		return Scope{}, ErrDenied
	}
	return Scope{access: a, user: *u, question: *q}, nil
}

// Scope is where a user may ask what they ask: in some namespaces, or everywhere. The zero
// value is nowhere.
type Scope struct {
	everywhere bool
	access     *Access
	user       User
	question   Question
}

// Everywhere is the scope of all namespaces.
func Everywhere() Scope { return Scope{everywhere: true} }

// Everywhere tells whether it is all namespaces, those that there will be too.
func (s Scope) Everywhere() bool { return s.everywhere }

// Has tells whether a namespace is in the scope, by what counts now. Attempt is asked before the API
// server is about a right that there was not lately; it returns why that is not to be asked. nil = it
// always is.
func (s Scope) Has(ctx context.Context, namespace string, attempt func() error) (bool, error) {
	if s.everywhere {
		return true, nil
	}
	if s.access == nil || namespace == "" {
		return false, nil
	}
	c := s.access.now.Load().config.Authorization
	if c == nil {
		return false, nil
	}
	for _, r := range c.Rules {
		if r.isFor(&s.user) && r.allows(&s.question) && (len(r.Namespaces) == 0 || slices.Contains(r.Namespaces, namespace)) {
			return true, nil
		}
	}
	if c.SubjectAccessReview == nil || len(validation.IsDNS1123Label(namespace)) > 0 { // no cluster has it
		return false, nil
	}
	return s.access.cluster.may(ctx, c.SubjectAccessReview, &s.user, &s.question, namespace, attempt)
}

// Peer is how another process of this installation is asked: what it is encrypted by, nil =
// not at all, and what is shown to it, empty = nothing.
func (a *Access) Peer() (*tls.Config, func() string) {
	if !a.Encrypted() {
		return nil, func() string { return "" }
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			s := a.now.Load()
			if s.config.TLS.RequireClientCertificate {
				return s.files.certificate, nil
			}
			return &tls.Certificate{}, nil // the token says who asks
		},
		// The address of a process is in no certificate: what is checked is below.
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does
		VerifyConnection: func(c tls.ConnectionState) error {
			return a.now.Load().files.peers.verify(c.PeerCertificates, time.Now())
		},
	}
	return config, func() string { return a.now.Load().files.peers.token(time.Now()) }
}
