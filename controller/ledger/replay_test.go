package ledger_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// step is the time between decisions; make replay-week has the usual one.
var step = flag.Duration("step", 5*time.Minute, "time between decisions of the week that is replayed")

// A week of decisions is made again, bit for bit.
func TestWeekIsReproduced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, found := open(t, ledger.Config{Path: path, SegmentAge: 36 * time.Hour, CheckpointEntries: 100, Sync: ledger.AtCheckpoints})
	assert.Zero(t, found)
	cycles := int(7 * 24 * time.Hour / *step)
	run(t, newWorld(t, 5), w, 0, cycles, *step)

	files := segments(t, path)
	assert.Len(t, files, 5)
	report, differing := replay(t, files...)
	assert.Empty(t, differing)
	assert.Equal(t, ledger.Report{
		Origins: []ledger.Origin{origin()}, Cycles: cycles, Reproduced: cycles, Recalled: report.Recalled,
		First: monday(), Last: monday().Add(7*24*time.Hour - *step),
	}, report)
	assert.Greater(t, report.Recalled, cycles/30, "searches that the clock ended")
	require.Contains(t, string(files[0]), `"changes":[{`)
}

// sealed is the text of a line with its checksum, from what comes after it.
func sealed(body string) []byte {
	return fmt.Appendf(nil, `{"crc32c":"%08x",%s`+"\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)), body)
}

// altered is a ledger in which a part of one line is another, with the checksum right.
func altered(t *testing.T, text []byte, line int, from, to string) []byte {
	t.Helper()
	lines := bytes.SplitAfter(text, []byte("\n"))
	body := strings.TrimSuffix(string(lines[line-1][21:]), "\n")
	require.Contains(t, body, from)
	lines[line-1] = sealed(strings.Replace(body, from, to, 1))
	return bytes.Join(lines, nil)
}

// A decision that differs is shown with what differs, and replay goes on.
func TestDifferences(t *testing.T) {
	text := withoutIntents(written(t, 2, 4, 10)) // header, checkpoint, 4 entries
	digest := regexp.MustCompile(`"digest":"(\w+)"`).FindSubmatch(bytes.Split(text, []byte("\n"))[2])[1]
	price := `"pricePerHour":6,"objective":6`
	for name, test := range map[string]struct {
		from, to    string
		differences []ledger.Difference
	}{
		"price":     {price, `"pricePerHour":5,"objective":6`, []ledger.Difference{{Path: "pricePerHour", Recorded: "5", Replayed: "6"}}},
		"no price":  {price, `"objective":6`, []ledger.Difference{{Path: "pricePerHour", Replayed: "6"}}},
		"change":    {`"to":2,"goal":2`, `"to":1,"goal":2`, []ledger.Difference{{Path: "changes[1].to", Recorded: "1", Replayed: "2"}}},
		"one more":  {`capacityRps"}]}`, `capacityRps"},{"to":1}]}`, []ledger.Difference{{Path: "changes[2]", Recorded: `{"to":1}`}}},
		"in detail": {price, price, nil},
	} {
		t.Run(name, func(t *testing.T) {
			changed := altered(t, altered(t, text, 3, string(digest), "0"), 3, test.from, test.to)
			report, differing := replay(t, changed)
			assert.Equal(t, 1, report.Differing)
			assert.Equal(t, 3, report.Reproduced)
			require.Len(t, differing, 1)
			assert.Equal(t, uint64(1), differing[0].Sequence)
			assert.Equal(t, monday(), differing[0].Now)
			assert.Equal(t, 3, differing[0].Line)
			test.differences = append(test.differences, ledger.Difference{Path: "digest", Recorded: `0`, Replayed: string(digest)})
			assert.Equal(t, test.differences, differing[0].Differences)
		})
	}
}

// What is whole but says what cannot be is damage or a difference, no failure.
func TestImpossibleEntries(t *testing.T) {
	text := withoutIntents(written(t, 2, 4, 10))
	for name, test := range map[string]struct {
		line             int
		from, to, reason string
	}{
		"fleet unknown":    {3, `"fleet":{"whole":`, `"fleet":{"later":`, "it changes a fleet that is not known"},
		"unknown workload": {4, `{"index":1,`, `{"index":2,`, "it changes workload 2 of 2"},
		"negative":         {4, `{"index":1,`, `{"index":-1,`, "it changes workload -1 of 2"},
		"another kind":     {4, `"entry":{`, `"footer":{`, "it is neither header nor checkpoint nor intent nor entry"},
		"another type":     {4, `"sequence":2`, `"sequence":"2"`, `exact: entry: sequence: "2" for a uint64`},
	} {
		t.Run(name, func(t *testing.T) {
			report, differing := replay(t, altered(t, text, test.line, test.from, test.to))
			assert.Empty(t, differing)
			require.Len(t, report.Damages, 1)
			assert.Equal(t, test.line, report.Damages[0].Line)
			assert.Equal(t, test.reason, report.Damages[0].Reason)
			assert.Equal(t, report.Cycles, report.Reproduced+report.Skipped)
		})
	}
	report, differing := replay(t, altered(t, text, 3, `"alpha":0.007`, `"alpha":-7`))
	require.NotEmpty(t, differing)
	assert.Equal(t, "decision", differing[0].Differences[0].Path)
	assert.Contains(t, differing[0].Differences[0].Replayed, "planner: workloads[0].variants[0]: ")
	assert.Positive(t, report.Differing)
}

// The form without intents is read, and so is what a later version has added within this one.
func TestOtherVersionsAreRead(t *testing.T) {
	text := withoutIntents(written(t, 2, 4, 10))
	text = altered(t, text, 1, `"format":2`, `"format":1`)
	text = altered(t, text, 1, `"origin":{`, `"later":[1],"origin":{"later":"x",`)
	text = altered(t, text, 4, `"entry":{`, `"entry":{"later":null,`)
	report, differing := replay(t, text)
	assert.Empty(t, differing)
	assert.Empty(t, report.Damages)
	assert.Equal(t, 4, report.Reproduced)
}

func TestReadEnds(t *testing.T) {
	r := ledger.NewReplayer(planner.New(lp.Simplex()))
	later := sealed(`"header":{"format":3,"origin":{"version":"v9"}}}`)
	require.EqualError(t, r.Read(bytes.NewReader(later), "later.jsonl", nil),
		"ledger: later.jsonl, line 1 (byte 0): form 3 of ledgers, by version v9; this program reads forms up to 2")

	failure := errors.New("enough")
	require.ErrorIs(t, r.Read(iotest.ErrReader(failure), "broken.jsonl", nil), failure)

	text := withoutIntents(written(t, 2, 1, 10))
	text = altered(t, text, 3, `"digest":"`, `"digest":"0`)
	require.ErrorIs(t, r.Read(bytes.NewReader(text), "ledger.jsonl", func(ledger.Cycle) error { return failure }), failure)
}

// Files are put in order by the first sequence number in each.
func TestFirstSequence(t *testing.T) {
	text := withoutIntents(written(t, 2, 2, 1))
	lines := bytes.SplitAfter(text, []byte("\n")) // header, checkpoint, entry, checkpoint, entry
	for want, part := range map[uint64][][]byte{0: lines, 1: lines[2:], 2: lines[4:]} {
		got, ok, err := ledger.FirstSequence(bytes.NewReader(bytes.Join(part, nil)))
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	_, ok, err := ledger.FirstSequence(bytes.NewReader(text[:len(lines[0])+5]))
	require.NoError(t, err)
	assert.False(t, ok)
}
