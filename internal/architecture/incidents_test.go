package architecture

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// incidents are the numbers of reports from users of other autoscalers
// (docs/scenarios.md). The name of whatever tests one begins with its number.
const incidents = 32

var (
	incidentTest   = regexp.MustCompile(`(?m)^func TestIncident(\d\d)`)
	incidentScript = regexp.MustCompile(`^controller/testdata/scenarios/incident-(\d\d)-[a-z-]+\.txt$`)
)

// Every incident is tested, by a scenario script or by a test of the part that it is about.
func TestEveryIncidentIsTested(t *testing.T) {
	tested := make(map[int]string)
	add := func(number, where string) {
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		tested[n] = where
	}
	require.NoError(t, walk(root, func(name string) error {
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		for _, m := range incidentTest.FindAllSubmatch(text, -1) {
			add(string(m[1]), name)
		}
		return err
	}))
	scripts, err := fs.Glob(root, "controller/testdata/scenarios/*.txt")
	require.NoError(t, err)
	for _, name := range scripts {
		if m := incidentScript.FindStringSubmatch(name); m != nil {
			add(m[1], name)
		}
	}
	for n := 1; n <= incidents; n++ {
		assert.Contains(t, tested, n, "no test of incident %d", n)
	}
	assert.Len(t, tested, incidents, "%v", tested)
}
