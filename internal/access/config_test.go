package access_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/access"
)

func TestWhereToListen(t *testing.T) {
	address := func(text string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", text)
		require.NoError(t, err)
		return a
	}
	loopback, loopback6, everywhere := address("127.0.0.1:80"), address("[::1]:80"), address(":80")
	var (
		nothing  = access.Config{}
		insecure = access.Config{Insecure: true}
		tokens   = access.Config{Authentication: &access.Authentication{TokenFile: "tokens"}}
		review   = access.Config{Authentication: &access.Authentication{TokenReview: &access.TokenReview{}}}
		both     = access.Config{Authentication: tokens.Authentication, TLS: &access.TLS{}}
		only     = access.Config{TLS: &access.TLS{}}
	)
	for _, c := range []access.Config{nothing, insecure, tokens, review, both, only} {
		require.NoError(t, c.Listen(loopback, loopback6))
	}
	require.NoError(t, insecure.Listen(loopback, everywhere))
	require.NoError(t, both.Listen(loopback, everywhere))
	for _, c := range []access.Config{nothing, only} {
		require.EqualError(t, c.Listen(loopback, everywhere),
			"access: :80 can be reached by others, and nobody is asked who they are: give authentication in the file of --server-config, or insecure: true")
	}
	for _, c := range []access.Config{tokens, review} {
		require.EqualError(t, c.Listen(everywhere, address("192.0.2.1:90")),
			"access: :80 and 192.0.2.1:90 can be reached by others, and tokens would not be encrypted: give tls in the file of --server-config, or insecure: true")
	}
}
