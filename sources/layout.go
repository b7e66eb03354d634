package sources

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/document"
)

// layout says which columns of a table have what.
type layout struct {
	columns []column
	// best is the column to read for each meaning, by index.
	best map[meaning]int
}

// index is the column to read for a meaning, -1 where there is none.
func (l *layout) index(m meaning) int {
	if i, ok := l.best[m]; ok {
		return i
	}
	return -1
}

// layOut finds out what the columns of all tables are, and notes it.
func (r *measurementReader) layOut() error {
	var mistakes []error
	used := make([]bool, len(r.options.Columns))
	for i := range r.parts {
		if err := r.layOutTable(&r.parts[i], used); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", r.parts[i].file, err))
		}
	}
	for k, a := range r.options.Columns {
		if !used[k] && len(mistakes) == 0 {
			mistakes = append(mistakes, fmt.Errorf("--columns %s=%s: there is no column %q", a.Column, a.Name, a.Column))
		}
	}
	return errors.Join(mistakes...)
}

func (r *measurementReader) layOutTable(t *fileTable, used []bool) error {
	t.layout = layout{best: make(map[meaning]int)}
	for i, name := range t.columns {
		alias := name
		for k, a := range r.options.Columns {
			if a.Column == name {
				alias, used[k] = a.Name, true
			}
		}
		c := r.vocabulary.column(name, alias)
		if alias != name && c.meaning == unknownMeaning {
			return fmt.Errorf("--columns %s=%s: %q is no name that is understood", name, alias, alias)
		}
		t.layout.columns = append(t.layout.columns, c)
		if at, ok := t.layout.best[c.meaning]; c.usable() && (!ok || c.better(t.layout.columns[at])) {
			t.layout.best[c.meaning] = i
		}
	}
	return r.checkLayout(t)
}

// usable tells whether a column can be read for its meaning.
func (c *column) usable() bool {
	switch c.meaning {
	case unknownMeaning, ignoredColumn, configurationColumn:
		return false
	default:
		return !c.other
	}
}

// better tells whether a column is to be read before another one of the same meaning.
func (c *column) better(than column) bool {
	if c.rank != than.rank {
		return c.rank < than.rank
	}
	return c.mean && !than.mean
}

// checkLayout reports what a table lacks, and notes how the rest is read.
func (r *measurementReader) checkLayout(t *fileTable) error {
	var mistakes document.Error
	l := &t.layout
	if l.index(ttftColumn) < 0 && l.index(itlColumn) < 0 {
		mistakes.Add(document.Violation{Message: fmt.Sprintf(
			"no column is known as TTFT or ITL; there are %s. Say which one is by --columns NAME=ttft_ms or NAME=itl_ms", shortList(t.columns))})
	}
	for _, m := range []meaning{ttftColumn, itlColumn} {
		i := l.index(m)
		if i < 0 || l.columns[i].unit.name != "" {
			continue
		}
		u, n := unitOf([]string{r.options.TimeUnit})
		if n == 0 || u.of != inTime {
			mistakes.Add(document.Violation{Path: t.columns[i], Message: fmt.Sprintf(
				"in what unit? Name it %[1]s_ms or %[1]s_s, or give --time-unit", t.columns[i])})
			continue
		}
		l.columns[i].unit = u
	}
	if err := mistakes.OrNil(); err != nil {
		return err
	}
	r.note(l.readAs())
	r.note(l.unused())
	return nil
}

// note adds a note, once.
func (r *measurementReader) note(text string) {
	if text != "" && !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// meaningNames are the meanings that are read, in the order of notes.
func meaningNames() []struct {
	meaning meaning
	name    string
} {
	return []struct {
		meaning meaning
		name    string
	}{
		{ttftColumn, "TTFT"},
		{itlColumn, "ITL"},
		{clientsColumn, "concurrency"},
		{measuredClientsColumn, "mean concurrency"},
		{offeredRateColumn, "offered rate"},
		{reachedRateColumn, "reached rate"},
		{batchColumn, "batch"},
		{waitingColumn, "waiting"},
		{inputColumn, "input tokens"},
		{outputColumn, "output tokens"},
		{contextColumn, "context tokens"},
		{totalInputColumn, "all input tokens"},
		{totalOutputColumn, "all output tokens"},
		{completedColumn, "requests"},
		{inputSCVColumn, "variation of input tokens"},
		{outputSCVColumn, "variation of output tokens"},
		{prefixHitColumn, "prefix hit ratio"},
		{weightColumn, "weight"},
		{groupColumn, "group"},
		{strategyColumn, "strategy"},
		{maxBatchColumn, "most running requests"},
		{maxBatchedTokensColumn, "token budget"},
		{kvCacheTokensColumn, "KV cache tokens"},
	}
}

// readAs says how columns are read.
func (l *layout) readAs() string {
	var parts []string
	for _, m := range meaningNames() {
		i := l.index(m.meaning)
		if i < 0 {
			continue
		}
		text := m.name + " from " + l.columns[i].name
		if u := l.columns[i].unit; u.name != "" && u.of != inTokens {
			text += " in " + u.name
		}
		parts = append(parts, text)
	}
	return "read: " + strings.Join(parts, ", ")
}

// unused says which columns are not read, and why.
func (l *layout) unused() string {
	var unknown, others, second []string
	for i, c := range l.columns {
		switch {
		case c.meaning == configurationColumn || c.meaning == ignoredColumn || c.name == "":
		case c.other:
			others = append(others, c.name)
		case c.meaning == unknownMeaning:
			unknown = append(unknown, c.name)
		case l.index(c.meaning) != i:
			second = append(second, c.name+" for "+l.columns[l.index(c.meaning)].name)
		}
	}
	var parts []string
	if len(unknown) > 0 {
		parts = append(parts, shortList(unknown)+" (unknown names)")
	}
	if len(others) > 0 {
		parts = append(parts, shortList(others)+" (no means)")
	}
	if len(second) > 0 {
		parts = append(parts, shortList(second)+" (the other one is read)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "not used: " + strings.Join(parts, "; ")
}

// mostShown is how many names a message lists.
const mostShown = 24

// shortList joins names, the first ones where there are many.
func shortList(names []string) string {
	if len(names) <= mostShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostShown], ", "), len(names)-mostShown)
}
