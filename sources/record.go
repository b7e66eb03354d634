package sources

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/poolwright/poolwright/internal/document"
)

// record is an object of a foreign document. Names are matched without regard to
// case, unknown ones are ignored, null and absent are the same. What is wrong is
// recorded and read as absent.
type record struct {
	path     string
	value    document.Value
	members  map[string]document.Value
	mistakes *document.Error
}

func newRecord(path string, v document.Value, mistakes *document.Error) record {
	r := record{path, v, map[string]document.Value{}, mistakes}
	if v.Kind() != document.Object {
		r.fail("", v, "expected an object, got %s", v.Describe())
	}
	for key, member := range v.Members() {
		name := strings.ToLower(key.Text())
		if _, ok := r.members[name]; ok {
			r.fail(key.Text(), key, "given twice")
		} else if member.Kind() != document.Null {
			r.members[name] = member
		}
	}
	return r
}

// fail records a mistake in the member of a name, or in the record itself.
func (r record) fail(name string, at document.Value, format string, args ...any) {
	line, column := at.Position()
	r.mistakes.Add(document.Violation{Path: join(r.path, name), Message: fmt.Sprintf(format, args...), Line: line, Column: column})
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// find returns the first given member of several names.
func (r record) find(names ...string) (name string, v document.Value, ok bool) {
	for _, name := range names {
		if v, ok := r.members[strings.ToLower(name)]; ok {
			return name, v, true
		}
	}
	return names[0], r.value, false
}

func (r record) has(name string) bool {
	_, _, ok := r.find(name)
	return ok
}

// reject records a mistake in the member that find finds, or in its absence.
func (r record) reject(name, format string, args ...any) {
	_, at, _ := r.find(name)
	r.fail(name, at, format, args...)
}

// text returns a string, "" where it is absent.
func (r record) text(name string) string {
	_, v, ok := r.find(name)
	switch {
	case !ok:
		return ""
	case v.Kind() != document.String:
		r.fail(name, v, "expected a string, got %s", v.Describe())
		return ""
	}
	return v.Text()
}

// required returns a string that must be there.
func (r record) required(name string) string {
	text := r.text(name)
	switch _, v, ok := r.find(name); {
	case text != "":
	case !ok:
		r.reject(name, "is missing")
	case v.Kind() == document.String:
		r.reject(name, "must not be empty")
	}
	return text
}

// number returns a finite number ≥ 0, 0 where it is absent. It may be in quotes.
func (r record) number(names ...string) float64 {
	name, v, ok := r.find(names...)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(v.Text(), 64)
	switch {
	case v.Kind() != document.Number && v.Kind() != document.String,
		err != nil, math.IsNaN(f), math.IsInf(f, 0):
		r.fail(name, v, "expected a finite number, got %s", v.Describe())
		return 0
	case f < 0:
		r.fail(name, v, "%s is negative", v.Text())
		return 0
	}
	return f
}

// count returns a whole number ≥ 0, or what it is where absent.
func (r record) count(name string, absent int32) int32 {
	if !r.has(name) {
		return absent
	}
	f := r.number(name)
	if f != math.Trunc(f) || f > math.MaxInt32 {
		r.reject(name, "expected a whole number of at most %d, got %v", math.MaxInt32, f)
		return absent
	}
	return int32(f)
}

// flag returns a truth value, false where it is absent.
func (r record) flag(name string) bool {
	_, v, ok := r.find(name)
	if ok && v.Kind() != document.Bool {
		r.fail(name, v, "expected true or false, got %s", v.Describe())
	}
	return ok && v.Kind() == document.Bool && v.Text() == "true"
}

// record returns an object, empty where it is absent.
func (r record) record(name string) record {
	if _, v, ok := r.find(name); ok {
		return newRecord(join(r.path, name), v, r.mistakes)
	}
	return record{path: join(r.path, name), value: r.value, mistakes: r.mistakes}
}

// records returns the objects of a list. The list may be the member itself or in an
// object there, under one of the names.
func (r record) records(section string, names ...string) []record {
	name, v, ok := r.find(append([]string{section}, names...)...)
	switch {
	case !ok:
		return nil
	case v.Kind() == document.Object && len(names) > 0:
		inner := r.record(name)
		return inner.records(names[0], names[1:]...)
	case v.Kind() != document.List:
		r.fail(name, v, "expected a list, got %s", v.Describe())
		return nil
	}
	var list []record
	for i, element := range v.Elements() {
		of := newRecord(fmt.Sprintf("%s[%d]", join(r.path, name), i), element, r.mistakes)
		if element.Kind() == document.Object {
			list = append(list, of)
		}
	}
	return list
}
