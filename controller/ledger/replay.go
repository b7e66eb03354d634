package ledger

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// Report is how far a ledger was replayed.
type Report struct {
	// Origins are what wrote it, in the order of their first lines.
	Origins []Origin `json:"origins"`
	// Cycles are the entries that can be read. Of them Reproduced gave the same decision
	// again and Differing another; Skipped could not be replayed, as no checkpoint or a
	// damaged line is before them. Recalled are those, reproduced or not, whose search
	// the clock had ended, so that the solver's answers were taken from the ledger.
	Cycles     int `json:"cycles"`
	Reproduced int `json:"reproduced"`
	Differing  int `json:"differing"`
	Skipped    int `json:"skipped"`
	Recalled   int `json:"recalled"`
	// Unfinished cycles have an intent and no entry: their process was killed.
	Unfinished int `json:"unfinished"`
	// First and Last are the times of the first and the last cycle.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Damaged is the number of lines that cannot be used, and Damages the first hundred.
	Damaged int      `json:"damaged"`
	Damages []Damage `json:"damages"`
}

// mostDamages is the number of damages that a report lists.
const mostDamages = 100

// Cycle is an entry whose decision differs when it is made again.
type Cycle struct {
	Position

	Sequence uint64    `json:"sequence"`
	Now      time.Time `json:"now"`
	// Differences are at least one.
	Differences []Difference `json:"differences"`
}

// Replayer makes the decisions of a ledger again. It is for one goroutine.
type Replayer struct {
	planner *planner.Planner
	report  Report
	// ready: memory, fleet and sequence are those after the last entry.
	ready    bool
	memory   planner.Memory
	fleet    *planner.Fleet
	sequence uint64
	// begun: the last line was an intent.
	begun bool
}

// NewReplayer returns a replayer that has read nothing.
func NewReplayer(p *planner.Planner) *Replayer { return &Replayer{planner: p} }

// Read replays a file of the ledger; files come in the order in which they were written.
// Each decision that differs is shown to visit. The error is that of reading, that of
// visit, or that a later version wrote the file.
func (r *Replayer) Read(in io.Reader, file string, visit func(Cycle) error) error {
	for lines := newLineReader(in, file); ; {
		text, at, err := lines.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var l line
		switch {
		case err == nil:
			err = parse(text, &l)
		case !errors.Is(err, errTorn) && !errors.Is(err, errLong):
			return fmt.Errorf("ledger: %w", err)
		}
		if err != nil {
			r.damage(at, err.Error())
			continue
		}
		if err := r.line(at, &l, visit); err != nil {
			return err
		}
	}
}

// Report returns how far the ledger was replayed up to now.
func (r *Replayer) Report() Report {
	report := r.report
	if r.begun {
		report.Unfinished++
	}
	return report
}

// Memory returns that after the last entry, and its sequence number; false where they are
// not known.
func (r *Replayer) Memory() (m planner.Memory, sequence uint64, ok bool) {
	return r.memory, r.sequence, r.ready
}

// damage notes a line that cannot be used. Nothing can be replayed until the next
// checkpoint: whatever the line was, the memory may have changed with it.
func (r *Replayer) damage(at Position, reason string) {
	r.ready = false
	r.report.Damaged++
	if len(r.report.Damages) < mostDamages {
		r.report.Damages = append(r.report.Damages, Damage{at, reason})
	}
}

func (r *Replayer) line(at Position, l *line, visit func(Cycle) error) error {
	if r.begun && l.Entry == nil {
		r.report.Unfinished++
	}
	r.begun = l.Intent != nil
	switch {
	case l.Header != nil:
		if l.Header.Format > format {
			return fmt.Errorf("ledger: %s: form %d of ledgers, by version %s; this program reads forms up to %d",
				at, l.Header.Format, l.Header.Origin.Version, format)
		}
		r.ready = false
		if !slices.Contains(r.report.Origins, l.Header.Origin) {
			r.report.Origins = append(r.report.Origins, l.Header.Origin)
		}
	case l.Checkpoint != nil:
		r.memory, r.sequence = l.Checkpoint.Memory.Memory(), l.Checkpoint.Sequence
		r.ready, r.fleet = true, nil
	case l.Entry != nil:
		return r.entry(at, l.Entry, visit)
	case l.Intent != nil: // the entry says what became of it
	default:
		r.damage(at, "it is neither header nor checkpoint nor intent nor entry")
	}
	return nil
}

func (r *Replayer) entry(at Position, e *entry, visit func(Cycle) error) error {
	r.report.Cycles++
	if r.report.First.IsZero() {
		r.report.First = e.Now
	}
	r.report.Last = e.Now
	if !r.ready || e.Sequence != r.sequence+1 {
		r.ready = false
		r.report.Skipped++
		return nil
	}
	fleet, err := e.Fleet.apply(r.fleet)
	if err != nil {
		r.report.Cycles--
		r.damage(at, err.Error())
		return nil
	}
	r.fleet, r.sequence = fleet, e.Sequence
	differences, err := r.decide(e)
	if err != nil {
		return err
	}
	if e.Answers != nil {
		r.report.Recalled++
	}
	if differences == nil {
		r.report.Reproduced++
		return nil
	}
	r.report.Differing++
	return visit(Cycle{Position: at, Sequence: e.Sequence, Now: e.Now, Differences: differences})
}

// decide makes the decision of an entry again and compares.
func (r *Replayer) decide(e *entry) ([]Difference, error) {
	s := planner.Snapshot{Now: e.Now, Fleet: *r.fleet, Observations: e.Observations, Paused: e.Paused}
	d, failure := r.plan(s, e.Answers)
	if failure != nil {
		return []Difference{{Path: "decision", Recorded: e.Digest, Replayed: failure.Error()}}, nil //nolint:nilerr // not to decide is a difference
	}
	again, err := digest(&d)
	if err != nil || again == e.Digest {
		return nil, err
	}
	differences, err := compare(e.Decision, Summarize(&d))
	return append(differences, Difference{Path: "digest", Recorded: e.Digest, Replayed: again}), err
}

// plan decides and remembers.
func (r *Replayer) plan(s planner.Snapshot, answers []*optimizer.RobustSolution) (d planner.Decision, err error) {
	if answers != nil {
		d, r.memory, err = r.planner.Replan(s, r.memory, answers)
	} else {
		d, r.memory, err = r.planner.Plan(s, r.memory, nil)
	}
	return d, err
}

// FirstSequence is that of the first line in a file that has one, to put files in order;
// false without any.
func FirstSequence(in io.Reader) (uint64, bool, error) {
	for lines := newLineReader(in, ""); ; {
		text, _, err := lines.read()
		switch {
		case errors.Is(err, io.EOF):
			return 0, false, nil
		case errors.Is(err, errTorn), errors.Is(err, errLong):
			continue
		case err != nil:
			return 0, false, fmt.Errorf("ledger: %w", err)
		}
		var l struct{ Checkpoint, Entry *struct{ Sequence uint64 } }
		if parse(text, &l) != nil {
			continue
		}
		if l.Checkpoint != nil {
			return l.Checkpoint.Sequence, true, nil
		}
		if l.Entry != nil {
			return l.Entry.Sequence, true, nil
		}
	}
}
