package controller_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// remember adds entries with the sequence numbers from first to last.
func remember(h *controller.History, first, last uint64) {
	for sequence := first; sequence <= last; sequence++ {
		h.Add(controller.Entry{Sequence: sequence})
	}
}

// sequence of what a history returned; 0 where it returned nothing.
func sequence(r controller.Remembered, ok bool) uint64 {
	if !ok {
		return 0
	}
	return r.Sequence
}

func TestEmptyHistory(t *testing.T) {
	h := controller.NewHistory(controller.HistoryConfig{})
	assert.Zero(t, sequence(h.Newest()))
	assert.Zero(t, sequence(h.Oldest()))
	assert.Zero(t, sequence(h.After(0)))
	assert.Zero(t, sequence(h.Before(1)))
}

func TestHistoryForgetsTheOldest(t *testing.T) {
	h := controller.NewHistory(controller.HistoryConfig{Entries: 3})
	remember(h, 41, 45)
	assert.EqualValues(t, 45, sequence(h.Newest()))
	assert.EqualValues(t, 43, sequence(h.Oldest()))
	for after, want := range map[uint64]uint64{0: 43, 42: 43, 43: 44, 44: 45, 45: 0, 1<<64 - 1: 0} {
		assert.Equal(t, want, sequence(h.After(after)), "after %d", after)
	}
	for before, want := range map[uint64]uint64{0: 0, 43: 0, 44: 43, 45: 44, 46: 45, 1<<64 - 1: 45} {
		assert.Equal(t, want, sequence(h.Before(before)), "before %d", before)
	}
}

// wide is an entry of a fleet in which one workload changes.
func wide(sequence uint64, workloads int) controller.Entry {
	e := controller.Entry{Sequence: sequence}
	for i := range workloads {
		w := planner.Workload{Name: fmt.Sprint("w", i), Variants: make([]planner.Variant, 2)}
		e.Decision.Fleet.Workloads = append(e.Decision.Fleet.Workloads, w)
		e.Decision.Plans = append(e.Decision.Plans, planner.WorkloadPlan{Variants: make([]planner.VariantPlan, 2)})
		e.Decision.Trail = append(e.Decision.Trail, planner.Step{Subject: w.Name})
	}
	e.Decision.Changes = []planner.Change{{Workload: "w0", To: 1}}
	return e
}

// Where memory is short, old entries lose first what did not change, and are then
// forgotten; the newest stays whole.
func TestHistoryKeepsWithinItsMemory(t *testing.T) {
	h := controller.NewHistory(controller.HistoryConfig{Bytes: 1 << 19})
	whole := func() (n, all int) {
		for r, ok := h.Oldest(); ok; r, ok = h.After(r.Sequence) {
			require.Equal(t, r.Whole, len(r.Decision.Plans) == 100, r.Sequence)
			require.NotEmpty(t, r.Decision.Changes)
			all++
			if r.Whole {
				n++
			}
		}
		return n, all
	}
	for sequence := range uint64(50) {
		h.Add(wide(sequence+1, 100))
	}
	n, all := whole()
	assert.Equal(t, 50, all)
	assert.Greater(t, n, 1)
	assert.Less(t, n, 10)

	for sequence := range uint64(900) {
		h.Add(wide(sequence+51, 100))
	}
	n, all = whole()
	assert.Less(t, all, 950)
	assert.Greater(t, all, 100)
	assert.GreaterOrEqual(t, n, 1)
	newest, _ := h.Newest()
	assert.True(t, newest.Whole)

	h.Add(wide(951, 10_000)) // more than there is room for
	newest, _ = h.Newest()
	assert.True(t, newest.Whole)
	assert.EqualValues(t, 951, newest.Sequence)
	assert.EqualValues(t, 951, sequence(h.Oldest()))
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := controller.NewHistory(controller.HistoryConfig{})
		remember(h, 1, 2)
		require.NoError(t, h.Wait(t.Context(), 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, h.Wait(ctx, 2), context.DeadlineExceeded)
	})
}

// Every reader that keeps up sees every entry once, in order.
func TestReadersMissNothing(t *testing.T) {
	const last = 500
	h := controller.NewHistory(controller.HistoryConfig{})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for after := range uint64(last) {
				err := h.Wait(t.Context(), after)
				if !assert.NoError(t, err) || !assert.Equal(t, after+1, sequence(h.After(after))) { //nolint:testifylint // not in the goroutine of the test
					return
				}
			}
		})
	}
	remember(h, 1, last)
	readers.Wait()
}

// A reader that falls behind finds the oldest that is remembered.
func TestSlowReader(t *testing.T) {
	h := controller.NewHistory(controller.HistoryConfig{Entries: 10})
	remember(h, 1, 1)
	assert.EqualValues(t, 1, sequence(h.After(0)))
	remember(h, 2, 100)
	assert.EqualValues(t, 91, sequence(h.After(1)))
}
