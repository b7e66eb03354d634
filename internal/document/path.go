package document

import "strconv"

// step is one part of a path: a field by name, an element by index or an entry of a
// map by key.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	fieldStep stepKind = iota
	elementStep
	entryStep
)

// formatPath writes a path such as pools[0].quotas["prod"].
func formatPath(steps []step) string {
	var path []byte
	for _, s := range steps {
		switch s.kind {
		case fieldStep:
			if len(path) > 0 {
				path = append(path, '.')
			}
			path = append(path, shorten(s.name)...)
		case elementStep:
			path = append(path, '[')
			path = strconv.AppendInt(path, int64(s.index), 10)
			path = append(path, ']')
		case entryStep:
			path = append(path, '[')
			path = strconv.AppendQuote(path, shorten(s.name))
			path = append(path, ']')
		}
	}
	return string(path)
}
