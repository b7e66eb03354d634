package handbook_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/handbook"
)

const page = "# A page\n\n```sh\nx=1; echo $x\nfalse # exits with 1\n```\n\n```text\n1\n```\n\n" +
	"## With `code` & more\n\n```sh\necho $((x + 1)) $$; echo; echo end >&2\nsleep 600 &\n```\n\n```text\n2 …\n…\nend\n```\n\nNo output of it:\n\n```text\nx\n```\n\n## A page\n" +
	"[a](other.md#part) `[no](code.md)` ![b](c.svg) <img src=\"d.svg\">\n"

func TestPage(t *testing.T) {
	steps := handbook.Steps(page)
	require.Len(t, steps, 2)
	assert.Equal(t, 3, steps[0].Line)
	assert.Equal(t, " 1", steps[0].Exits)
	assert.Equal(t, "1\n", steps[0].Output.Text)
	assert.Equal(t, "2 …\n…\nend\n", steps[1].Output.Text)
	assert.Equal(t, map[string]bool{"a-page": true, "with-code--more": true, "a-page-1": true}, handbook.Anchors(page))
	var targets []string
	for _, link := range handbook.Links(page) {
		targets = append(targets, link.Target)
	}
	assert.Equal(t, []string{"other.md#part", "c.svg", "d.svg"}, targets)
}

func TestShows(t *testing.T) {
	b := &handbook.Block{Text: "a … b\n…\nend\n"}
	assert.True(t, b.Shows("a 1 2 b  \nx\ny\nend"))
	assert.True(t, b.Shows("a  b\nend\n"))
	assert.False(t, b.Shows("a 1 2\nend\n"))
	assert.False(t, b.Shows("a 1 b\nend\nmore\n"))
	assert.False(t, (&handbook.Block{Text: "a.c\n"}).Shows("abc\n"), "nothing but … is special")
}

// complaints are what a page fails with.
type complaints struct {
	testing.TB
	number int
}

func (c *complaints) Errorf(string, ...any) { c.number++ }

func TestFollow(t *testing.T) {
	folder := t.TempDir()
	follow := func(text string, place handbook.Place) (int, string) {
		file := filepath.Join(folder, "page.md")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		c := &complaints{TB: t}
		place.Folder = folder
		handbook.Follow(c, file, place)
		after, err := os.ReadFile(file) //nolint:gosec // of this test
		require.NoError(t, err)
		return c.number, string(after)
	}
	failures, _ := follow(page, handbook.Place{})
	assert.Zero(t, failures)
	failures, _ = follow("```sh\nfalse\n```\n", handbook.Place{})
	assert.Equal(t, 1, failures, "it fails")
	failures, _ = follow("```sh\ntrue # exits with 1\n```\n", handbook.Place{})
	assert.Equal(t, 1, failures, "it does not fail")
	wrong := "```sh\necho a\necho b\n```\n```text\nx\ny\nz\n```\nrest\n"
	failures, _ = follow(wrong, handbook.Place{})
	assert.Equal(t, 1, failures)
	failures, after := follow(wrong, handbook.Place{Update: true})
	assert.Zero(t, failures)
	assert.Equal(t, "```sh\necho a\necho b\n```\n```text\na\nb\n```\nrest\n", after)
	failures, _ = follow("```sh\necho localhost:8080/x\n```\n```text\nlocalhost:8080/x\n```\n", handbook.Place{Here: []string{"localhost:8080", "127.0.0.9:1"}})
	assert.Zero(t, failures)
	failures, _ = follow("```sh\necho a\necho 'I1122 20:50:27.963519    7764 reflector.go:664] \"Warning: watch ended\"' >&2\necho b\n```\n```text\na\nb\n```\n", handbook.Place{})
	assert.Zero(t, failures, "what is logged is not printed for readers")
}
