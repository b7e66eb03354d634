package records_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestEach(t *testing.T) {
	const text = "name,ms\na,1500\nb,2\n"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	for _, file := range []string{write(t, "x.csv", text), write(t, "x.csv.gz", packed.String())} {
		var rows []string
		total := 0.0
		require.NoError(t, records.Each(file, func(r *records.Record) {
			rows = append(rows, r.Text("name")+"="+r.Row())
			total += r.Milliseconds("ms")
		}))
		assert.Equal(t, []string{"a=a,1500", "b=b,2"}, rows)
		assert.InDelta(t, 1.502, total, 1e-12)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	file := write(t, "x.csv", "a\n1\nx\ny\n")
	err := records.Each(file, func(r *records.Record) { r.Number("a") })
	require.EqualError(t, err, file+`: line 3: a: "x" is not a number`)
	err = records.Each(file, func(r *records.Record) { r.Text("b") })
	require.EqualError(t, err, file+`: no column "b"`)
	err = records.Each(write(t, "empty.csv", ""), func(*records.Record) {})
	require.ErrorContains(t, err, "no header")
	err = records.Each(file+".gz", func(*records.Record) {})
	require.ErrorIs(t, err, os.ErrNotExist)
}
