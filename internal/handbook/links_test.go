package handbook_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/handbook"
)

const root = "../.."

// pages are all pages of the repository by their paths, with what they say.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err == nil && entry.IsDir() && path != root && (strings.HasPrefix(name, ".") && name != ".github" || name == "node_modules" || name == "out") {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // a page of ours
		relative, _ := filepath.Rel(root, path)
		all[filepath.ToSlash(relative)] = string(text)
		return err
	}))
	return all
}

// Every link leads to a file that there is and, where it names a part, to a heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	require.Greater(t, len(all), 30)
	links := 0
	for page, text := range all {
		for _, link := range handbook.Links(text) {
			if strings.Contains(link.Target, "://") || strings.HasPrefix(link.Target, "mailto:") {
				continue
			}
			links++
			path, anchor, named := strings.Cut(link.Target, "#")
			target := page
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
			}
			if _, err := os.Stat(filepath.Join(root, target)); !assert.NoError(t, err, "%s:%d", page, link.Line) {
				continue
			}
			if other, isPage := all[target]; named && isPage {
				assert.True(t, handbook.Anchors(other)[anchor], "%s:%d: %s has no heading for #%s", page, link.Line, target, anchor)
			}
		}
	}
	assert.Greater(t, links, 250)
}

// Every page of the documentation can be reached from its entrance.
func TestEveryPageIsReached(t *testing.T) {
	all := pages(t)
	reached := map[string]bool{}
	for queue := []string{"docs/README.md"}; len(queue) > 0; queue = queue[1:] {
		page := queue[0]
		if reached[page] {
			continue
		}
		reached[page] = true
		for _, link := range handbook.Links(all[page]) {
			path, _, _ := strings.Cut(link.Target, "#")
			if target := filepath.ToSlash(filepath.Join(filepath.Dir(page), path)); path != "" && all[target] != "" {
				queue = append(queue, target)
			}
		}
	}
	for page := range all {
		if strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "examples/") {
			assert.True(t, reached[page], "%s is linked from nowhere", page)
		}
	}
}
