// Package protodoctest is for tests of pages that show the schema.
package protodoctest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// End checks that a page ends with a heading and a reference behind it, or writes it so.
func End(t *testing.T, page, heading, reference string, write bool) {
	t.Helper()
	text, err := os.ReadFile(page) //nolint:gosec // a page of ours
	require.NoError(t, err)
	before, after, found := strings.Cut(string(text), heading)
	require.True(t, found, "%s has no section for the reference", page)
	if write {
		require.NoError(t, os.WriteFile(page, []byte(before+heading+reference), 0o600)) //nolint:gosec // a page of ours
		return
	}
	require.True(t, reference == after, "%s is not what the schema says: renew it with: make docs", page) //nolint:testifylint // a difference fills pages
}
