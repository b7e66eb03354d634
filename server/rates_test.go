package server

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRates(t *testing.T) {
	var r rates
	limits := Limits{Rate: 2, Burst: 3}
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for range 3 {
		assert.Zero(t, r.wait("a", limits, now))
	}
	assert.Equal(t, 500*time.Millisecond, r.wait("a", limits, now))
	assert.Equal(t, 500*time.Millisecond, r.wait("a", limits, now), "who was refused has not asked")
	assert.Zero(t, r.wait("b", limits, now), "that is another one")
	assert.Zero(t, r.wait("a", limits, now.Add(500*time.Millisecond)))
	assert.Equal(t, 250*time.Millisecond, r.wait("a", limits, now.Add(750*time.Millisecond)))
	limits.Rate = 4
	assert.Zero(t, r.wait("a", limits, now.Add(time.Second)), "what has changed counts at once")
	assert.Zero(t, r.wait("a", Limits{}, now.Add(time.Second)), "no limit")
}

func TestCallersAreBounded(t *testing.T) {
	var r rates
	limits := Limits{Rate: 0.001, Burst: 1}
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	assert.Zero(t, r.wait("a", limits, now))
	for i := range 10 * mostCallers {
		assert.Zero(t, r.wait(strconv.Itoa(i), limits, now))
		if i%(mostCallers/2) == 0 {
			assert.NotZero(t, r.wait("a", limits, now), "who asks often is remembered")
		}
		assert.LessOrEqual(t, len(r.recent)+len(r.former), 2*mostCallers)
	}
}
