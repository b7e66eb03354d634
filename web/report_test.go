package web

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReportAllowsItsOwnScriptsAlone(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Report(&out, "a day", []byte(`{"name":"</script><script>alert(1)</script>"}`)))
	page := out.String()
	assert.NotContains(t, page, "<script>alert", "data is no script")
	allowed := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, allowed)
	rules := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(allowed[1])
	scripts := regexp.MustCompile(`(?s)<script(?: type="module")?>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	require.Len(t, scripts, 3)
	for _, s := range append(scripts, regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(page)) {
		assert.Contains(t, rules, digest(s[1]))
	}
	assert.NotContains(t, rules, "unsafe")
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestReportSaysWhyItCouldNotBeWritten(t *testing.T) {
	full := errors.New("the disk is full")
	assert.ErrorIs(t, Report(broken{full}, "a day", []byte("{}")), full)
}

// Modules are joined into one, so a name at the top of one may not be at that of another,
// and imports must be what is left out.
func TestModulesCanBeJoined(t *testing.T) {
	top := regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:const|let|function|class) (\w+)`)
	seen := map[string]string{}
	known := map[string]bool{}
	for _, name := range reportModules() {
		data, err := files.ReadFile("assets/" + name)
		require.NoError(t, err)
		for _, m := range importLine.FindAllSubmatch(data, -1) {
			assert.True(t, known[string(m[1])], "%s imports %s, which must come before it", name, m[1])
		}
		known[name] = true
		for _, m := range top.FindAllSubmatch(data, -1) {
			assert.Empty(t, seen[string(m[1])], "%s of %s", m[1], name)
			seen[string(m[1])] = name
		}
		assert.Len(t, importLine.FindAll(data, -1), bytes.Count(data, []byte("import ")), "imports of %s stand on lines of their own", name)
	}
	script, err := bundle(reportModules()...)
	require.NoError(t, err)
	assert.NotRegexp(t, `(?m)^(?:import|export) `, script)
	assert.NotContains(t, script, "</script")
}
