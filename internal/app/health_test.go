package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPulse(t *testing.T) {
	const cycle = 15 * time.Second
	start := time.Unix(1e9, 0)
	at := func(cycles int) time.Time { return start.Add(time.Duration(cycles) * cycle) }
	var p pulse
	require.NoError(t, p.live(at(1000)))
	require.NoError(t, p.ready(at(1000)), "another one leads")

	p.lead(start)
	p.begin(start, cycle)
	require.NoError(t, p.ready(at(8)))
	require.EqualError(t, p.ready(at(9)), "nothing was decided for 2m15s")
	p.end(at(9), false)
	require.Error(t, p.ready(at(9)), "a cycle that fails decides nothing")
	p.begin(at(10), cycle)
	p.end(at(10), true)
	require.NoError(t, p.ready(at(18)))
	require.Error(t, p.ready(at(19)))

	p.begin(at(20), cycle)
	require.NoError(t, p.live(at(40)))
	require.EqualError(t, p.live(at(41)), "a cycle that began 5m15s ago has not ended")
	p.end(at(41), true)
	require.NoError(t, p.live(at(100)))
	p.lead(time.Time{})
	require.NoError(t, p.ready(at(100)))

	p.begin(at(100), time.Second)
	require.NoError(t, p.live(at(108)), "short cycles may be late on a busy machine")
	require.Error(t, p.live(at(109)))
}
