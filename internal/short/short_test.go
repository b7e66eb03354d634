package short_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/short"
)

func TestOf(t *testing.T) {
	before := flag.Lookup("test.short").Value.String()
	defer func() { require.NoError(t, flag.Set("test.short", before)) }()
	for is, want := range map[string]int{"false": 45, "true": 4} {
		require.NoError(t, flag.Set("test.short", is))
		assert.Equal(t, want, short.Of(45), is)
		assert.EqualValues(t, 1, short.Of(uint64(1)), is)
	}
}
