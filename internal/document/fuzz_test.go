package document_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// addSeeds adds the mistakes and the sample to the corpus.
func addSeeds(f *testing.F, pattern string, marshal func(proto.Message) ([]byte, error)) {
	f.Helper()
	files, err := filepath.Glob("testdata/mistakes/" + pattern)
	require.NoError(f, err)
	for _, file := range files {
		data, err := fs.ReadFile(os.DirFS("."), file)
		require.NoError(f, err)
		f.Add(data)
	}
	data, err := marshal(sample())
	require.NoError(f, err)
	f.Add(data)
}

// FuzzJSON compares with protojson: JSON that it accepts is accepted, to the same
// message, but for the documented differences. It also accepts texts that are not
// JSON, such as the number 0e; those don't count.
func FuzzJSON(f *testing.F) {
	addSeeds(f, "*.json", document.MarshalJSON)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, want := &poolwrightv1.Fleet{}, &poolwrightv1.Fleet{}
		err := document.UnmarshalJSON(data, got)
		if json.Valid(data) && protojson.Unmarshal(data, want) == nil {
			requireDocumented(t, err)
			if err == nil {
				require.True(t, proto.Equal(want, got), "%v\n%v", want, got)
			}
		}
		if err == nil {
			requireRoundTrip(t, got)
		}
	})
}

// FuzzYAML checks that what is read can be written and read again.
func FuzzYAML(f *testing.F) {
	addSeeds(f, "*.yaml", document.MarshalYAML)
	f.Fuzz(func(t *testing.T, data []byte) {
		got := &poolwrightv1.Fleet{}
		if err := document.UnmarshalYAML(data, got); err == nil {
			requireRoundTrip(t, got)
		} else {
			require.NotEmpty(t, err.Error())
		}
	})
}

func requireRoundTrip(t *testing.T, m *poolwrightv1.Fleet) {
	t.Helper()
	requireLikeProtojson(t, m)
	for _, marshal := range []func(proto.Message) ([]byte, error){document.MarshalJSON, document.MarshalYAML} {
		data, err := marshal(m)
		require.NoError(t, err)
		again := &poolwrightv1.Fleet{}
		require.NoError(t, document.Unmarshal(data, again), string(data))
		require.True(t, proto.Equal(m, again), string(data))
	}
}

// requireDocumented accepts the mistakes that protojson does not mind.
func requireDocumented(t *testing.T, err error) {
	t.Helper()
	var mistakes *document.Error
	if !errors.As(err, &mistakes) {
		require.NoError(t, err)
		return
	}
	for _, v := range mistakes.Violations {
		require.True(t, documented(v.Message), v.String())
	}
}

func documented(message string) bool {
	for _, reason := range []string{
		"remove the quotes", "must be finite", "given twice", "got the number", "nested deeper",
		// A document that is only null.
		"empty document",
	} {
		if strings.Contains(message, reason) {
			return true
		}
	}
	return false
}
