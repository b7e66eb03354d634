package main

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestTally(t *testing.T) {
	var all tally
	for i := range 1000 {
		all.add(nil, time.Duration(i+1)*time.Millisecond)
	}
	refused := status.New(codes.ResourceExhausted, "later")
	all.add(refused.Err(), time.Millisecond)
	assert.Equal(t, 1, all.failed, "it does not say when")
	detailed, err := refused.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	require.NoError(t, err)
	all.add(detailed.Err(), time.Millisecond)
	all.add(errors.New("broken"), 0)
	assert.Equal(t, []int{1003, 1000, 1, 2}, []int{all.calls, all.answered, all.shed, all.failed})
	require.ErrorContains(t, all.failure, "later")
	assert.InEpsilon(t, 0.5, all.quantile(0.5), 0.02)
	assert.InEpsilon(t, 0.99, all.quantile(0.99), 0.02)
	assert.Equal(t, time.Second, all.longest)
	assert.True(t, new(tally).quantile(0.5) != new(tally).quantile(0.5), "NaN") //nolint:testifylint // NaN equals nothing
}

func TestLongestTimeBetweenDecisions(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	cycles := []time.Time{at(0), at(20), at(25), at(32), at(40)}
	assert.Equal(t, 8*time.Second, longest(cycles, at(21), at(33)), "one that only touches the time counts")
	assert.Equal(t, 20*time.Second, longest(cycles, at(10), at(33)))
	assert.Equal(t, 60*time.Second, longest(cycles, at(21), at(100)), "the one that did not come counts")
}

func TestGrowth(t *testing.T) {
	var all []sample
	for i := range 100 {
		all = append(all, sample{goroutines: 10, resident: float64(100 + i), heap: float64(50 + i%10)})
	}
	assert.InDelta(t, 1, growth(all, goroutines), 0)
	assert.InDelta(t, 199./149, growth(all, resident), 1e-9)
	assert.InDelta(t, 50, least(all, heap), 0)
}

func TestTogether(t *testing.T) {
	failure := errors.New("lost")
	var windows [2]window
	for i := range 100 {
		windows[0].add(nil, time.Duration(i+1)*time.Millisecond)
	}
	windows[1].add(nil, time.Second)
	windows[1].add(failure, time.Hour)
	all := together(windows[:])
	assert.Equal(t, []int{102, 101, 0, 1}, []int{all.calls, all.answered, all.shed, all.failed})
	assert.Equal(t, failure, all.failure)
	assert.Equal(t, time.Second, all.longest)
	assert.InEpsilon(t, 0.051, all.quantile(0.5), 0.02)
	assert.InEpsilon(t, 1, all.quantile(1), 0.02)
}

func TestOptions(t *testing.T) {
	o, err := parse([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	assert.Less(t, o.warm+o.steady+o.overload+o.recovery, 2*time.Minute+time.Second)
	o, err = parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, 30*time.Minute, o.steady)
	assert.InDelta(t, 200, o.rate, 0)
	for _, wrong := range []string{"-rate=0", "-factor=0.5", "-clients=0", "-duration=1s"} {
		_, err := parse([]string{wrong}, io.Discard)
		require.Error(t, err, wrong)
	}
}

func TestRequests(t *testing.T) {
	l, err := newLoad(&options{clients: 2, workloads: 20}, "127.0.0.1:1")
	require.NoError(t, err)
	require.NoError(t, l.close())
	require.Len(t, l.requests, fleets)
	assert.Len(t, l.requests[0].GetWorkloads(), 20)
	assert.NotEqual(t, l.requests[0].GetWorkloads()[3].GetLoad().GetArrivalRate(), l.requests[1].GetWorkloads()[3].GetLoad().GetArrivalRate())
}
