package sources_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// FuzzSystem checks that what is imported can be written and read as a fleet of our
// own, with references that hold and limits in their ranges.
func FuzzSystem(f *testing.F) {
	for _, pattern := range []string{"testdata/system/*.json", "testdata/mistakes/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := fs.ReadFile(os.DirFS("."), file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := sources.ReadFleet(data)
		if err != nil {
			require.Nil(t, fleet)
			require.NotEmpty(t, err.Error())
			return
		}
		text, err := document.MarshalJSON(fleet)
		require.NoError(t, err)
		again, err := sources.ReadFleet(text)
		require.NoError(t, err, string(text))
		require.True(t, proto.Equal(fleet, again), string(text))
		if tree, err := document.Parse(data); err == nil && hasSystem(tree) {
			requireSound(t, fleet)
		}
	})
}

func hasSystem(tree document.Value) bool {
	for key := range tree.Members() {
		if key.Text() == "system" {
			return true
		}
	}
	return false
}

func requireSound(t *testing.T, fleet *poolwrightv1.Fleet) {
	t.Helper()
	pools := map[string]bool{}
	for _, p := range fleet.GetPools() {
		require.False(t, pools[p.GetName()])
		pools[p.GetName()] = true
	}
	for _, w := range fleet.GetWorkloads() {
		require.NotEmpty(t, w.GetVariants())
		require.GreaterOrEqual(t, w.GetLoad().GetOutputTokens(), 1.0)
		for _, v := range w.GetVariants() {
			require.True(t, pools[v.GetAccelerator()])
			require.GreaterOrEqual(t, v.GetMaxBatch(), int32(1))
			require.LessOrEqual(t, v.GetMaxBatch(), int32(65536))
			require.GreaterOrEqual(t, v.GetDevicesPerReplica(), int32(1))
		}
	}
}
