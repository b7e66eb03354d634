package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/poolwright/poolwright/controller/ledger"
)

// ErrNotReproduced reports a ledger, replayed and reported, of which some lines are damaged
// or some decisions differ or could not be made again.
var ErrNotReproduced = errors.New("not every decision was reproduced")

// ReplayRequest is a ledger to be replayed.
type ReplayRequest struct {
	// Files are those of the ledger, in any order; "-" alone is standard input.
	Files []string
	// Differences: every decision that differs is told with all that differs, not only
	// the first.
	Differences bool
	// Output is the form of the report: table or json.
	Output Choice
	// Engine as in Request.
	Engine string
}

// NewReplayRequest returns a request without files.
func NewReplayRequest() *ReplayRequest {
	return &ReplayRequest{Output: Choice{Names: []string{"TABLE", "JSON"}, value: "TABLE"}}
}

// replayed is a report with decisions that differ.
type replayed struct {
	ledger.Report

	// Decisions are the first that differs, or all where they were asked for.
	Decisions []ledger.Cycle `json:"decisions"`
	// Replayer is what made the decisions again.
	Replayer ledger.Origin `json:"replayer"`
}

// Replay makes the decisions of a ledger again and prints how far they are the same. The
// error is an [*InputError] for files that are no ledger, and [ErrNotReproduced] when the
// report that was printed is not of a whole ledger with equal decisions.
func Replay(r *ReplayRequest, in io.Reader, out io.Writer) error {
	p, err := newPlanner(r.Engine)
	if err != nil {
		return &InputError{err}
	}
	files, err := inOrder(r.Files)
	if err != nil {
		return &InputError{err}
	}
	answer := replayed{Decisions: []ledger.Cycle{}, Replayer: origin(r.Engine)}
	replayer := ledger.NewReplayer(p)
	for _, name := range files {
		err := withFile(name, in, func(in io.Reader) error {
			return replayer.Read(in, name, func(c ledger.Cycle) error {
				if r.Differences || len(answer.Decisions) == 0 {
					answer.Decisions = append(answer.Decisions, c)
				}
				return nil
			})
		})
		if err != nil {
			return &InputError{err}
		}
	}
	answer.Report = replayer.Report()
	if answer.Damages == nil {
		answer.Damages = []ledger.Damage{}
	}
	if answer.Cycles == 0 && len(answer.Origins) == 0 {
		return &InputError{fmt.Errorf("%v: no line of a ledger", r.Files)}
	}
	if err := answer.write(out, r.Output.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if answer.Damaged+answer.Differing+answer.Skipped > 0 {
		return ErrNotReproduced
	}
	return nil
}

func (a *replayed) write(out io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(a)
	}
	return a.table(out)
}

// withFile hands a file to a reader, or standard input where it is "-".
func withFile(name string, in io.Reader, read func(io.Reader) error) error {
	if name == "-" {
		return read(in)
	}
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	return errors.Join(read(f), f.Close())
}

// inOrder puts the files of a ledger in the order in which they were written; those that
// do not tell come first.
func inOrder(files []string) ([]string, error) {
	if len(files) == 1 {
		return files, nil
	}
	type numbered struct {
		name     string
		sequence uint64
	}
	all := make([]numbered, len(files))
	for i, name := range files {
		if name == "-" {
			return nil, errors.New("standard input must be the only file")
		}
		all[i].name = name
		err := withFile(name, nil, func(in io.Reader) (err error) {
			all[i].sequence, _, err = ledger.FirstSequence(in)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(a.sequence, b.sequence) })
	ordered := make([]string, len(all))
	for i := range all {
		ordered[i] = all[i].name
	}
	return ordered, nil
}
