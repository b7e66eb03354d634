package document

import (
	"bytes"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

// MarshalJSON writes a message as indented JSON with a final newline. Scalars, enums
// and lists without presence are written even when empty. Equal messages give equal
// bytes.
func MarshalJSON(m proto.Message) ([]byte, error) {
	e := newEncoder(0)
	if err := e.message(m.ProtoReflect()); err != nil {
		return nil, err
	}
	return append(e.out, '\n'), nil
}

// MarshalYAML writes a message as YAML, with the fields in the same order as
// [MarshalJSON].
func MarshalYAML(m proto.Message) ([]byte, error) {
	data, err := MarshalJSON(m)
	if err != nil {
		return nil, err
	}
	options := Options{MaxBytes: len(data), MaxValues: len(data), MaxDepth: len(data)}
	v, err := options.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(yamlNode(v)); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// yamlNode turns JSON into YAML's nodes.
func yamlNode(v Value) *yaml.Node {
	switch v.Kind() {
	case Object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for key, member := range v.Members() {
			n.Content = append(n.Content, yamlString(key.Text()), yamlNode(member))
		}
		return n
	case List:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, element := range v.Elements() {
			n.Content = append(n.Content, yamlNode(element))
		}
		return n
	case String:
		return yamlString(v.Text())
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Text()}
	}
}

// yamlString is a string that is quoted where it would read as something else.
func yamlString(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if kind, _ := scalarOf(n); kind != String || n.ShortTag() != "!!str" {
		n.Style = yaml.DoubleQuotedStyle
	}
	n.Tag = "!!str"
	return n
}
