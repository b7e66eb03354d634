package sweep

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Merge puts the shards of a sweep together, in any order. The result is the message that
// Run makes of the whole. The error says which shards are missing, given twice, incomplete
// or of another sweep.
func Merge(shards []*poolwrightv1.Sweep) (*poolwrightv1.Sweep, error) {
	if len(shards) == 0 {
		return nil, errors.New("sweep: no shard to merge")
	}
	whole := proto.CloneOf(shards[0])
	whole.Shard, whole.Results = nil, nil
	points, count := int(whole.GetPoints()), shardOf(shards[0]).Count
	if points < 1 || points > MaxPoints || count < 1 || count > MaxPoints {
		return nil, fmt.Errorf("sweep: the first shard has %d points and is one of %d, which no sweep has", points, count)
	}
	whole.Results = make([]*poolwrightv1.SweepPoint, points)
	given := make([]bool, count)
	var mistakes []error
	for i, m := range shards {
		shard := shardOf(m)
		switch err := fits(m, whole, count); {
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("sweep: shard %s, number %d of those given: %w", shard, i+1, err))
		case given[shard.Index]:
			mistakes = append(mistakes, fmt.Errorf("sweep: shard %s is given twice", shard))
		default:
			given[shard.Index] = true
			for _, p := range m.GetResults() {
				whole.Results[p.GetIndex()] = p
			}
		}
	}
	if len(mistakes) == 0 {
		mistakes = append(mistakes, missing(given))
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return whole, nil
}

// fits tells whether a shard is one of those of a sweep, with all of its points.
func fits(m, whole *poolwrightv1.Sweep, count int) error {
	shard := shardOf(m)
	if err := shard.check(); err != nil {
		return err
	}
	head := &poolwrightv1.Sweep{Dimensions: m.GetDimensions(), Points: m.GetPoints(), Digest: m.GetDigest()}
	other := &poolwrightv1.Sweep{Dimensions: whole.GetDimensions(), Points: whole.GetPoints(), Digest: whole.GetDigest()}
	switch {
	case !proto.Equal(head, other):
		return errors.New("it is of another sweep than the first")
	case shard.Count != count:
		return fmt.Errorf("the first is one of %d", count)
	case len(m.GetResults()) != shard.size(int(m.GetPoints())):
		return fmt.Errorf("%d points, not %d", len(m.GetResults()), shard.size(int(m.GetPoints())))
	}
	for i, p := range m.GetResults() {
		if want := shard.Index + i*shard.Count; int(p.GetIndex()) != want {
			return fmt.Errorf("results[%d] is of point %d, not %d", i, p.GetIndex(), want)
		}
		if p.GetResult() == nil {
			return fmt.Errorf("results[%d] is empty", i)
		}
	}
	return nil
}

// missing names the shards that were not given.
func missing(given []bool) error {
	var names []string
	for i, ok := range given {
		if !ok {
			names = append(names, Shard{i, len(given)}.String())
		}
	}
	if names == nil {
		return nil
	}
	const listed = 20
	more := ""
	if len(names) > listed {
		more = fmt.Sprintf(" and %d more", len(names)-listed)
	}
	return fmt.Errorf("sweep: missing shards: %s%s", strings.Join(names[:min(len(names), listed)], ", "), more)
}

func shardOf(m *poolwrightv1.Sweep) Shard {
	if m.GetShard() == nil {
		return Whole
	}
	return Shard{int(m.GetShard().GetIndex()), int(m.GetShard().GetCount())}
}
