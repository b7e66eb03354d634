//go:build packaging

package packaging

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const release = "v1.2.3"

// releaseFiles are what a release consists of.
var releaseFiles = []string{
	"SHA256SUMS", "poolwright-1.2.3-linux-amd64.cdx.json", "poolwright-1.2.3-linux-amd64.tar.gz",
	"poolwright-1.2.3-linux-arm64.cdx.json", "poolwright-1.2.3-linux-arm64.tar.gz", "poolwright-1.2.3.tgz",
}

// dist makes a release out of a tree, into a new folder.
func dist(t *testing.T, tree string) map[string][]byte {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "dist")
	command := exec.CommandContext(t.Context(), "tools/dist.sh", release, folder) //nolint:gosec // the repository's own
	command.Dir = tree
	command.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	files := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		files[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())) //nolint:gosec // of the test's folder
		require.NoError(t, err)
	}
	require.Equal(t, releaseFiles, names)
	return files
}

// elsewhere is a copy of the tree, without its history and at another time.
func elsewhere(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", //nolint:gosec // a command of ours
		`git -C ../.. ls-files -co --exclude-standard -z | tar -c -C ../.. --null --ignore-failed-read -T - | tar -x -m -C "$0"`, folder)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	return folder
}

// A release is what was promised, and the same tree gives the same bits wherever it lies.
func TestReleaseIsReproducible(t *testing.T) {
	here, there := dist(t, "../.."), dist(t, elsewhere(t))
	for _, name := range releaseFiles {
		assert.Equal(t, sha256.Sum256(here[name]), sha256.Sum256(there[name]), "%s differs", name)
	}
	t.Run("checksums", func(t *testing.T) { checkSums(t, here) })
	for _, platform := range []string{"amd64", "arm64"} {
		t.Run(platform, func(t *testing.T) {
			name := "poolwright-1.2.3-linux-" + platform
			checkArchive(t, here[name+".tar.gz"], name, platform)
			checkContents(t, here[name+".cdx.json"])
		})
	}
	t.Run("chart", func(t *testing.T) { checkChart(t, here["poolwright-1.2.3.tgz"]) })
}

func checkSums(t *testing.T, files map[string][]byte) {
	t.Helper()
	var lines []string
	for _, name := range releaseFiles[1:] {
		lines = append(lines, fmt.Sprintf("%x  %s", sha256.Sum256(files[name]), name))
	}
	assert.Equal(t, lines, strings.Split(strings.TrimSpace(string(files["SHA256SUMS"])), "\n"))
}

// unpack returns the files of an archive, whose entries tell of nobody and no place.
func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	plain, err := gzip.NewReader(strings.NewReader(string(archive)))
	require.NoError(t, err)
	files := map[string][]byte{}
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		assert.EqualValues(t, 1700000000, header.ModTime.Unix(), header.Name)
		assert.Zero(t, header.Uid+header.Gid, header.Name)
		assert.Empty(t, header.Uname+header.Gname, header.Name)
		if header.Typeflag == tar.TypeReg {
			files[header.Name], err = io.ReadAll(reader)
			require.NoError(t, err)
		}
	}
}

// checkArchive looks for the program and all licences in an archive.
func checkArchive(t *testing.T, archive []byte, name, platform string) {
	t.Helper()
	files := unpack(t, archive)
	var names []string
	for file := range files {
		names = append(names, strings.TrimPrefix(file, name+"/"))
	}
	slices.Sort(names)
	require.Equal(t, []string{"CHANGELOG.md", "LICENSE", "README.md", "THIRD-PARTY-LICENSES", "poolwright"}, names)
	licences := string(files[name+"/THIRD-PARTY-LICENSES"])
	for _, part := range []string{"==== go1.", "==== google.golang.org/grpc@", "==== k8s.io/client-go@", "==== web/third_party/uplot/"} {
		assert.Contains(t, licences, part)
	}
	program := filepath.Join(t.TempDir(), "poolwright")
	require.NoError(t, os.WriteFile(program, files[name+"/poolwright"], 0o700)) //nolint:gosec // it is run
	built, err := run(t, "go", "version", "-m", program)
	require.NoError(t, err)
	assert.Contains(t, built, "GOARCH="+platform)
	assert.Contains(t, built, "CGO_ENABLED=0")
	if platform == runtime.GOARCH {
		version, err := run(t, program, "version")
		require.NoError(t, err)
		assert.Contains(t, version, "poolwright "+release+" ")
	}
}

// checkContents compares what scanners are told with the go.mod file.
func checkContents(t *testing.T, text []byte) {
	t.Helper()
	var list struct {
		BOMFormat string `json:"bomFormat"`
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	require.NoError(t, json.Unmarshal(text, &list))
	assert.Equal(t, "CycloneDX", list.BOMFormat)
	assert.Equal(t, release, list.Metadata.Component.Version)
	found := map[string]string{}
	for _, c := range list.Components {
		found[c.Name] = c.Version
	}
	for _, module := range []string{"google.golang.org/grpc", "k8s.io/client-go", "gonum.org/v1/gonum"} {
		version, err := run(t, "go", "list", "-m", "-f", "{{.Version}}", module)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSpace(version), found[module], module)
	}
	assert.Contains(t, found, "std")
}

// checkChart renders the chart that is shipped: it is for the program beside it.
func checkChart(t *testing.T, archive []byte) {
	t.Helper()
	files := unpack(t, archive)
	var about struct{ Version, AppVersion string }
	require.NoError(t, yaml.Unmarshal(files["poolwright/Chart.yaml"], &about))
	assert.Equal(t, "1.2.3 1.2.3", about.Version+" "+about.AppVersion)
	file := filepath.Join(t.TempDir(), "chart.tgz")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	out, err := run(t, "helm", "template", "poolwright", file, "--namespace", "poolwright")
	require.NoError(t, err)
	assert.Contains(t, objects(t, out), "ClusterRole /poolwright-watch", "rules are in the package")
	assert.Contains(t, out, "image: poolwright:1.2.3")
}
