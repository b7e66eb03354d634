package ledger_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// A ledger that ends anywhere is replayed up to its last whole line, and what is left of
// the next is reported with its place.
func TestTruncatedAnywhere(t *testing.T) {
	text := written(t, 1, 2, 1)
	line, begin, entries := 1, 0, 0
	for end := range text {
		if end > 0 && text[end-1] == '\n' {
			if bytes.Contains(text[begin:end], []byte(`"entry":`)) {
				entries++
			}
			line, begin = line+1, end
		}
		report, differing := replay(t, text[:end])
		require.Empty(t, differing)
		require.Equal(t, entries, report.Cycles)
		require.Equal(t, entries, report.Reproduced)
		if begin == end {
			require.Empty(t, report.Damages, end)
			continue
		}
		require.Equal(t, []ledger.Damage{{
			Position: ledger.Position{File: "ledger.0", Line: line, Offset: int64(begin)},
			Reason:   "the line has no end: writing it was cut short",
		}}, report.Damages, end)
	}
	assert.Equal(t, 1, entries, "all but the one that ends the ledger")
}

// place is where a line of a text begins, and what it is.
type place struct {
	ledger.Position

	kind string
}

// places are those of the lines of a text.
func places(text []byte) []place {
	var all []place
	offset := int64(0)
	for i, l := range bytes.SplitAfter(text, []byte("\n")) {
		for _, kind := range []string{"header", "checkpoint", "intent", "entry"} {
			if bytes.HasPrefix(l[min(21, len(l)):], []byte(`"`+kind+`":`)) {
				all = append(all, place{ledger.Position{File: "ledger.0", Line: i + 1, Offset: offset}, kind})
			}
		}
		offset += int64(len(l))
	}
	return all
}

// A change of any byte is noticed. What comes after the next checkpoint is used.
func TestCorruptedAnywhere(t *testing.T) {
	text := written(t, 2, 12, 3)
	lines, random := places(text), rand.New(rand.NewPCG(5, 6))
	for range 150 {
		at := random.IntN(len(text) - 1)
		damaged := bytes.Clone(text)
		damaged[at] ^= 1 << random.IntN(8)
		report, differing := replay(t, damaged)
		require.Empty(t, differing, at)
		require.Positive(t, report.Damaged, "byte %d", at)
		hit := 0
		for hit+1 < len(lines) && lines[hit+1].Offset <= int64(at) {
			hit++
		}
		require.Equal(t, lines[hit].Position, report.Damages[0].Position, "byte %d", at)
		require.Equal(t, usable(lines, hit, text[at] == '\n'), report.Reproduced, "byte %d", at)
		require.Equal(t, report.Cycles, report.Reproduced+report.Skipped)
	}
}

// usable counts the entries that can be replayed although a line is damaged, and the next
// with it where the end of the line is.
func usable(lines []place, hit int, end bool) int {
	n, ready := 0, true
	for i, l := range lines {
		switch {
		case i == hit, i == hit+1 && end:
			ready = false
		case l.kind == "checkpoint":
			ready = true
		case l.kind == "entry" && ready:
			n++
		}
	}
	return n
}

// Lines that are whole but out of their order are not replayed as if nothing were missing.
func TestMissingLines(t *testing.T) {
	text := withoutIntents(written(t, 2, 6, 3))
	lines := bytes.SplitAfter(text, []byte("\n")) // header, checkpoint, 3 entries, checkpoint, 3 entries
	for name, test := range map[string]struct {
		order               []int
		reproduced, skipped int
	}{
		"entry":            {[]int{0, 1, 2, 4, 5, 6, 7, 8}, 4, 1},
		"checkpoint":       {[]int{0, 1, 2, 3, 4, 6, 7, 8}, 6, 0},
		"first checkpoint": {[]int{0, 2, 3, 4, 5, 6, 7, 8}, 3, 3},
		"header":           {[]int{1, 2, 3, 4, 5, 6, 7, 8}, 6, 0},
		"twice":            {[]int{0, 1, 2, 3, 3, 4, 5, 6, 7, 8}, 5, 2},
		"swapped":          {[]int{0, 1, 3, 2, 4, 5, 6, 7, 8}, 3, 3},
		"second run":       {[]int{0, 1, 2, 3, 4, 0, 6, 7, 8}, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var shuffled []byte
			for _, i := range test.order {
				shuffled = append(shuffled, lines[i]...)
			}
			report, differing := replay(t, shuffled)
			assert.Empty(t, differing)
			assert.Equal(t, test.reproduced, report.Reproduced)
			assert.Equal(t, test.skipped, report.Skipped)
			assert.Zero(t, report.Damaged)
		})
	}
}

// After a crash a ledger goes on behind its last whole line, wherever the crash was.
func TestOpenCutsTornLine(t *testing.T) {
	text := written(t, 2, 3, 2)
	lines := places(text)
	last := int(lines[len(lines)-1].Offset)
	for end := last - 3; end < len(text); end += 67 {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		require.NoError(t, os.WriteFile(path, text[:end], 0o600))
		w, found := open(t, ledger.Config{Path: path})
		require.Equal(t, end != last, found.Torn != nil, end)
		require.Equal(t, uint64(2), found.Sequence)
		run(t, newWorld(t, 2), w, found.Sequence, 2, 5*time.Minute)
		after := segments(t, path)
		report, differing := replay(t, after...)
		require.Empty(t, differing)
		require.Zero(t, report.Damaged)
		require.Equal(t, report.Cycles, report.Reproduced)
		require.GreaterOrEqual(t, report.Reproduced, 4)
	}
}

// What is not a ledger is damage all through.
func TestGarbage(t *testing.T) {
	for name, text := range map[string]string{
		"text":       "hello\nworld\n",
		"JSON":       `{"header":{"format":1}}` + "\n",
		"short":      `{"crc32c":"` + "\n",
		"not hex":    `{"crc32c":"zzzzzzzz","header":{}}` + "\n",
		"no comma":   `{"crc32c":"00000000" "header":{}}` + "\n",
		"zeros":      string(make([]byte, 1000)) + "\n",
		"empty line": "\n",
	} {
		report, _ := replay(t, []byte(text))
		assert.Positive(t, report.Damaged, name)
		assert.Zero(t, report.Cycles, name)
	}
	report, _ := replay(t, nil)
	assert.Equal(t, ledger.Report{}, report)
}

// No text of lines, however wrong, does more than being reported.
func FuzzReplay(f *testing.F) {
	f.Add([]byte("\n"))
	f.Add([]byte(`{"crc32c":"c88a4d1e","header":{"format":1}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := ledger.NewReplayer(planner.New(lp.Simplex()))
		err := r.Read(bytes.NewReader(text), "fuzz", func(ledger.Cycle) error { return nil })
		report := r.Report()
		if err != nil {
			require.ErrorContains(t, err, "this program reads form")
			return
		}
		assert.Equal(t, report.Cycles, report.Reproduced+report.Differing+report.Skipped)
		_, _, err = ledger.FirstSequence(bytes.NewReader(text))
		require.NoError(t, err)
	})
}
