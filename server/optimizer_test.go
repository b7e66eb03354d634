package server

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A plan is searched for so long that it can be answered by the deadline.
func TestSearchEndsBeforeTheDeadline(t *testing.T) {
	assert.Equal(t, time.Hour, searchTime(t.Context(), time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	assert.Equal(t, time.Second, searchTime(ctx, time.Second))
	assert.LessOrEqual(t, searchTime(ctx, time.Hour), 8*time.Minute)
	assert.Greater(t, searchTime(ctx, time.Hour), 5*time.Minute)
}
