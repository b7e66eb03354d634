package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the points of a sweep whose index, divided by Count, leaves Index.
type Shard struct {
	// Index is from 0 to Count-1, as the completion index of a Kubernetes Job is.
	Index int
	// Count is the number of shards, from 1 to [MaxPoints].
	Count int
}

// Whole is all points of a sweep.
var Whole = Shard{0, 1}

// ParseShard reads a shard such as 3/8: the one with index 3, from 0 on, of 8.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err != nil || err2 != nil {
		return Shard{}, fmt.Errorf("sweep: shard %q is not of the form index/count, such as 3/8", text)
	}
	s := Shard{i, n}
	return s, s.check()
}

func (s Shard) check() error {
	if s.Count < 1 || s.Count > MaxPoints {
		return fmt.Errorf("sweep: shard %s: %d shards are not from 1 to %d", s, s.Count, MaxPoints)
	}
	if s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("sweep: shard %s: the index is not from 0 to %d", s, s.Count-1)
	}
	return nil
}

// String is what ParseShard reads.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// size is the number of points of a shard among all.
func (s Shard) size(points int) int { return (points - s.Index + s.Count - 1) / s.Count }
