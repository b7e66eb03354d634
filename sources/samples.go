package sources

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// warning is something in rows that is not used, and in how many.
type warning struct {
	rows int
	text string
}

func (w warning) String() string {
	if w.rows == 1 {
		return "1 row: " + w.text
	}
	return fmt.Sprintf("%d rows: %s", w.rows, w.text)
}

// warn counts a row.
func (r *measurementReader) warn(text string) {
	for i := range r.warnings {
		if r.warnings[i].text == text {
			r.warnings[i].rows++
			return
		}
	}
	r.warnings = append(r.warnings, warning{1, text})
}

// samples turns a table into samples, and checks them.
func (r *measurementReader) samples(t *fileTable) error {
	mistakes := &t.mistakes
	var samples []*poolwrightv1.Sample
	var lines []int
	for _, row := range t.rows {
		v := rowReader{table: t, row: row, mistakes: mistakes}
		for _, s := range r.row(&v) {
			samples = append(samples, s)
			lines = append(lines, row.line)
		}
	}
	if mistakes.Count() == 0 {
		r.checkSamples(t, samples, lines, mistakes)
	}
	slices.SortStableFunc(mistakes.Violations, func(a, b document.Violation) int { return cmp.Compare(a.Line, b.Line) })
	if err := mistakes.OrNil(); err != nil {
		return err
	}
	r.into.Samples = append(r.into.Samples, samples...)
	r.engine(t)
	return nil
}

// checkSamples reports what makes no sense by the line of its row and the name of its
// column.
func (r *measurementReader) checkSamples(t *fileTable, samples []*poolwrightv1.Sample, lines []int, mistakes *document.Error) {
	if len(samples) == 0 {
		text := "no rows with measurements"
		for _, w := range r.warnings {
			text += "; " + w.String()
		}
		mistakes.Add(document.Violation{Message: text})
		return
	}
	var violations message.Violations
	_, err := message.Measurements(&poolwrightv1.Measurements{Samples: samples})
	if !errors.As(err, &violations) {
		return
	}
	for _, v := range violations {
		at := document.Violation{Path: v.Path, Message: v.Message}
		rest, ok := strings.CutPrefix(v.Path, "samples[")
		index, field, _ := strings.Cut(rest, "]")
		if i, err := strconv.Atoi(index); ok && err == nil && i < len(lines) {
			at.Line, at.Path = lines[i], t.columnOf(strings.TrimPrefix(field, "."))
		}
		mistakes.Add(at)
	}
}

// columnOf is the column that a field of a sample is read from, or the field.
func (t *fileTable) columnOf(field string) string {
	for _, x := range []struct {
		field   string
		meaning meaning
	}{
		{"ttftMs", ttftColumn},
		{"itlMs", itlColumn},
		{"inputTokens", inputColumn},
		{"outputTokens", outputColumn},
		{"contextTokens", contextColumn},
		{"concurrency", clientsColumn},
		{"arrivalRate", offeredRateColumn},
		{"batch", batchColumn},
		{"running", batchColumn},
		{"waiting", waitingColumn},
		{"inputTokensScv", inputSCVColumn},
		{"outputTokensScv", outputSCVColumn},
		{"prefixHitRatio", prefixHitColumn},
		{"weight", weightColumn},
		{"group", groupColumn},
	} {
		if i := t.layout.index(x.meaning); x.field == field && i >= 0 {
			return t.columns[i]
		}
	}
	return field
}

// rowReader reads the cells of a row.
type rowReader struct {
	table    *fileTable
	row      tableRow
	mistakes *document.Error
}

// text is the cell of a meaning, empty where there is none.
func (v *rowReader) text(m meaning) string { return v.row.cell(v.table.layout.index(m)) }

// absent tells how people write that there is no value.
func absent(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "-", "–", "na", "n/a", "nan", "null", "none":
		return true
	}
	return false
}

// unlimited tells how people write a rate without limit.
func unlimited(cell string) bool {
	f, err := strconv.ParseFloat(cell, 64)
	return err == nil && math.IsInf(f, 1)
}

// number is the cell of a meaning in our units, nil where there is none. What is no
// number is a mistake.
func (v *rowReader) number(m meaning) *float64 {
	i := v.table.layout.index(m)
	cell := v.row.cell(i)
	if absent(cell) || m == offeredRateColumn && unlimited(cell) {
		return nil
	}
	f, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		v.mistakes.Add(document.Violation{
			Path: v.table.columns[i], Message: fmt.Sprintf("expected a finite number, got %q", cell), Line: v.row.line,
		})
		return nil
	}
	if c := v.table.layout.columns[i]; c.unit.factor != 0 {
		f *= c.unit.factor
	}
	return &f
}

// tokens is a mean number of tokens: that of all requests where a file counts them,
// else what the file says.
func (v *rowReader) tokens(m, total meaning) *float64 {
	all, requests := v.number(total), v.number(completedColumn)
	if all != nil && requests != nil && *requests > 0 {
		return proto.Float64(*all / *requests)
	}
	return v.number(m)
}

