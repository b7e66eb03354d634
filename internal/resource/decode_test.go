package resource_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
)

func TestDecode(t *testing.T) {
	var to struct {
		Spec struct {
			Names []struct {
				First string `json:"first"`
			} `json:"names"`
		} `json:"spec"`
	}
	require.NoError(t, resource.Decode(object(t, `{names: [{first: a, second: [1]}], others: 3}`), &to))
	assert.Equal(t, "a", to.Spec.Names[0].First)
	require.ErrorContains(t, resource.Decode(object(t, `{names: [{first: [a]}]}`), &to), "spec.names.first", "the field is named")
}

func TestSentence(t *testing.T) {
	err := errors.Join(errors.New("llmaz: a: is empty"), errors.New("llmaz: b: 1 < 2"))
	assert.Equal(t, "a: is empty; b: 1 < 2", resource.Sentence(err, "llmaz"))
}
