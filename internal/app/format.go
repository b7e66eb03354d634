package app

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
)

// Format is how an answer is printed. The zero value is a table for people.
type Format struct{ name string }

// Formats are the names of all formats, the default first.
func Formats() []string { return []string{"table", "json", "yaml"} }

// String is the name of the format.
func (f *Format) String() string {
	if f.name == "" {
		return Formats()[0]
	}
	return f.name
}

// Set chooses a format by name.
func (f *Format) Set(name string) error {
	if !slices.Contains(Formats(), name) {
		return fmt.Errorf("must be one of %q", Formats())
	}
	f.name = name
	return nil
}

// Type names the values of the flag in help texts.
func (f *Format) Type() string { return "format" }

func (f *Format) write(w io.Writer, m proto.Message) error {
	switch f.String() {
	case "json":
		return writeDocument(w, m, document.MarshalJSON)
	case "yaml":
		return writeDocument(w, m, document.MarshalYAML)
	}
	return writeTable(w, m)
}

func writeDocument(w io.Writer, m proto.Message, marshal func(proto.Message) ([]byte, error)) error {
	data, err := marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