// row turns a row into samples: none where it says nothing of latency.
func (r *measurementReader) row(v *rowReader) []*poolwrightv1.Sample {
	s := &poolwrightv1.Sample{
		Group:           v.text(groupColumn),
		Weight:          v.number(weightColumn),
		InputTokens:     v.tokens(inputColumn, totalInputColumn),
		OutputTokens:    v.tokens(outputColumn, totalOutputColumn),
		InputTokensScv:  v.number(inputSCVColumn),
		OutputTokensScv: v.number(outputSCVColumn),
		PrefixHitRatio:  v.number(prefixHitColumn),
		ItlMs:           v.number(itlColumn),
		TtftMs:          v.number(ttftColumn),
	}
	if s.ItlMs != nil && s.GetItlMs() == 0 && s.OutputTokens != nil && s.GetOutputTokens() <= 1 {
		s.ItlMs = nil // one token has no time between tokens
	}
	if s.ItlMs == nil && s.TtftMs == nil {
		r.warn("without TTFT and ITL, not used")
		return nil
	}
	samples := r.load(v, s)
	for _, s := range samples {
		if v.table.layout.index(groupColumn) < 0 {
			s.Group = usualGroup(s)
		}
	}
	return samples
}

// usualGroup is the workload of a sample where the file names none.
func usualGroup(s *poolwrightv1.Sample) string {
	switch {
	case s.ContextTokens != nil:
		return fmt.Sprintf("context %.4g", s.GetContextTokens())
	case s.OutputTokens == nil:
		return "prompts"
	}
	return fmt.Sprintf("%.4g/%.4g", s.GetInputTokens(), s.GetOutputTokens())
}

// load adds under which load a sample was measured.
func (r *measurementReader) load(v *rowReader, s *poolwrightv1.Sample) []*poolwrightv1.Sample {
	clients, measuredClients := v.number(clientsColumn), v.number(measuredClientsColumn)
	offered, reached := v.number(offeredRateColumn), v.number(reachedRateColumn)
	batch := v.number(batchColumn)
	closed, open := clients != nil && offered == nil, offered != nil
	switch strings.ToLower(v.text(strategyColumn)) {
	case "synchronous", "concurrent":
		closed, open = true, false
	case "constant", "poisson", "async", "asynchronous":
		closed, open = false, true
	}
	switch {
	case closed && (clients != nil || measuredClients != nil):
		s.Concurrency = clients
		if clients == nil {
			s.Concurrency = proto.Float64(max(1, *measuredClients))
		}
	case unlimited(v.text(offeredRateColumn)):
		r.warn("all requests came at once, which is no steady state; not used")
		return nil
	case open || reached != nil:
		s.ArrivalRate = reached
		if reached == nil {
			s.ArrivalRate = offered
		}
		s.Running, s.Waiting = batch, v.number(waitingColumn)
	case measuredClients != nil:
		s.Concurrency = proto.Float64(max(1, *measuredClients))
	case batch != nil:
		return r.batch(v, s, *batch)
	}
	return []*poolwrightv1.Sample{s}
}

// batch makes samples of requests that began together and of which none joined: how
// they decode, and where there is but one, how its prompt is computed.
func (r *measurementReader) batch(v *rowReader, s *poolwrightv1.Sample, batch float64) []*poolwrightv1.Sample {
	context := v.number(contextColumn)
	if context == nil && s.InputTokens != nil && s.OutputTokens != nil {
		context = proto.Float64(s.GetInputTokens() + s.GetOutputTokens()/2)
	}
	var samples []*poolwrightv1.Sample
	if s.ItlMs != nil {
		samples = append(samples, &poolwrightv1.Sample{
			Group: s.GetGroup(), Weight: s.Weight, Batch: &batch, ContextTokens: context, ItlMs: s.ItlMs,
		})
	}
	switch {
	case s.TtftMs == nil:
	case batch == 1 && s.InputTokens != nil:
		samples = append(samples, &poolwrightv1.Sample{
			Group: s.GetGroup(), Weight: s.Weight, InputTokens: s.InputTokens, PrefixHitRatio: s.PrefixHitRatio, TtftMs: s.TtftMs,
		})
	default:
		r.warn("TTFT of several prompts at once, not used")
	}
	return samples
}

// engine takes settings of the engine over from a table, which are the same in all
// rows, unless the options of a message have them.
func (r *measurementReader) engine(t *fileTable) {
	var ignored document.Error
	v := rowReader{table: t, row: t.rows[0], mistakes: &ignored}
	batch, budget, cache := v.number(maxBatchColumn), v.number(maxBatchedTokensColumn), v.number(kvCacheTokensColumn)
	if r.into.Options == nil {
		r.into.Options = &poolwrightv1.CalibrationOptions{}
	}
	o := r.into.GetOptions()
	if o.MaxBatch == nil && batch != nil && *batch >= 1 && *batch <= maxBatch {
		o.MaxBatch = proto.Int32(int32(*batch))
	}
	if o.MaxBatchedTokens == nil && budget != nil && *budget >= 1 {
		o.MaxBatchedTokens = budget
	}
	if o.KvCacheTokens == nil && cache != nil && *cache > 0 {
		o.KvCacheTokens = cache
	}
}
