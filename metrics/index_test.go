package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOwners(t *testing.T) {
	x := newIndex([]member{
		{labels: Labels{"namespace": "a", "model_name": "m"}},
		{labels: Labels{"namespace": "a", "model_name": "m", "app": "x"}},
		{labels: Labels{"namespace": "b", "model_name": "m"}, targets: []string{"llama", "llama-big"}},
		{labels: Labels{"namespace": "b", "pool": "p"}, targets: []string{"llama-bigger", ""}, unnamed: true},
		{labels: Labels{"namespace": "c", "model_name": ""}},
		{labels: Labels{"namespace": "d"}, targets: []string{"x"}},
		{labels: Labels{"namespace": "d"}, targets: []string{"y", ""}},
	})
	for _, test := range []struct {
		name    string
		series  Labels
		replica string
		want    []int
	}{
		{"all labels", Labels{"namespace": "a", "model_name": "m", "app": "y"}, "", []int{0}},
		{"most labels", Labels{"namespace": "a", "model_name": "m", "app": "x"}, "", []int{1}},
		{"nobody's", Labels{"namespace": "a", "model_name": "n", "app": "x"}, "", nil},
		{"values don't run together", Labels{"namespace": "am", "model_name": ""}, "", nil},
		{"a label that is not there is empty", Labels{"namespace": "c"}, "", []int{4}},
		{"the name tells", Labels{"namespace": "b", "model_name": "m", "pool": "p"}, "llama-1", []int{2}},
		{"the longer name tells", Labels{"namespace": "b", "model_name": "m", "pool": "p"}, "llama-bigger-1", []int{3}},
		{"a part of a word is no name", Labels{"namespace": "b", "model_name": "m", "pool": "p"}, "llama-biggest-1", []int{2}},
		{"none of those that could be", Labels{"namespace": "d"}, "z-1", nil},
		{"one of those that could be", Labels{"namespace": "d"}, "y-1", []int{6}},
		{"nothing tells", Labels{"namespace": "b", "model_name": "m", "pool": "p"}, "qwen-1", []int{2, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.ElementsMatch(t, test.want, x.owners(test.series, test.replica))
		})
	}
}
