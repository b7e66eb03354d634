package sources

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// File is a text and the name by which mistakes in it are reported.
type File struct {
	Name string
	Data []byte
}

// Assignment gives a column another name.
type Assignment struct {
	Column, Name string
}

// TableOptions say how to read measurements from tables.
type TableOptions struct {
	// Columns are read under other names: "latency" as "ttft_ms".
	Columns []Assignment
	// Where leaves only rows that meet all of these conditions.
	Where []Condition
	// TimeUnit is that of times whose column names none: us, ms or s. Empty = such
	// columns are a mistake.
	TimeUnit string
}

// ReadMeasurements reads what a profile is to be estimated from: a message of our
// own in JSON or YAML, or a table as CSV, as a list of JSON or YAML objects, as JSON
// lines or as a single object, which is what the load tests of vLLM and SGLang write.
// Formats are told apart by content, columns by name. Samples of several files come
// together.
//
// The notes say how tables were read and what in them is not used. The error names
// every mistake in the texts, each with its file and line. What comes without error
// is not yet checked for its meaning as a whole.
func ReadMeasurements(files []File, o TableOptions) (*poolwrightv1.Measurements, []string, error) {
	r := measurementReader{options: o, vocabulary: newVocabulary(), into: &poolwrightv1.Measurements{}}
	var mistakes []error
	for _, f := range files {
		if err := r.read(f); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	if len(mistakes) > 0 {
		return nil, nil, errors.Join(mistakes...)
	}
	if err := r.tables(); err != nil {
		return nil, nil, err
	}
	return r.into, r.notes, nil
}

// measurementReader collects what files hold.
type measurementReader struct {
	options    TableOptions
	vocabulary vocabulary
	into       *poolwrightv1.Measurements
	// from is the file that into has more than samples of.
	from     string
	parts    []fileTable
	notes    []string
	warnings []warning
}

// fileTable is the table of a file, what its columns are, and what is wrong in its
// rows.
type fileTable struct {
	file string
	table
	layout   layout
	mistakes document.Error
}

// read reads a file: its message at once, its table for later.
func (r *measurementReader) read(f File) error {
	t := fileTable{file: f.Name}
	if looksLikeCSV(f.Data) {
		t.table = readCSV(f.Data, &t.mistakes)
	} else {
		records, tree, err := parseRecords(f.Data)
		if err != nil {
			return err
		}
		if records == nil {
			return r.message(f.Name, tree)
		}
		t.table = recordTable(records, &t.mistakes)
	}
	if len(t.columns) == 0 {
		return t.mistakes.OrNil()
	}
	r.parts = append(r.parts, t)
	return nil
}

// message takes a message of our own.
func (r *measurementReader) message(file string, tree document.Value) error {
	m := &poolwrightv1.Measurements{}
	if err := document.Decode(tree, m); err != nil {
		return message.Complete(m, err)
	}
	r.into.Samples = append(r.into.Samples, m.GetSamples()...)
	if m.GetOptions() == nil && m.GetDevice() == nil && m.GetModel() == nil {
		return nil
	}
	if r.from != "" {
		return fmt.Errorf("options, device and model are in %s too: give them once", r.from)
	}
	r.from = file
	r.into.Options, r.into.Device, r.into.Model = m.GetOptions(), m.GetDevice(), m.GetModel()
	return nil
}

// looksLikeCSV tells CSV from YAML and JSON by the first line that says something:
// YAML begins with a key, a list or a mark of its own.
func looksLikeCSV(data []byte) bool {
	line := firstLine(bytes.TrimPrefix(data, []byte("\ufeff")))
	if line == "" || strings.ContainsAny(line[:1], "{[-%") {
		return false
	}
	key, rest, found := strings.Cut(line, ":")
	if !found {
		return true
	}
	return strings.ContainsAny(key, ",;\t") || rest != "" && rest[0] != ' '
}

// entry is an object of a list and its line in the file.
type entry struct {
	value document.Value
	line  int
}

// parseRecords reads JSON or YAML. Records are nil where it is a message of our own.
func parseRecords(data []byte) ([]entry, document.Value, error) {
	tree, err := document.Parse(data)
	if err != nil {
		if lines, ok := parseLines(data); ok {
			return lines, tree, nil
		}
		return nil, tree, err
	}
	switch {
	case tree.Kind() == document.List:
		records := []entry{}
		for _, element := range tree.Elements() {
			line, _ := element.Position()
			records = append(records, entry{element, line})
		}
		return records, tree, nil
	case tree.Kind() == document.Object && !isMeasurements(tree):
		return []entry{{tree, 1}}, tree, nil
	}
	return nil, tree, nil
}

// isMeasurements tells a message of our own from the result of a load test.
func isMeasurements(tree document.Value) bool {
	for key, member := range tree.Members() {
		switch key.Text() {
		case "samples", "options":
			return true
		case "device", "model":
			if member.Kind() == document.Object {
				return true
			}
		}
	}
	return false
}

// mostLines is the largest number of objects in JSON lines.
const mostLines = 1_000_000

// parseLines reads JSON lines, if that is what a text is: every line is an object.
func parseLines(data []byte) ([]entry, bool) {
	var records []entry
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		tree, err := document.Options{}.ParseJSON(line)
		if err != nil || tree.Kind() != document.Object || len(records) == mostLines {
			return nil, false
		}
		records = append(records, entry{tree, number})
	}
	return records, len(records) > 1
}

// tables turns the tables of all files into samples.
func (r *measurementReader) tables() error {
	if err := r.layOut(); err != nil {
		return err
	}
	if err := r.filter(); err != nil {
		return err
	}
	if err := r.oneConfiguration(); err != nil {
		return err
	}
	var mistakes []error
	for i := range r.parts {
		if err := r.samples(&r.parts[i]); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", r.parts[i].file, err))
		}
	}
	for _, w := range r.warnings {
		r.notes = append(r.notes, w.String())
	}
	return errors.Join(mistakes...)
}
