package metrics

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exposition is what a pod reported, by the name of the metric.
type exposition map[string]*dto.MetricFamily

// longestLine, in bytes, of what a pod reports.
const longestLine = 1 << 20

// parse reads the text format. What is not wanted is not parsed: a mistake there spoils
// nothing, and costs nothing.
func parse(text io.Reader, wanted map[string]bool) (exposition, error) {
	var chosen bytes.Buffer
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		// Nearly all lines are of no interest, so names stay bytes.
		if name := subject(lines.Bytes()); wanted[string(name)] || wanted[string(withoutPart(name))] {
			chosen.Write(lines.Bytes())
			chosen.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&chosen)
	if err != nil {
		return nil, fmt.Errorf("no text format of Prometheus: %w", err)
	}
	return families, nil
}

// subject is the name of the metric that a line is about: of a sample, or of what says its
// type.
func subject(line []byte) []byte {
	line = bytes.TrimLeft(line, " \t")
	if rest, ok := bytes.CutPrefix(line, []byte("#")); ok {
		if line, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("TYPE")); !ok {
			return nil
		}
		line = bytes.TrimLeft(line, " \t")
	}
	if end := bytes.IndexAny(line, "{ \t"); end >= 0 {
		return line[:end]
	}
	return line
}

// histogramOf is the name of the histogram or summary that a sample of this name may be of.
func histogramOf(name string) string { return string(withoutPart([]byte(name))) }

// withoutPart is a name without the end that says which part of a histogram it is.
func withoutPart(name []byte) []byte {
	for _, part := range [...]string{"_bucket", "_sum", "_count"} {
		if len(name) > len(part) && string(name[len(name)-len(part):]) == part {
			return name[:len(name)-len(part)]
		}
	}
	return name
}

// sum adds up the series of the first of the names that is reported.
func (x exposition) sum(names []string, only matcher) (float64, bool) {
	for _, name := range names {
		family, of := x[name], value
		if family == nil {
			family = x[histogramOf(name)]
			of = func(m *dto.Metric) (float64, bool) { return part(m, name) }
		}
		total, found := 0.0, false
		for _, m := range family.GetMetric() {
			if v, ok := of(m); ok && only.matches(m) {
				total, found = total+v, true
			}
		}
		if found {
			return total, true
		}
	}
	return 0, false
}

// value is that of a counter, a gauge, or what is of no type.
func value(m *dto.Metric) (float64, bool) {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

// part is the sum or the count of a histogram or summary, as the end of the name says.
func part(m *dto.Metric, name string) (float64, bool) {
	sum := strings.HasSuffix(name, "_sum")
	switch {
	case m.Histogram != nil && sum:
		return m.Histogram.GetSampleSum(), true
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount()), true
	case m.Summary != nil && sum:
		return m.Summary.GetSampleSum(), true
	case m.Summary != nil:
		return float64(m.Summary.GetSampleCount()), true
	}
	return 0, false
}

// buckets adds up those of the first of the histograms that is reported; nil if none is.
func (x exposition) buckets(histograms []string) buckets {
	for _, name := range histograms {
		var sum buckets
		for _, m := range x[name].GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				if sum == nil {
					sum = buckets{}
				}
				sum[b.GetUpperBound()] += float64(b.GetCumulativeCount())
			}
		}
		if sum != nil {
			return sum
		}
	}
	return nil
}

// matches tells whether a series has one of the values.
func (o matcher) matches(m *dto.Metric) bool {
	if len(o.values) == 0 {
		return true
	}
	for _, pair := range m.GetLabel() {
		if pair.GetName() == o.label {
			return slices.Contains(o.values, pair.GetValue())
		}
	}
	return false
}

// isCounter tells whether a metric is one.
func (x exposition) isCounter(name string) bool {
	return x[name] != nil && x[name].GetType() == dto.MetricType_COUNTER
}
