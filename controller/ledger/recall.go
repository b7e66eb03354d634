package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/poolwright/poolwright/planner"
)

// Recalled is what a ledger knows of the loop that wrote it.
type Recalled struct {
	// Memory is that after the last entry, or after as many entries as there was time for; it
	// knows of what may have been begun after it.
	Memory planner.Memory
	// Paused are the workloads that people held at the last entry.
	Paused []planner.Pause
}

// Recall makes the decisions since the last checkpoint again, for a loop that goes on where
// another one ended. It comes before the first checkpoint of the writer. Where stop returns
// true, or where a line is damaged, the memory is that of the entry before.
//
// Another version of the program may decide otherwise. What was asked for is remembered as it
// is written then, so that nobody takes it for the work of somebody else.
func (w *Writer) Recall(p *planner.Planner, stop func() bool) (Recalled, error) {
	recalled := Recalled{Paused: w.paused}
	if w.checkpoint.Line == 0 {
		return recalled, nil
	}
	file, err := os.Open(w.config.Path)
	if err != nil {
		return recalled, fmt.Errorf("ledger: %w", err)
	}
	from := w.checkpoint.Offset
	recalled.Memory, err = recall(p, io.NewSectionReader(file, from, w.size-from), stop)
	if err = errors.Join(err, file.Close()); err != nil {
		return recalled, fmt.Errorf("ledger: recall: %w", err)
	}
	return recalled, nil
}

// recall reads what begins with a checkpoint.
func recall(p *planner.Planner, in io.Reader, stop func() bool) (planner.Memory, error) {
	r := NewReplayer(p)
	var begun []planner.Change // by a cycle without an entry
	for lines := newLineReader(in, ""); !stop(); {
		text, _, err := lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		var l line
		if err == nil {
			err = parse(text, &l)
		}
		differs := false
		if err == nil {
			err = r.line(Position{}, &l, func(Cycle) error {
				differs = true
				return nil
			})
		}
		if err != nil {
			return r.memory, err
		}
		begun = nil
		switch {
		case l.Intent != nil:
			begun = l.Intent.Changes
		case differs:
			r.memory = r.memory.Begun(l.Entry.Decision.Changes)
		}
	}
	return r.memory.Begun(begun), nil
}
