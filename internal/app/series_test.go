package app

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/metrics"
)

func TestPartsAreThoseOfTheSource(t *testing.T) {
	assert.Nil(t, parts(nil))
	decode, prefill := regexp.MustCompile(`^(a-\d+)-decode-\d+-0$`), regexp.MustCompile(`^(a-\d+)-prefill-\d+-0$`)
	assert.Equal(t,
		map[string][]metrics.Part{"a": {{Pods: decode, Count: 2}, {Pods: prefill, Count: 1, Prefill: true}}},
		parts(map[string][]resource.Part{"a": {{Pods: decode, Count: 2}, {Pods: prefill, Count: 1, Prefill: true}}}))
}
