package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
)

// marshaler reads and writes messages with the decoder that the command line uses
// too, so that REST accepts and rejects the same text.
type marshaler struct {
	contentType string
	unmarshal   func([]byte, proto.Message) error
	marshal     func(proto.Message) ([]byte, error)
}

var _ runtime.Marshaler = marshaler{}

var (
	jsonMarshaler = marshaler{"application/json", document.UnmarshalJSON, document.MarshalJSON}
	yamlMarshaler = marshaler{"application/yaml", unmarshal, document.MarshalYAML}
)

// unmarshal reads YAML or JSON. Aliases could make little text much that no memory was taken for.
func unmarshal(text []byte, m proto.Message) error { return document.OfOthers(text).Unmarshal(text, m) }

// ContentType implements [runtime.Marshaler].
func (m marshaler) ContentType(any) string { return m.contentType }

// StreamContentType implements [runtime.StreamContentType].
func (m marshaler) StreamContentType(any) string { return "application/x-ndjson" }

// Marshal implements [runtime.Marshaler].
func (m marshaler) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case proto.Message:
		return m.marshal(v)
	case map[string]any: // a message of a stream
		for key, value := range v {
			return line(key, value)
		}
	case map[string]proto.Message: // its error
		for key, value := range v {
			return line(key, value)
		}
	}
	return nil, fmt.Errorf("server: %T is no message", v)
}

// line is an object with one message, as JSON without line breaks.
func line(key string, v any) ([]byte, error) {
	msg, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("server: %T is no message", v)
	}
	text, err := document.MarshalJSON(msg)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(`{"` + key + `":`)
	if err := json.Compact(&out, text); err != nil {
		return nil, err
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// Unmarshal implements [runtime.Marshaler]. All mistakes in a request, in its text
// and in its meaning, come in one error.
func (m marshaler) Unmarshal(data []byte, v any) error {
	msg, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("server: %T is no message", v)
	}
	if err := m.unmarshal(data, msg); err != nil {
		return message.Complete(msg, err)
	}
	return nil
}

// NewDecoder implements [runtime.Marshaler].
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		data, err := io.ReadAll(r)
		if err == nil {
			err = m.Unmarshal(data, v)
		}
		if b, ok := r.(*body); ok && err != nil {
			b.err = err
		}
		return err
	})
}

// NewEncoder implements [runtime.Marshaler].
func (m marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := m.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}

// body is a request's body that remembers why it could not be decoded: the
// gateway passes the text of that error on, but not its details.
type body struct {
	io.ReadCloser
	err error
}

// rememberDecodeErrors gives the handler bodies that remember.
func rememberDecodeErrors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &body{ReadCloser: r.Body}
		next.ServeHTTP(w, r)
	})
}
