package server

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// messagesIn is how many messages there are in one of gRPC, as far as it is one.
func messagesIn(wire []byte, d protoreflect.MessageDescriptor) (n int) {
	for len(wire) > 0 {
		number, kind, size := protowire.ConsumeTag(wire)
		if size < 0 {
			return n
		}
		wire = wire[size:]
		if size = protowire.ConsumeFieldValue(number, kind, wire); size < 0 {
			return n
		}
		if f := d.Fields().ByNumber(number); f != nil && f.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(wire)
			n += 1 + messagesIn(inner, f.Message())
		}
		wire = wire[size:]
	}
	return n
}

// elementsIn is how many objects, lists and their elements there are in a text, JSON or YAML, or more.
func elementsIn(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case '{', '[', '-', '\n':
			n++
		}
	}
	return n
}
