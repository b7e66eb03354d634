package ledger

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/exact"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// format is the version of the form of lines. Fields may be added within one. The first had no
// intents.
const format = 2

// line is one line of a ledger: one of its kinds.
type line struct {
	Header     *header
	Checkpoint *checkpoint
	Intent     *intent
	Entry      *entry
}

// header says what wrote the lines that follow.
type header struct {
	Format int
	Origin Origin
}

// Origin is what decisions depend on beside snapshot and memory.
type Origin struct {
	// Version of the program, its engine of linear programs and architecture of the
	// processor.
	Version      string `json:"version"`
	Engine       string `json:"engine"`
	Architecture string `json:"architecture"`
}

// checkpoint is the memory after a cycle.
type checkpoint struct {
	// Sequence is that of the last entry, 0 before the first.
	Sequence uint64
	Memory   planner.Checkpoint
}

// intent is what a cycle is about to carry out.
type intent struct {
	// Sequence is that of the entry to come.
	Sequence uint64
	Changes  []planner.Change
}

// entry is a [controller.Entry].
type entry struct {
	Sequence uint64
	Now      time.Time
	// Fleet is nil where nothing changed since the entry before.
	Fleet        *fleetChange
	Observations []planner.Observation
	Paused       []planner.Pause
	Declared     int
	Decision     Summary
	// Answers are those of the decision.
	Answers []*optimizer.RobustSolution
	// Digest is the SHA-256 of the decision, in hexadecimal.
	Digest  string
	Dropped []controller.Drop
	Failure string
}

// A line begins with its checksum, in a place of constant width.
const (
	beforeChecksum = `{"crc32c":"`
	afterChecksum  = `",`
	checksumDigits = 8
	prefixLength   = len(beforeChecksum) + checksumDigits + len(afterChecksum)
)

// checksum is CRC-32C.
func checksum(body []byte) uint32 {
	return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
}

// format returns the text of a line with its end.
func (l line) format() ([]byte, error) {
	text, err := exact.Marshal(l)
	if err != nil {
		return nil, err
	}
	body := text[1:] // without the bracket, which the prefix brings
	out := make([]byte, 0, prefixLength+len(body)+1)
	out = fmt.Appendf(out, "%s%0*x%s", beforeChecksum, checksumDigits, checksum(body), afterChecksum)
	return append(append(out, body...), '\n'), nil
}

// parse reads the text of a line, without its end, into a line or a part of one.
func parse(text []byte, into any) error {
	if len(text) < prefixLength || string(text[:len(beforeChecksum)]) != beforeChecksum {
		return errors.New("no line of a ledger")
	}
	body := text[prefixLength:]
	digits := string(text[len(beforeChecksum) : len(beforeChecksum)+checksumDigits])
	if _, err := strconv.ParseUint(digits, 16, 32); err != nil || string(text[len(beforeChecksum)+checksumDigits:prefixLength]) != afterChecksum {
		return errors.New("no checksum")
	}
	// As texts, since upper case is damage too.
	if got := fmt.Sprintf("%0*x", checksumDigits, checksum(body)); got != digits {
		return fmt.Errorf("checksum is %s, not %s", got, digits)
	}
	return exact.Unmarshal(append([]byte{'{'}, body...), into)
}
