package planner_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// profiledFleet has so many workloads with two variants each. Profiles repeat after
// distinct workloads.
func profiledFleet(workloads, distinct int) planner.Fleet {
	f := twoPools(0)
	for p := range f.Pools {
		f.Pools[p].Capacity = optimizer.Bound{}
	}
	one := f.Workloads[0]
	f.Workloads = nil
	for i := range workloads {
		w := one
		w.Name = fmt.Sprintf("w%05d", i)
		w.ArrivalRate = queueing.Rate(1 + i%7)
		for p := range f.Pools {
			v := profiled("v", p)
			v.Name += f.Pools[p].Name
			v.Replica.Profile.Alpha *= 1 + float64(i%distinct)/float64(distinct)
			w.Variants = append(w.Variants, v)
		}
		f.Workloads = append(f.Workloads, w)
	}
	return f
}

func TestProcessorsChangeNoDecision(t *testing.T) {
	f := profiledFleet(50, 40)
	// One workload has a limit that nothing holds.
	f.Workloads[20].SLO.Limits = []queueing.Limit{{Metric: queueing.ITL, Value: 1e-3}}
	broken := profiledFleet(50, 40)
	broken.Workloads[7].Variants[0].Replica.MaxBatch = -1
	broken.Workloads[30].Variants[1].Replica.MaxBatch = -1

	run := func(f planner.Fleet, processors int) (planner.Decision, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
		return d, err
	}
	want, err := run(f, 1)
	require.NoError(t, err)
	_, wantErr := run(broken, 1)
	require.Error(t, wantErr)
	for _, processors := range []int{2, 5} {
		got, err := run(f, processors)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		_, err = run(broken, processors)
		assert.EqualError(t, err, wantErr.Error())
	}
}

// BenchmarkSize sizes 1,000 workloads: those of one profile are to take far less than
// those of 1,000.
func BenchmarkSize(b *testing.B) {
	for _, distinct := range []int{1, 1000} {
		b.Run(fmt.Sprintf("profiles=%d", distinct), func(b *testing.B) {
			f := profiledFleet(1000, distinct)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := planner.New(lp.Simplex()).Capacities(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
