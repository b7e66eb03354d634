package resourcetest

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Examples are the files of a folder with examples, by name.
func Examples(t testing.TB, folder string) []string {
	t.Helper()
	files := os.DirFS(folder)
	names, err := fs.Glob(files, "*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, names, folder)
	var texts []string
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}
