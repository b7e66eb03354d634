//go:build packaging

package packaging

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// instruction of a Dockerfile.
type instruction struct{ word, rest string }

// stages are those of the Dockerfile by name, and the instructions before the first.
func stages(t *testing.T) (before []instruction, stages map[string][]instruction, last string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/Dockerfile")
	require.NoError(t, err)
	plain := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(string(text), "")
	stages = map[string][]instruction{}
	for line := range strings.Lines(strings.ReplaceAll(plain, "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "":
			continue
		case word == "FROM":
			from := strings.Fields(rest)
			require.Equal(t, "AS", from[len(from)-2], "every stage has a name")
			last = from[len(from)-1]
			stages[last] = []instruction{{word, from[len(from)-3]}}
		case last == "":
			before = append(before, instruction{word, rest})
		default:
			stages[last] = append(stages[last], instruction{word, rest})
		}
	}
	return before, stages, last
}

// all are the rests of the instructions of a word.
func all(of []instruction, word string) []string {
	var rests []string
	for _, i := range of {
		if i.word == word {
			rests = append(rests, i.rest)
		}
	}
	return rests
}

// The images that are run hold nothing but what is needed, and run it as nobody.
func TestImagesAreSmallAndSafe(t *testing.T) {
	before, stages, last := stages(t)
	assert.Equal(t, "static", last, "the default is the build without cgo")
	bases := map[string]string{}
	for _, argument := range all(before, "ARG") {
		name, image, ok := strings.Cut(argument, "=")
		require.True(t, ok, argument)
		assert.Regexp(t, `^[a-z0-9./-]+:[a-z0-9.-]+$`, image, "a base image has a version")
		assert.NotContains(t, image, ":latest")
		bases["${"+name+"}"] = image
	}
	for _, name := range []string{"static", "clp"} {
		stage := stages[name]
		assert.Contains(t, bases[all(stage, "FROM")[0]], "distroless", name)
		assert.Equal(t, []string{"65532:65532"}, all(stage, "USER"), name)
		assert.Equal(t, []string{`["/usr/bin/poolwright"]`}, all(stage, "ENTRYPOINT"), "%s: no shell is needed", name)
		assert.Equal(t, []string{"8080 9090"}, all(stage, "EXPOSE"), name)
		assert.Empty(t, all(stage, "RUN"), "%s: what runs has no shell", name)
		assert.Contains(t, all(stage, "COPY"), "LICENSE /usr/share/doc/poolwright/LICENSE", name)
	}
	for name, stage := range stages {
		from := all(stage, "FROM")[0]
		assert.True(t, bases[from] != "" || stages[from] != nil, "%s: %s is neither an argument nor a stage", name, from)
		assert.Empty(t, all(stage, "ADD"), "%s: COPY fetches nothing", name)
		for _, copied := range all(stage, "COPY") {
			if source, ok := strings.CutPrefix(copied, "--from="); ok {
				source, _, _ = strings.Cut(source, " ")
				assert.Contains(t, stages, source, name)
			}
		}
	}
}

// Images hold what `make build` makes, so that there is one way to build.
func TestImagesAreBuiltByMake(t *testing.T) {
	_, stages, _ := stages(t)
	assert.Equal(t, []string{`GOOS=$TARGETOS GOARCH=$TARGETARCH make build HAVE_CLP=false VERSION="$VERSION" BIN=/out/`}, all(stages["build-static"], "RUN"))
	assert.Contains(t, all(stages["build-clp"], "RUN"), `make build VERSION="$VERSION" BIN=/out/`)
}
