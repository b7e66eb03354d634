package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHostOf(t *testing.T) {
	for address, host := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "::ffff:192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::5]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64", "@": "@",
	} {
		require.Equal(t, host, hostOf(address), address)
	}
}
