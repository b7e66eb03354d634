package app

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestPaceOfGarbage: much may pile up where little is in use, and by what is in use where that is
// much, from the next collection on.
func TestPaceOfGarbage(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	p := paceGarbage()
	defer p.end()
	kept := make([]byte, 4*leastGarbage)
	for _, used := range []struct {
		is string
		ok func(percent int) bool
	}{
		{"much", func(percent int) bool { return percent == garbage }},
		{"little", func(percent int) bool { return percent > 100 }},
	} {
		assert.Eventually(t, func() bool {
			runtime.GC()
			return used.ok(percent())
		}, 10*time.Second, time.Millisecond, "%s in use: %d", used.is, percent())
		runtime.KeepAlive(kept)
		kept = nil
	}
	p.end()

	t.Setenv("GOGC", "70")
	debug.SetGCPercent(70)
	defer paceGarbage().end()
	assert.Equal(t, 70, percent())
}
