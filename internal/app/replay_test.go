package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/app"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/sources"
)

// recorded is the path of a ledger of nine cycles in three files, three in each.
func recorded(t *testing.T) string {
	t.Helper()
	m, err := sources.ReadFleet(examples.Mix)
	require.NoError(t, err)
	fleet, err := message.Fleet(m)
	require.NoError(t, err)
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	fluid, err := simulation.NewFluid(fleet, make([]simulation.Curve, len(fleet.Workloads)), start)
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _, err := ledger.Open(ledger.Config{
		Path: path, SegmentAge: 30 * time.Minute, Origin: ledger.Origin{Version: "v0.9.0", Engine: "go", Architecture: "s390x"},
	})
	require.NoError(t, err)
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: fluid, Observer: fluid, Actuator: fluid, Ledger: w,
	})
	for range 9 {
		_, err := c.Tick(t.Context(), fluid.Now(), nil)
		require.NoError(t, err)
		require.NoError(t, fluid.Advance(fluid.Now().Add(15*time.Minute)))
	}
	require.NoError(t, w.Close())
	return path
}

func replay(t *testing.T, output string, files ...string) (string, error) {
	t.Helper()
	r := app.NewReplayRequest()
	r.Files, r.Engine = files, "go"
	require.NoError(t, r.Output.Set(output))
	var out bytes.Buffer
	err := app.Replay(r, strings.NewReader(""), &out)
	for line := range strings.Lines(out.String()) {
		if output == "table" {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
		}
	}
	return out.String(), err
}

func TestReplayTakesFilesInTheirOrder(t *testing.T) {
	path := recorded(t)
	files := []string{path, path + ".1", path + ".2"}
	require.FileExists(t, files[2])
	for range 3 {
		out, err := replay(t, "table", files...)
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^9 +9 +0 +0 +0 +2026-03-02 08:00:00 +2026-03-02 10:00:00$`, out)
		assert.Contains(t, out, "Written by poolwright v0.9.0, engine go, s390x.")
		assert.Contains(t, out, "Replayed by poolwright ")
		files = append(files[1:], files[0])
	}
}

// alter changes what is behind the checksum of a line, and the checksum too where the line
// is to pass for whole.
func alter(t *testing.T, path string, line int, change func(body string) string, whole bool) {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // written by the test
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	before, body, _ := strings.Cut(lines[line-1], ",")
	changed := strings.TrimSuffix(change(body), "\n")
	require.NotEqual(t, strings.TrimSuffix(body, "\n"), changed)
	if whole {
		before = fmt.Sprintf(`{"crc32c":"%08x"`, crc32.Checksum([]byte(changed), crc32.MakeTable(crc32.Castagnoli)))
	}
	lines[line-1] = before + "," + changed + "\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)) //nolint:gosec // of the test's folder
}

func TestReplayReportsDamage(t *testing.T) {
	path := recorded(t)
	alter(t, path+".1", 4, strings.ToUpper, false)
	out, err := replay(t, "table", path+".2", path+".1", path)
	require.ErrorIs(t, err, app.ErrNotReproduced)
	assert.Regexp(t, `(?m)^8 +7 +0 +1 +1 `, out)
	assert.Contains(t, out, "1 could not be replayed")
	assert.Contains(t, strings.Join(strings.Fields(out), " "), fmt.Sprintf("Damaged: %s.1, line 4 (byte ", path))

	out, err = replay(t, "json", path+".1")
	require.ErrorIs(t, err, app.ErrNotReproduced)
	var report struct {
		Cycles, Reproduced, Skipped, Damaged int
		Damages                              []ledger.Damage
		Decisions                            []ledger.Cycle
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, []int{2, 1, 1, 1}, []int{report.Cycles, report.Reproduced, report.Skipped, report.Damaged})
	assert.Equal(t, 4, report.Damages[0].Line)
	assert.NotNil(t, report.Decisions)
}

// Of decisions that differ the first is shown, or all.
func TestReplayShowsDifferences(t *testing.T) {
	path := recorded(t)
	for _, line := range []int{4, 5} {
		alter(t, path, line, func(body string) string {
			body = strings.Replace(body, `"demand":"served"`, `"demand":"partial"`, 1)
			return strings.Replace(body, `"digest":"`, `"digest":"0`, 1)
		}, true)
	}
	out, err := replay(t, "table", path)
	require.ErrorIs(t, err, app.ErrNotReproduced)
	assert.Regexp(t, `(?m)^3 +1 +2 +0 +0 `, out)
	assert.Contains(t, out, "Cycle 8 of 2026-03-02 09:45:00 differs")
	assert.Contains(t, out, `  demand: recorded "partial", replayed "served"`)
	assert.NotContains(t, out, "Cycle 9")
	assert.NotContains(t, out, "digest")

	r := app.NewReplayRequest()
	r.Files, r.Engine, r.Differences = []string{"-"}, "go", true
	text, err := os.ReadFile(path) //nolint:gosec // written by the test
	require.NoError(t, err)
	var all bytes.Buffer
	require.ErrorIs(t, app.Replay(r, bytes.NewReader(text), &all), app.ErrNotReproduced)
	assert.Contains(t, all.String(), "Cycle 9 of 2026-03-02 10:00:00 differs (-, line 5 (byte ")
}

func TestReplayRefuses(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte("hello\n"), 0o600))
	for want, files := range map[string][]string{
		"no line of a ledger":                  {garbage},
		"no such file":                         {garbage + "2"},
		"standard input must be the only file": {garbage, "-"},
	} {
		_, err := replay(t, "table", files...)
		var input *app.InputError
		require.ErrorAs(t, err, &input)
		require.ErrorContains(t, err, want)
	}
}
