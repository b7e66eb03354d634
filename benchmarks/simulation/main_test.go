package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandLine(t *testing.T) {
	share, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.InDelta(t, 1, share, 0)
	for _, wrong := range []string{"0", "2", "NaN", "x"} {
		_, err := parse([]string{"-share", wrong}, io.Discard)
		assert.Error(t, err, wrong)
	}
}

func TestEveryCaseServesItsRequests(t *testing.T) {
	for _, b := range cases() {
		m, err := measure(&b, 0.01)
		require.NoError(t, err, b.name)
		assert.InEpsilon(t, 0.01*b.requests, m.requests, 0.03, b.name)
	}
}

func TestTargets(t *testing.T) {
	b := benchmark{name: "x", rate: 100, megabytes: 10}
	fast := measurement{requests: 1000, processor: 5 * time.Second, elapsed: 6 * time.Second, megabytes: 9}
	assert.True(t, b.met(&fast))
	assert.Equal(t, "x 1000 5.00 6.00 200 ≥ 100 2.0 0.50 9 < 10 yes", strings.Join(row(&b, &fast, 400), " "))
	slow, large := fast, fast
	slow.processor, large.megabytes = 11*time.Second, 10
	assert.False(t, b.met(&slow))
	assert.False(t, b.met(&large))
}
