package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// User is who asks.
type User struct {
	Name   string
	UID    string // empty where nobody gave one
	Groups []string
	// Extra is what the API server says of them besides, to be handed back to it.
	Extra map[string][]string
	peer  bool
}

// Peer tells whether it is another process of this installation, which says whom it has let in.
// It may ask nothing for itself.
func (u *User) Peer() bool { return u.peer }

// Names of Kubernetes.
const (
	anonymousUser      = "system:anonymous"
	unauthenticated    = "system:unauthenticated"
	authenticatedGroup = "system:authenticated"
)

// reserved tells whether a name is one that Kubernetes gives, and that its API server believes: only
// it says who has them.
func reserved(name string) bool { return strings.HasPrefix(name, "system:") }

// Anonymous is who shows nothing.
func Anonymous() User { return User{Name: anonymousUser, Groups: []string{unauthenticated}} }

// Known tells whether anything was shown that says who it is.
func (u *User) Known() bool { return u.Name != anonymousUser }

// known is a user with the group of all who are known.
func known(name string, groups ...string) User {
	if !slices.Contains(groups, authenticatedGroup) {
		groups = append(slices.Clone(groups), authenticatedGroup)
	}
	return User{Name: name, Groups: groups}
}

// ErrUnauthenticated is the error for those who are not who they say, or who say nothing
// where that is not enough, ErrDenied for those who may not ask what they ask. Other errors
// mean that it could not be found out.
var (
	ErrUnauthenticated = errors.New("not authenticated")
	ErrDenied          = errors.New("not allowed")
)

// userOf is the one that a verified certificate was made out to. Its authority is not taken to be
// that of a cluster, which alone would vouch for names of Kubernetes.
func userOf(c *x509.Certificate) (User, error) {
	name, groups := c.Subject.CommonName, c.Subject.Organization
	if name == "" {
		return User{}, fmt.Errorf("%w: the certificate names no user: it has no common name", ErrUnauthenticated)
	}
	if reserved(name) || slices.ContainsFunc(groups, reserved) {
		return User{}, fmt.Errorf("%w: the certificate has a name that begins with system:, which Kubernetes alone gives", ErrUnauthenticated)
	}
	return known(name, groups...), nil
}
