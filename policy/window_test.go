package policy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ExampleMaximum() {
	const length = 5 * time.Minute
	var wanted policy.Maximum
	for i, replicas := range []int{4, 9, 6, 3, 3} {
		now := start.Add(time.Duration(i) * 2 * time.Minute)
		wanted.Add(now, replicas)
		wanted.Forget(now.Add(-length))
		largest, _ := wanted.Since(now.Add(-length))
		fmt.Println(replicas, "→", largest)
	}
	// Output:
	// 4 → 4
	// 9 → 9
	// 6 → 9
	// 3 → 9
	// 3 → 6
}

// every remembers everything and looks at all of it.
type every []policy.Sample

func (e every) extremes(since time.Time) (smallest, largest int, ok bool) {
	for _, s := range e {
		if s.At.Before(since) {
			continue
		}
		if !ok {
			smallest, largest, ok = s.Value, s.Value, true
		}
		smallest, largest = min(smallest, s.Value), max(largest, s.Value)
	}
	return smallest, largest, ok
}

func TestWindowsFindWhatALookAtEverySampleFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var (
			all     every
			largest policy.Maximum
			least   policy.Minimum
			now     = start
			length  = time.Duration(random.IntN(120)) * time.Second
			values  = 1 + random.IntN(30)
		)
		for range 200 {
			now = now.Add(time.Duration(random.IntN(20)) * time.Second)
			value := random.IntN(values) - values/2
			all = append(all, policy.Sample{At: now, Value: value})
			largest.Add(now, value)
			least.Add(now, value)
			largest.Forget(now.Add(-length))
			least.Forget(now.Add(-length))
			for _, part := range []time.Duration{0, length / 3, length} {
				since := now.Add(-part)
				wantLeast, wantLargest, _ := all.extremes(since)
				gotLargest, ok := largest.Since(since)
				require.True(t, ok)
				gotLeast, ok := least.Since(since)
				require.True(t, ok)
				require.Equal(t, wantLargest, gotLargest)
				require.Equal(t, wantLeast, gotLeast)
			}
			_, ok := largest.Since(now.Add(1))
			require.False(t, ok)
		}
	}
}

func TestWindowHoldsWhatMayStillCount(t *testing.T) {
	var m policy.Maximum
	for i := range 100_000 {
		m.Add(start.Add(time.Duration(i)*time.Second), 7)
	}
	assert.Len(t, m, 1, "equal values take the room of one")

	m = nil
	for i := range 100_000 {
		now := start.Add(time.Duration(i) * time.Second)
		m.Add(now, -i)
		m.Forget(now.Add(-time.Minute))
	}
	assert.Len(t, m, 61)
	assert.Less(t, cap(m), 200)
}

func TestWindowTakesAClockThatIsSetBack(t *testing.T) {
	var m policy.Maximum
	m.Add(start, 5)
	for i := range 5 {
		m.Add(start.Add(time.Duration(i)-time.Hour), 4-i)
	}
	assert.Len(t, m, 1, "the first lasts as long as the others")
	largest, ok := m.Since(start)
	assert.True(t, ok)
	assert.Equal(t, 5, largest)
	m.Forget(start.Add(1))
	assert.Nil(t, m, "both were recorded at the start")
}

func TestWindowIsEqualToItselfWrittenAndRead(t *testing.T) {
	zone := time.FixedZone("elsewhere", 3600)
	var m, copied policy.Maximum
	now := time.Now().In(zone)
	for i, value := range []int{8, 5, 2} {
		m.Add(now.Add(time.Duration(i)), value)
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &copied))
	assert.Equal(t, m, copied)
}

func TestCloneSharesNothing(t *testing.T) {
	var most policy.Maximum
	var least policy.Minimum
	for i := range 3 {
		now := start.Add(time.Duration(i) * time.Second)
		most.Add(now, 3-i)
		least.Add(now, i)
	}
	otherMost, otherLeast := most.Clone(), least.Clone()
	otherMost.Add(start.Add(time.Minute), 9)
	otherLeast.Add(start.Add(time.Minute), -9)
	assert.Equal(t, []int{3, 2, 1}, values(most))
	assert.Equal(t, []int{0, 1, 2}, values(least))
	assert.Equal(t, []int{9}, values(otherMost))
	assert.Equal(t, []int{-9}, values(otherLeast))
}

func values(samples []policy.Sample) []int {
	out := make([]int, len(samples))
	for i, s := range samples {
		out[i] = s.Value
	}
	return out
}

// BenchmarkMaximum shows that the time of an addition does not depend on the length
// of the window.
func BenchmarkMaximum(b *testing.B) {
	for _, length := range []int{20, 20_000} {
		b.Run(fmt.Sprint(length, " samples"), func(b *testing.B) {
			var m policy.Maximum
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now := start.Add(time.Duration(i) * time.Second)
				m.Add(now, -i)
				m.Forget(now.Add(-time.Duration(length) * time.Second))
			}
		})
	}
}
