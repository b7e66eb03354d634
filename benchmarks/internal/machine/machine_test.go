package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPace(t *testing.T) {
	var p Pace
	least, median, p95 := p.Spread()
	assert.Zero(t, least+median+p95)
	for n := range 101 {
		p.took = append(p.took, time.Duration(200-n))
	}
	least, median, p95 = p.Spread()
	assert.Equal(t, []time.Duration{100, 150, 195}, []time.Duration{least, median, p95})
	p.Sample()
	assert.Positive(t, p.took[101])
}
