package protodoc

import (
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Service describes a service: its comment, and for each method what REST calls it, what
// it takes and what it answers.
func (c Comments) Service(s protoreflect.ServiceDescriptor, link func(protoreflect.MessageDescriptor) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n| method | REST | request | answer | what it does |\n|---|---|---|---|---|\n", s.Name(), c[s.FullName()])
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		answer := fmt.Sprintf("[%s](%s)", m.Output().Name(), link(m.Output()))
		if m.IsStreamingServer() {
			answer = "stream of " + answer
		}
		fmt.Fprintf(&b, "| `%s` | %s | [%s](%s) | %s | %s |\n",
			m.Name(), binding(m), m.Input().Name(), link(m.Input()), answer, c[m.FullName()])
	}
	b.WriteByte('\n')
	return b.String()
}

// binding is how REST calls a method.
func binding(m protoreflect.MethodDescriptor) string {
	rule, ok := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch {
	case !ok || rule == nil:
		return ""
	case rule.GetGet() != "":
		return "`GET " + rule.GetGet() + "`"
	}
	return "`POST " + rule.GetPost() + "`"
}

// Messages describes messages with all their rules, and those within them: a heading and a
// table of its fields for each.
func (c Comments) Messages(messages protoreflect.MessageDescriptors, link func(protoreflect.MessageDescriptor) string) string {
	var b strings.Builder
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.IsMapEntry() {
			continue
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", Name(m), c[m.FullName()])
		if m.Fields().Len() > 0 {
			b.WriteString("| field | type | meaning |\n|---|---|---|\n")
		}
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.JSONName(), c.Type(f, link), strings.Join(append([]string{c.Meaning(f)}, rules(f)...), " "))
		}
		if m.Fields().Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.Messages(m.Messages(), link))
	}
	return b.String()
}

// Name is that of a message within its package.
func Name(m protoreflect.MessageDescriptor) string {
	return strings.TrimPrefix(string(m.FullName()), string(m.ParentFile().Package())+".")
}
