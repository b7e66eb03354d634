package server_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/message/messagetest"
	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources"
)

// exampleFleets are those that users begin with.
func exampleFleets(t *testing.T) []*poolwrightv1.Fleet {
	t.Helper()
	folder := os.DirFS("../examples")
	files, err := fs.Glob(folder, "*.yaml")
	require.NoError(t, err)
	var fleets []*poolwrightv1.Fleet
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		require.NoError(t, err)
		if fleet, err := sources.ReadFleet(text); err == nil { // others are simulations
			fleets = append(fleets, fleet)
		}
	}
	require.Greater(t, len(fleets), 5)
	return fleets
}

// Whatever is asked, the answer is numbers, or says what is wrong with the question, which stays as it is.
func TestRandomFleets(t *testing.T) {
	service := server.NewOptimizer(planner.New(nil))
	calls := map[string]func(context.Context, *poolwrightv1.Fleet) (proto.Message, error){
		"Optimize": func(ctx context.Context, m *poolwrightv1.Fleet) (proto.Message, error) {
			return service.Optimize(ctx, m)
		},
		"Explain": func(ctx context.Context, m *poolwrightv1.Fleet) (proto.Message, error) {
			return service.Explain(ctx, m)
		},
		"Evaluate": func(ctx context.Context, m *poolwrightv1.Fleet) (proto.Message, error) {
			return service.Evaluate(ctx, m)
		},
		"Capacity": func(ctx context.Context, m *poolwrightv1.Fleet) (proto.Message, error) {
			return service.Capacity(ctx, m)
		},
	}
	fleets := exampleFleets(t)
	answers := map[string]int{}
	for seed := range short.Of(uint64(1000)) {
		r := rand.New(rand.NewPCG(seed, 21))
		m := proto.CloneOf(fleets[r.IntN(len(fleets))])
		messagetest.Mutate(r, m, 1+r.IntN(5))
		if m.Objective == nil {
			m.Objective = &poolwrightv1.Objective{}
		}
		m.Objective.TimeLimit = durationpb.New(200 * time.Millisecond)
		question := proto.CloneOf(m)
		for name, call := range calls {
			answer, err := call(t.Context(), m)
			require.True(t, proto.Equal(question, m), "%s changed %v", name, question)
			if err != nil {
				require.Equal(t, codes.InvalidArgument, status.Code(err), "%d %s %v: %v", seed, name, err, prototext.Format(m))
				continue
			}
			answers[name]++
			require.Empty(t, messagetest.NotFinite(answer), "%d %s %v", seed, name, prototext.Format(m))
		}
	}
	for name := range calls {
		require.Greater(t, answers[name], short.Of(300), name)
	}
}
