package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// ratiosSection measures what a change must not make worse, in less than a minute: times
// beside CBC's on kinds that it proves soon, and growth.
func ratiosSection(ctx context.Context, o options) (*section, error) {
	s := &section{title: "Ratios", about: "Times beside CBC's on kinds that it proves soon, and growth."}
	if err := s.compareGrowth(o); err != nil {
		return nil, err
	}
	cbc := peer.CBC()
	if _, installed := cbc.Version(ctx); !installed {
		return s, nil
	}
	for _, x := range []round{{10, 5}, {100, 2}} {
		least := math.Inf(1)
		for seed := range x.problems {
			d, err := fight(ctx, ofKind(instance.Loose), x.workloads, seed, cbc, o)
			if err != nil {
				return nil, err
			}
			least = min(least, d.ratio())
		}
		s.ratios = append(s.ratios, report.Ratio{Name: fmt.Sprintf("CBC's time over ours, %d workloads, loose", x.workloads), Value: least})
	}
	return s, nil
}

// compareGrowth measures by how much less than n·log n times grow from 100 to 1,000 workloads.
func (s *section) compareGrowth(o options) error {
	for _, kind := range []instance.Kind{instance.Loose, instance.Tight} {
		var medians []float64
		for _, workloads := range []int{100, 1000} {
			c, err := measureCell(ofKind(kind), workloads, optimizer.Options{RelativeGap: relativeGap}, o)
			if err != nil {
				return err
			}
			// What else a machine does can only lengthen times.
			medians = append(medians, quantile(slices.Clone(c.times), 0.25))
		}
		n := func(x float64) float64 { return x * math.Log(x) }
		s.ratios = append(s.ratios, report.Ratio{
			Name: fmt.Sprintf("growth of n·log n over that of the time, from 100 to 1,000 workloads, %s", kind), Value: n(1000) / n(100) * medians[0] / medians[1],
		})
	}
	return nil
}
