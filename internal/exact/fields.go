package exact

import (
	"reflect"
	"time"
	"unicode"
)

var timeType = reflect.TypeFor[time.Time]()

// field is an exported field of a struct.
type field struct {
	name  string
	index int
}

// fields are those of the structs met so far.
type fields map[reflect.Type][]field

func (f fields) of(t reflect.Type) []field {
	known, ok := f[t]
	if ok {
		return known
	}
	list := []field{}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			list = append(list, field{lowerCamel(t.Field(i).Name), i})
		}
	}
	f[t] = list
	return list
}

// lowerCamel makes replicas of Replicas, slo of SLO and kvCacheTokens of KVCacheTokens.
func lowerCamel(name string) string {
	runes := []rune(name)
	for i := range runes {
		if i > 0 && i+1 < len(runes) && !unicode.IsUpper(runes[i+1]) || !unicode.IsUpper(runes[i]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
