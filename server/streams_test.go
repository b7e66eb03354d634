package server

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Of the streams that may be open one caller has half at most.
func TestOpenStreams(t *testing.T) {
	s := newStreaming(4, newLimitMetrics(prometheus.NewRegistry()))
	var ends []func()
	for _, caller := range []string{"a", "a", "b"} {
		end, err := s.begin(caller)
		require.NoError(t, err)
		ends = append(ends, end)
	}
	_, err := s.begin("a")
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "2 streams of yours are open")
	assert.Equal(t, "10", retryAfter(err))
	end, err := s.begin("c")
	require.NoError(t, err)
	ends = append(ends, end)
	_, err = s.begin("d")
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "4 streams are open")
	ends[0]()
	again, err := s.begin("a")
	require.NoError(t, err)
	for _, end := range append(ends[1:], again) {
		end()
	}
	assert.Zero(t, s.open)
	assert.Empty(t, s.callers, "who has no stream is forgotten")
}
