package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/poolwright/poolwright/internal/exact"
)

// Difference is a place at which a decision differs from the one that was recorded. The
// digest is that of the whole decision, of which the ledger has only a summary.
type Difference struct {
	// Path is in the summary, such as changes[0].to.
	Path string `json:"path"`
	// Recorded and Replayed are JSON, empty where there is nothing.
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

// compare lists where summaries differ.
func compare(recorded, replayed Summary) ([]Difference, error) {
	a, err := tree(recorded)
	if err != nil {
		return nil, err
	}
	b, err := tree(replayed)
	if err != nil {
		return nil, err
	}
	return differences("", a, b)
}

// tree is a summary as a tree of JSON values.
func tree(s Summary) (any, error) {
	text, err := exact.Marshal(s)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err = d.Decode(&v)
	return v, err
}

// differences lists where trees differ, in the order of their paths.
func differences(path string, a, b any) (all []Difference, err error) {
	below := func(step string, a, b any) {
		var more []Difference
		if err == nil {
			more, err = differences(path+step, a, b)
		}
		all = append(all, more...)
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				below(member(path, name), a[name], b[name])
			}
			return all, err
		}
	case []any:
		if b, ok := b.([]any); ok {
			for i := range max(len(a), len(b)) {
				below(fmt.Sprintf("[%d]", i), element(a, i), element(b, i))
			}
			return all, err
		}
	}
	return leaf(path, a, b)
}

// member is the step to a member of an object.
func member(path, name string) string {
	if path == "" {
		return name
	}
	return "." + name
}

// element is nil beyond the end of a list.
func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// leaf compares values of which at least one has no parts.
func leaf(path string, a, b any) ([]Difference, error) {
	x, err := text(a)
	if err != nil {
		return nil, err
	}
	y, err := text(b)
	if err != nil || x == y {
		return nil, err
	}
	return []Difference{{path, x, y}}, nil
}

// text is empty for nothing.
func text(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSpace(out.Bytes())), err
}
