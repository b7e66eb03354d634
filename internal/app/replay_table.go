package app

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/poolwright/poolwright/controller/ledger"
)

// mostDamages is the number of damaged lines that people get to see.
const mostDamages = 10

// table prints a report for people.
func (a *replayed) table(w io.Writer) error {
	out := bufio.NewWriter(w)
	t := &table{Writer: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.line("CYCLES", "REPRODUCED", "DIFFERING", "SKIPPED", "DAMAGED LINES", "FROM", "TO")
	t.line(fmt.Sprint(a.Cycles), fmt.Sprint(a.Reproduced), fmt.Sprint(a.Differing), fmt.Sprint(a.Skipped),
		fmt.Sprint(a.Damaged), a.First.Format(time.DateTime), a.Last.Format(time.DateTime))
	t.section()
	a.remarks(t)
	for i := range a.Decisions {
		t.cycle(&a.Decisions[i])
	}
	for _, d := range a.Damages[:min(len(a.Damages), mostDamages)] {
		t.wrapped(fmt.Sprintf("Damaged: %s: ", d.Position), d.Reason)
	}
	if more := a.Damaged - mostDamages; more > 0 {
		t.line(fmt.Sprintf("%d more lines are damaged.", more))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// remarks say what the numbers mean.
func (a *replayed) remarks(t *table) {
	for _, o := range a.Origins {
		t.line("Written by " + originText(o) + ".")
	}
	if !slices.Equal(a.Origins, []ledger.Origin{a.Replayer}) {
		t.wrapped("", "Replayed by "+originText(a.Replayer)+". Decisions are only the same for certain where that is the same.")
	}
	if a.Recalled > 0 {
		t.wrapped("", fmt.Sprintf("The clock had ended the search of %d; the solver's answers to them are those of the ledger.", a.Recalled))
	}
	if a.Unfinished > 0 {
		t.wrapped("", fmt.Sprintf("%d more were not brought to their end: their process was killed after it had said what it was about to change.", a.Unfinished))
	}
	if a.Skipped > 0 {
		t.wrapped("", fmt.Sprintf("%d could not be replayed, as no checkpoint, or a damaged or missing line, is before them.", a.Skipped))
	}
}

func originText(o ledger.Origin) string {
	return fmt.Sprintf("poolwright %s, engine %s, %s", o.Version, o.Engine, o.Architecture)
}

// cycle prints how a decision differs.
func (t *table) cycle(c *ledger.Cycle) {
	t.wrapped("", fmt.Sprintf("Cycle %d of %s differs (%s):", c.Sequence, c.Now.Format(time.DateTime), c.Position))
	for _, d := range c.Differences {
		switch {
		case d.Path != "digest":
			t.wrapped("  ", fmt.Sprintf("%s: recorded %s, replayed %s", d.Path, orNothing(d.Recorded), orNothing(d.Replayed)))
		case len(c.Differences) == 1:
			t.wrapped("  ", "in details of which the ledger has nothing but the digest")
		}
	}
}

func orNothing(s string) string { return cmp.Or(s, "nothing") }
