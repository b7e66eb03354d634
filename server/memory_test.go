package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestMemoryOfRequests(t *testing.T) {
	m := memory{metrics: newLimitMetrics(prometheus.NewRegistry())}
	give, err := m.take(6, 1, 10*memoryPerByte)
	require.NoError(t, err)
	_, err = m.take(5, 0, 10*memoryPerByte)
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	assert.Equal(t, "1", retryAfter(err))
	other, err := m.take(4, 0, 10*memoryPerByte)
	require.NoError(t, err)
	give()
	_, err = m.take(1, 2, 10*memoryPerByte)
	require.Equal(t, codes.ResourceExhausted, status.Code(err), "elements take more than their bytes")
	_, err = m.take(1, 3, 10*memoryPerByte)
	require.Empty(t, retryAfter(err), "there will never be so much")
	_, err = m.take(5, 0, 10*memoryPerByte)
	require.NoError(t, err)
	other()
	assert.EqualValues(t, 5*memoryPerByte, m.taken)
}

// There is room for four requests, and for two of each caller. One that finds none waits, and
// keeps nobody from reading who has room.
func TestRoomToRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReading(4*leastReading, newLimitMetrics(prometheus.NewRegistry()))
		begun, done := make(chan string, 10), make(chan struct{})
		read := func(ctx context.Context, caller string) <-chan error {
			result := make(chan error, 1)
			go func() {
				result <- r.while(ctx, caller, 1, func() error {
					begun <- caller
					<-done
					return nil
				})
			}()
			synctest.Wait()
			return result
		}
		slow := []<-chan error{read(t.Context(), "a"), read(t.Context(), "a")}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := read(short, "a")
		assert.Len(t, begun, 2, "the third of one caller waits")
		read(t.Context(), "b")
		read(t.Context(), "c")
		assert.Len(t, begun, 4)
		last := read(t.Context(), "d")
		assert.Len(t, begun, 4, "there is no room for a fifth")
		assert.Equal(t, codes.DeadlineExceeded, status.Code(<-late))
		done <- struct{}{}
		synctest.Wait()
		assert.Len(t, begun, 5)
		close(done)
		require.NoError(t, <-last)
		for _, result := range slow {
			require.NoError(t, <-result)
		}
		synctest.Wait()
		assert.Empty(t, r.callers, "who reads nothing is forgotten")
	})
}

// Who wants to read too much at once is refused, and does not wait.
func TestWaitingToReadIsBounded(t *testing.T) {
	r := newReading(2*leastReading, newLimitMetrics(prometheus.NewRegistry()))
	for range mostReading {
		_, err := r.enter("a")
		require.NoError(t, err)
	}
	assert.Equal(t, codes.ResourceExhausted, status.Code(r.while(t.Context(), "a", 1, nil)))
	require.NoError(t, r.while(t.Context(), "b", 1, func() error { return nil }))
}

func TestLargestRequestIsOneThatThereIsMemoryFor(t *testing.T) {
	limits := Limits{RequestMemory: 1 << 20}.orDefault()
	assert.Equal(t, 1<<20/memoryPerByte, limits.MaxRequestBytes)
	assert.Equal(t, 1000, Limits{RequestMemory: 1 << 20, MaxRequestBytes: 1000}.orDefault().MaxRequestBytes)
}

func TestElementsOfRequests(t *testing.T) {
	fleet := &poolwrightv1.Fleet{
		Pools:     []*poolwrightv1.Pool{{Name: "h100"}},
		Workloads: []*poolwrightv1.Workload{{Load: &poolwrightv1.Load{ArrivalRate: 1}, Variants: []*poolwrightv1.Variant{{}, {Name: "v"}}}, {}},
	}
	wire, err := proto.Marshal(fleet)
	require.NoError(t, err)
	assert.Equal(t, 6, messagesIn(wire, fleet.ProtoReflect().Descriptor()))
	for cut := range wire {
		assert.LessOrEqual(t, messagesIn(wire[:cut], fleet.ProtoReflect().Descriptor()), 6)
	}
	assert.Equal(t, 5, elementsIn([]byte(`{"workloads": [{}, {}, [`)))
	assert.Equal(t, 4, elementsIn([]byte("- a\n- b\n")))
}
