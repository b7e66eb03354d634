package architecture

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unwanted is what no file of the repository may contain. The words are written in
// two halves, so that this file does not offend.
var unwanted = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`), "unfinished work belongs in the issue tracker"},
	{regexp.MustCompile(`\b[tbf]\.Skip` + `(Now|f)?\(`), "a test that is left out proves nothing"},
	{regexp.MustCompile(`(^|[\s"'=:(` + "`" + `])/(wo` + `rk|ro` + `ot|ho` + `me)/`), "a path of one machine means nothing on another"},
	{regexp.MustCompile(`(?m)^(<{7}|>{7}) `), "a merge was left half done"},
}

func TestTextIsClean(t *testing.T) {
	offences, files, err := checkText(root)
	require.NoError(t, err)
	assert.Greater(t, files, 50, "the check must have read the repository")
	assert.Empty(t, offences)
}

// checkText looks for what is unwanted in every text file, and returns the offences
// and the number of files.
func checkText(tree fs.FS) (offences []string, files int, err error) {
	err = walk(tree, func(name string) error {
		if strings.HasSuffix(name, "go.sum") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		files++
		for _, u := range unwanted {
			for _, at := range u.pattern.FindAllIndex(text, -1) {
				line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
				offences = append(offences, fmt.Sprintf("%s:%d: %q: %s", name, line, bytes.TrimSpace(text[at[0]:at[1]]), u.why))
			}
		}
		return nil
	})
	return offences, files, err
}

func TestCheckTextFindsOffences(t *testing.T) {
	for _, text := range []string{
		"// TO" + "DO: later",
		"// FIX" + "ME",
		"\tt.Skip" + "(\"slow\")",
		"b.Skip" + "Now()",
		"open(\"/wo" + "rk/main\")",
		"cd /ro" + "ot/x",
		"<<<<" + "<<< ours",
	} {
		offences, files, err := checkText(fstest.MapFS{"a/b.txt": {Data: []byte("first line\n" + text)}})
		require.NoError(t, err)
		assert.Equal(t, 1, files)
		require.Len(t, offences, 1, text)
		assert.Contains(t, offences[0], "a/b.txt:2: ")
	}
}

func TestCheckTextAllows(t *testing.T) {
	for _, text := range []string{"a/wo" + "rk/b", "wo" + "rk/b", "s.Skip" + "Next()", "mastoDOnt", "https://host/wo" + "rk/"} {
		offences, _, err := checkText(fstest.MapFS{"a.txt": {Data: []byte(text)}})
		require.NoError(t, err)
		assert.Empty(t, offences, text)
	}
}
