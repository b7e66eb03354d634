package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measured is a metric of the runtime.
func measured(name string) float64 {
	samples := []metrics.Sample{{Name: name}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64())
}

// TestPaceOfGarbage: leastGarbage may pile up where little is in use, and by what is in use where that
// is much, from the next collection on.
func TestPaceOfGarbage(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	p := paceGarbage()
	defer p.end()
	kept := make([]byte, 4*leastGarbage)
	// may is about how many bytes may pile up until the next collection.
	may := func(bytes float64) func() bool {
		return func() bool {
			runtime.GC()
			room := measured("/gc/heap/goal:bytes") - measured("/gc/heap/live:bytes")
			return room > 0.75*bytes && room < 1.25*bytes
		}
	}
	require.Eventually(t, may(float64(len(kept))*garbage/100), 10*time.Second, time.Millisecond, "much in use")
	runtime.KeepAlive(kept)
	require.Eventually(t, may(leastGarbage), 10*time.Second, time.Millisecond, "little in use")
	p.end()

	t.Setenv("GOGC", "70")
	debug.SetGCPercent(70)
	defer paceGarbage().end()
	runtime.GC()
	assert.InDelta(t, 70, measured("/gc/gogc:percent"), 0)
}

func TestPaceByWhatIsInUse(t *testing.T) {
	for used, want := range map[uint64]uint64{0: 1600, 1 << 20: 1600, 8 << 20: 800, 64 << 20: 100, 128 << 20: 50, 1 << 30: 50} {
		assert.Equal(t, want, paceBy(used), used)
	}
}
