package access

import (
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/access/accesstest"
)

// A key that was exchanged lets nobody in for long.
func TestFormerPeers(t *testing.T) {
	authority := accesstest.New(t, "CA")
	stolen, next, third := authority.Server(t, "old"), authority.Server(t, "new"), authority.Server(t, "newer")
	now := time.Now()
	before, err := newPeers(&stolen.Certificate, nil, nil, now)
	require.NoError(t, err)
	after, err := newPeers(&next.Certificate, nil, before, now)
	require.NoError(t, err)
	is := func(p *peers, now time.Time) bool {
		t.Helper()
		has := p.has(stolen.Leaf, now)
		require.Equal(t, has, p.isPeer(before.token(now), now))
		require.Equal(t, has, p.verify([]*x509.Certificate{stolen.Leaf}, now) == nil)
		require.True(t, p.isPeer(p.token(now), now))
		return has
	}
	require.True(t, is(after, now))
	require.True(t, is(after, now.Add(formerTime-1)))
	require.False(t, is(after, now.Add(formerTime)))
	last, err := newPeers(&third.Certificate, nil, after, now)
	require.NoError(t, err)
	require.False(t, is(last, now), "exchanged twice")
}

// An authority that names nobody vouches for nobody.
func TestPeersWithoutNames(t *testing.T) {
	authority, now := accesstest.New(t, "CA"), time.Now()
	own, other := authority.Nameless(t), authority.Nameless(t)
	block, _ := pem.Decode(authority.PEM())
	root, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	own.Certificate.Certificate = append(own.Certificate.Certificate, root.Raw)
	p, err := newPeers(&own.Certificate, nil, nil, now)
	require.NoError(t, err)
	require.NoError(t, p.verify([]*x509.Certificate{own.Leaf, root}, now))
	require.Error(t, p.verify([]*x509.Certificate{other.Leaf, root}, now))
}
