package access

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/access/accesstest"
)

// Whatever stands in a file of tokens, no error tells it.
func FuzzTokens(f *testing.F) {
	f.Add("0123456789abcdef,anna,team-a\n\n")
	f.Add("short,anna\r\n0123456789abcdef\n0123456789abcdef,anna\n0123456789abcdef,bert,")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readTokens([]byte(text))
		if err == nil {
			require.NotEmpty(t, found)
			return
		}
		words := "no user: a line is token,user[,group]…" // of an error
		for line := range strings.Lines(text) {
			token, _, _ := strings.Cut(line, ",")
			if token = strings.TrimSpace(token); len(token) >= leastToken && !strings.Contains(words, token) {
				require.NotContains(t, err.Error(), token)
			}
		}
		for _, u := range found {
			require.True(t, u.Known())
		}
	})
}

// No token is a peer's that was not made with its key, and now.
func FuzzPeer(f *testing.F) {
	certificate := accesstest.New(f, "CA").Server(f, "poolwright")
	p, err := newPeers(&certificate.Certificate, nil, nil, time.Now())
	require.NoError(f, err)
	now := time.Now()
	f.Add(p.token(now.Add(-time.Hour)))
	f.Add(peerMark)
	f.Fuzz(func(t *testing.T, token string) {
		require.False(t, p.isPeer(token, now))
		require.True(t, p.isPeer(p.token(now), now))
	})
}
