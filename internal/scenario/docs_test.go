package scenario_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/scenario"
)

const (
	page    = "../../docs/scenarios.md"
	stories = "../../controller/testdata/scenarios"
)

func TestPageListsCommandsAndStories(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, command := range scenario.Commands() {
		assert.Regexp(t, "(?m)^\\|.*`"+command+"\\b.*\\|", string(text), "%s does not say what %s does", page, command)
	}
	files, err := filepath.Glob(filepath.Join(stories, "*.txt"))
	require.NoError(t, err)
	var told []string
	for _, file := range files {
		told = append(told, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+(?:-[a-z0-9]+)+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	assert.Equal(t, told, listed)
}

// The example of the page prints what the page says.
func TestPageIsTrue(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "```\n")
	example, _, _ := strings.Cut(rest, "```")
	declaration, rest, _ := strings.Cut(example, "----\n\n")
	commands, expected, found := strings.Cut(rest, "----\n")
	require.True(t, found, "%s has no example", page)
	assert.Equal(t, expected, story(t, declaration, commands))
}
