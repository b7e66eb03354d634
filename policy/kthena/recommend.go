package kthena

import (
	"math"
	"slices"
	"time"
)

// Input is what was observed.
type Input struct {
	Now time.Time
	// Replicas is what the workload is scaled to.
	Replicas int
	// Unready is how many of them do not serve yet.
	Unready int
	// Readings belong to the metrics of the [Config], in their order. A metric without
	// a reading is not known.
	Readings []Reading
}

// Reading is what was measured of one metric. What is negative, infinite or not a
// number is no measurement. The zero value is that nothing is known.
type Reading struct {
	// External is the value for all replicas together; it goes before Values.
	HasExternal bool
	External    float64
	// Values are those of ready replicas.
	Values []float64
	// Missing is the number of ready replicas that have no value.
	Missing int
}

func measured(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// load is what replicas report of a metric.
type load struct {
	sum float64
	// reporting and missing are numbers of replicas.
	reporting, missing int
}

// load sums up. Values are added in order of size, so that the order in which replicas
// are listed does not matter.
func (r Reading) load(readings Readings) load {
	values := slices.Clone(r.Values)
	values = slices.DeleteFunc(values, func(v float64) bool { return !measured(v) })
	slices.Sort(values)
	l := load{reporting: len(values), missing: r.Missing + len(r.Values) - len(values)}
	for _, v := range values {
		l.sum += v
	}
	if readings == Upstream {
		l.reporting, l.missing = min(l.reporting, 1), 0
	}
	return l
}

// count rounds up to a number of replicas; what is not a number counts as 0.
func count(x float64) int {
	switch x = math.Ceil(x); {
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x > 0:
		return int(x)
	default:
		return 0
	}
}

// recommend returns what one metric asks for; false if it is not known.
func (c *Config) recommend(m Metric, r Reading, in *Input) (int, bool) {
	if r.HasExternal && measured(r.External) {
		return c.recommendTotal(r.External/m.Target, in.Replicas), true
	}
	l := r.load(c.Readings)
	if l.reporting == 0 {
		return 0, false
	}
	return c.recommendMean(l, m.Target, in), true
}

// recommendTotal rounds up to whole replicas.
func (c *Config) recommendTotal(wanted float64, current int) int {
	if c.within(wanted / float64(current)) {
		return current
	}
	return count(wanted)
}

func (c *Config) within(ratio float64) bool {
	return math.Abs(ratio-1) <= float64(c.TolerancePercent)/100
}

// recommendMean asks for as many replicas as bring the mean to its target. What is not
// measured dampens the change: it has no load when scaling up, and its target when
// scaling down.
func (c *Config) recommendMean(l load, target float64, in *Input) int {
	ratio := l.sum / float64(l.reporting) / target
	up := ratio >= 1
	unready := up && in.Unready > 0
	if l.missing == 0 && !unready {
		if c.within(ratio) {
			return in.Replicas
		}
		return count(ratio * float64(l.reporting))
	}
	n := l.reporting + l.missing
	if unready {
		n += in.Unready
	}
	if !up {
		l.sum += float64(l.missing) * target
	}
	second := l.sum / float64(n) / target
	if c.within(second) || up != (second >= 1) {
		return in.Replicas
	}
	wanted := count(second * float64(n))
	if up && wanted < in.Replicas || !up && wanted > in.Replicas {
		return in.Replicas
	}
	return wanted
}

// recommendation is what metrics together ask for.
type recommendation struct {
	replicas int
	reason   Reason
	// skip is that there is nothing to go by.
	skip bool
}

func (c *Config) clamp(replicas int) int {
	return min(max(replicas, c.MinReplicas), c.MaxReplicas)
}

// outside tells whether there are too few or too many replicas to ask for more or less.
func (c *Config) outside(current int) (recommendation, bool) {
	switch {
	case current < c.MinReplicas:
		return recommendation{replicas: c.MinReplicas, reason: BelowMinimum}, true
	case current > c.MaxReplicas:
		return recommendation{replicas: c.MaxReplicas, reason: AboveMaximum}, true
	}
	return recommendation{}, false
}

// recommendAll takes the largest of all metrics.
func (c *Config) recommendAll(in *Input) recommendation {
	if out, outside := c.outside(in.Replicas); outside {
		return out
	}
	var largest int
	known := 0
	for i, m := range c.Metrics {
		if i >= len(in.Readings) {
			break
		}
		if wanted, ok := c.recommend(m, in.Readings[i], in); ok {
			largest = max(largest, wanted)
			known++
		}
	}
	out := recommendation{replicas: c.clamp(largest), reason: MetricsAsked}
	switch {
	case known == 0:
		return recommendation{replicas: in.Replicas, reason: NoMetrics, skip: true}
	case c.Readings == PerReplica && known < len(c.Metrics) && out.replicas < in.Replicas:
		return recommendation{replicas: in.Replicas, reason: MetricMissing, skip: true}
	case out.replicas == in.Replicas:
		out.reason = OnTarget
	}
	return out
}
