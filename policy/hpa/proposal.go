package hpa

import (
	"fmt"
	"math"
)

// Proposal is what one metric asks for.
type Proposal struct {
	Metric   Metric
	Replicas int32
	// Utilization is in percent of the request, for that type of target.
	Utilization int32
	// Usage is in thousandths: the mean over pods, or the value itself where that is
	// the target.
	Usage int64
	// Problem says why there is no proposal; empty is that there is one.
	Problem string
}

// propose asks one metric.
func (c *Config) propose(m Metric, r Reading, in *Input) Proposal {
	var p Proposal
	switch {
	case r.Problem != "":
		p.Problem = r.Problem
	case m.Source == Resource || m.Source == ContainerResource || m.Source == PodsMetric:
		p = c.ofPods(m, r, in)
	case m.Source != Object && m.Source != External:
		p.Problem = fmt.Sprintf("source %d is not known", int(m.Source))
	case len(r.Values) == 0:
		p.Problem = noValues
	case m.Target.Type == Value:
		p = c.ofValue(m, r, in)
	default:
		p = c.ofAverage(m, r, in)
	}
	p.Metric = m
	return p
}

func sum(values []int64) int64 {
	var t total
	for _, v := range values {
		t.add(v)
	}
	return t.clamped()
}

// ofValue proposes replicas in proportion to a metric that they share.
func (c *Config) ofValue(m Metric, r Reading, in *Input) Proposal {
	p := Proposal{Usage: sum(r.Values)}
	ratio := float64(p.Usage) / float64(m.Target.Value)
	switch {
	case in.Replicas == 0:
		p.Replicas = count(ratio)
	case c.within(ratio):
		p.Replicas = in.Replicas
	case len(in.Pods) == 0:
		p.Problem = noPods
	default:
		p.Replicas = count(ratio * float64(readyPods(in.Pods)))
	}
	return p
}

func readyPods(pods []Pod) int {
	n := 0
	for i := range pods {
		if pods[i].Phase == Running && pods[i].Ready == Ready {
			n++
		}
	}
	return n
}

// ofAverage proposes replicas so that each has its target of a metric that they share.
func (c *Config) ofAverage(m Metric, r Reading, in *Input) Proposal {
	use, target := sum(r.Values), float64(m.Target.Value)
	p := Proposal{Replicas: in.Observed, Usage: use}
	if !c.within(float64(use) / (target * float64(in.Observed))) {
		p.Replicas = count(float64(use) / target)
	}
	// A sum that has saturated is left as it is, as in Kubernetes.
	if use != math.MaxInt64 {
		p.Usage = whole(math.Ceil(float64(use) / float64(in.Observed)))
	}
	return p
}

// combined is what all metrics together ask for.
type combined struct {
	Replicas int32
	// by is the metric that asks for most.
	by Proposal
	// invalid is the first that has a problem.
	invalid Proposal
	problem bool
	// hold is that replicas must stay as they are.
	hold bool
}

// combine takes the largest proposal. Metrics with a problem only ever stop scaling
// down, unless there is no other.
func combine(proposals []Proposal, current int32) combined {
	var out combined
	valid := false
	for _, p := range proposals {
		switch {
		case p.Problem == "" && (!valid || p.Replicas > out.Replicas):
			out.Replicas, out.by, valid = p.Replicas, p, true
		case p.Problem != "" && !out.problem:
			out.invalid, out.problem = p, true
		}
	}
	out.hold = !valid || out.problem && out.Replicas < current
	return out
}
