package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
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

// userOf is the one that a verified certificate was made out to.
func userOf(c *x509.Certificate) (User, error) {
	name := c.Subject.CommonName
	if name == "" || name == anonymousUser {
		return User{}, fmt.Errorf("%w: the certificate names no user: its common name is %q", ErrUnauthenticated, name)
	}
	return known(name, c.Subject.Organization...), nil
}
