package whatif_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/message/messagetest"
	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/internal/whatif"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// Whatever is asked, a simulation ends and its result is numbers, or it says what is wrong with the question, which stays as it is.
func TestRandomSimulations(t *testing.T) {
	day, err := sources.ReadSimulation(examples.Day, nil)
	require.NoError(t, err)
	begun := []*poolwrightv1.Simulation{day, small(t)}
	results := 0
	for seed := range short.Of(uint64(2000)) {
		r := rand.New(rand.NewPCG(seed, 22))
		m := proto.CloneOf(begun[r.IntN(len(begun))])
		m.Seeds, m.Warmup = []uint64{seed}, nil
		for range r.IntN(2) {
			m.Autoscalers = append(m.Autoscalers, randomAutoscaler(r))
		}
		messagetest.Mutate(r, m, 1+r.IntN(5))
		m.Duration = durationpb.New(time.Duration(1+r.IntN(5)) * time.Minute)
		question := proto.CloneOf(m)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		result, err := whatif.Run(ctx, m, whatif.Config{MostRequests: 50_000})
		cancel()
		require.True(t, proto.Equal(question, m), "changed %v", question)
		if err != nil {
			var mistakes message.Violations
			require.ErrorAs(t, err, &mistakes, "%d %v: %v", seed, err, prototext.Format(m))
			continue
		}
		results++
		for _, path := range messagetest.NotFinite(result) {
			require.Contains(t, path, ".latencies[", "%d %s %v", seed, path, prototext.Format(m)) // NaN: no requests
		}
	}
	require.Greater(t, results, short.Of(500))
}

// randomAutoscaler is one of any kind.
func randomAutoscaler(r *rand.Rand) *poolwrightv1.Autoscaler {
	a := &poolwrightv1.Autoscaler{}
	kinds := a.ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	kind := a.ProtoReflect().Mutable(kinds.Get(r.IntN(kinds.Len()))).Message()
	messagetest.Mutate(r, kind.Interface(), kind.Descriptor().Fields().Len()/2)
	return a
}
