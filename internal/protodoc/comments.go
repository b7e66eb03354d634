package protodoc

import (
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Comments are those before services, messages, enums and what is in them, each in one line,
// by full name.
type Comments map[protoreflect.FullName]string

var (
	packageLine = regexp.MustCompile(`^package ([\w.]+);`)
	blockLine   = regexp.MustCompile(`^(?:message|enum|service) (\w+) \{`)
	methodLine  = regexp.MustCompile(`^rpc (\w+)\(`)
	fieldLine   = regexp.MustCompile(`^(?:(?:repeated|optional) )?(?:map<[^>]*>|[\w.]+) (\w+) = \d+`)
	valueLine   = regexp.MustCompile(`^(\w+) = \d+`)
)

// Read reads the comments of files that are formatted by buf.
func Read(sources ...string) Comments {
	comments := make(Comments)
	for _, source := range sources {
		comments.read(source)
	}
	return comments
}

func (c Comments) read(source string) {
	var scope []string // the package, then blocks; empty for what has no name of its own
	var comment []string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "//"); ok {
			comment = append(comment, strings.Fields(text)...)
			continue
		}
		if m := packageLine.FindStringSubmatch(line); m != nil {
			scope = []string{m[1]}
		}
		name := named(line)
		if name != "" && len(comment) > 0 {
			c[qualified(scope, name)] = strings.Join(comment, " ")
		}
		comment = nil
		switch opens := strings.Count(line, "{") - strings.Count(line, "}"); {
		case opens > 0 && blockLine.MatchString(line):
			scope = append(scope, name)
		case opens > 0:
			scope = append(scope, "")
		case opens < 0:
			scope = scope[:len(scope)-1]
		}
	}
}

// named is the name of what a line defines, or empty.
func named(line string) string {
	for _, pattern := range []*regexp.Regexp{blockLine, methodLine, fieldLine, valueLine} {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

func qualified(scope []string, name string) protoreflect.FullName {
	var parts []string
	for _, s := range append(scope[:len(scope):len(scope)], name) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return protoreflect.FullName(strings.Join(parts, "."))
}
