package sources_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/sources"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with the file beside another one.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	file += ".golden"
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := fs.ReadFile(os.DirFS("."), file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS("."), file)
	require.NoError(t, err)
	return data
}

// Each generation of the system's format, with the fleet that it means beside it.
func TestReadSystem(t *testing.T) {
	for _, name := range []string{"first.json", "second.json", "third.json"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata/system", name)
			fleet, err := sources.ReadFleet(read(t, file))
			require.NoError(t, err)
			_, err = message.Fleet(fleet)
			require.NoError(t, err)
			data, err := document.MarshalYAML(fleet)
			require.NoError(t, err)
			golden(t, file, data)

			again, err := sources.ReadFleet(data)
			require.NoError(t, err)
			dataAgain, err := document.MarshalYAML(again)
			require.NoError(t, err)
			require.Equal(t, string(data), string(dataAgain))
		})
	}
}

func TestMistakes(t *testing.T) {
	for _, name := range []string{"dangling.json", "values.json", "sections.json", "no_object.yaml", "own_format.yaml"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata/mistakes", name)
			fleet, err := sources.ReadFleet(read(t, file))
			require.Error(t, err)
			require.Nil(t, fleet)
			golden(t, file, []byte(err.Error()+"\n"))
		})
	}
}
