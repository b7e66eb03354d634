package document_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

var update = flag.Bool("update", false, "write the golden files")

// Each file in testdata/mistakes has one kind of mistake; beside it is the error.
func TestMistakes(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/mistakes/*.json", "testdata/mistakes/*.yaml"} {
		matches, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, matches)
		files = append(files, matches...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := fs.ReadFile(os.DirFS("."), file)
			require.NoError(t, err)
			err = unmarshalFor(file)(data, &poolwrightv1.Fleet{})
			require.Error(t, err)
			golden := file + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o600))
			}
			want, readErr := fs.ReadFile(os.DirFS("."), golden)
			require.NoError(t, readErr)
			require.Equal(t, string(want), err.Error()+"\n")
			var list *document.Error
			require.ErrorAs(t, err, &list)
			require.NotEmpty(t, list.Violations)
		})
	}
}
