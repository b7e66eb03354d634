package hpa

const (
	cpu            = "cpu"
	fullPercent    = 100
	noPods         = "no pods are selected"
	noSamples      = "there is no metric of a pod that counts (pods might be unready)"
	noRequests     = "no metric belongs to a known pod"
	noReading      = "there is no reading"
	noValues       = "there is no value"
	missingRequest = "a pod has no request for "
)

// group is how the pods of a scale stand to a metric.
type group struct {
	// ready is the number of pods that count.
	ready int
	// unready and missing are indices of pods.
	unready, missing []int
	// counted are the samples that count, of known pods and of others.
	counted []measured
}

// measured is the value of a sample. The pod is an index; -1 is a pod that is not
// among those selected.
type measured struct {
	pod   int
	value int64
}

// group sorts pods and samples. The order of the rules is that of groupPods.
func (c *Config) group(m Metric, samples []Sample, in *Input) group {
	byPod := make(map[string]int, len(samples))
	for i := range samples {
		if _, ok := samples[i].value(m); ok {
			byPod[samples[i].Pod] = i
		}
	}
	var g group
	for i := range in.Pods {
		pod := &in.Pods[i]
		at, found := byPod[pod.Name]
		delete(byPod, pod.Name)
		switch {
		case pod.Deleting || pod.Phase == Failed:
		case pod.Phase == Pending:
			g.unready = append(g.unready, i)
		case !found:
			g.missing = append(g.missing, i)
		case m.ofCPU() && c.unready(pod, &samples[at], in):
			g.unready = append(g.unready, i)
		default:
			g.ready++
			value, _ := samples[at].value(m)
			g.counted = append(g.counted, measured{pod: i, value: value})
		}
	}
	for i := range samples {
		if at, left := byPod[samples[i].Pod]; left && at == i {
			value, _ := samples[i].value(m)
			g.counted = append(g.counted, measured{pod: -1, value: value})
		}
	}
	return g
}

func (m Metric) ofCPU() bool {
	return m.Name == cpu && (m.Source == Resource || m.Source == ContainerResource)
}

// unready tells whether the CPU use of a pod is that of its start.
func (c *Config) unready(pod *Pod, s *Sample, in *Input) bool {
	switch {
	case pod.Ready == NoCondition || !pod.HasStarted:
		return true
	case pod.Started.Add(c.CPUInitializationPeriod).After(in.Now):
		return pod.Ready == NotReady || s.Time.Before(pod.ReadySince.Add(s.Window))
	default:
		return pod.Ready == NotReady && pod.Started.Add(c.InitialReadinessDelay).After(pod.ReadySince)
	}
}

// tally sums up samples.
type tally struct {
	use, request total
	// known is the number of samples of selected pods, all that of all.
	known, all int64
}

func (t *tally) add(value, request int64, known bool) {
	t.all++
	if known {
		t.known++
		t.request.add(request)
	}
	t.use.add(value)
}

// usage is what a metric is found to be.
type usage struct {
	// ratio is that to the target.
	ratio float64
	// utilization is in percent of the request, where that is the target.
	utilization int32
	// mean is in thousandths.
	mean int64
}

func (t *tally) usage(target Target) usage {
	use := t.use.clamped()
	if target.Type == Utilization {
		percent := replicas(scaled(use, fullPercent, t.request.clamped()))
		return usage{ratio: float64(percent) / float64(target.Value), utilization: percent, mean: use / t.known}
	}
	mean := use / t.all
	return usage{ratio: float64(mean) / float64(target.Value), mean: mean}
}

// ofPods proposes replicas by a metric that each pod has.
func (c *Config) ofPods(m Metric, r Reading, in *Input) Proposal {
	if len(in.Pods) == 0 {
		return Proposal{Problem: noPods}
	}
	g := c.group(m, r.Samples, in)
	if len(g.counted) == 0 {
		return Proposal{Problem: noSamples}
	}
	requests, problem := requestsOf(m, in.Pods)
	if problem != "" {
		return Proposal{Problem: problem}
	}
	t := g.tally(m, requests)
	if m.Target.Type == Utilization && t.request.clamped() <= 0 {
		return Proposal{Problem: noRequests}
	}
	first := t.usage(m.Target)
	p := Proposal{Utilization: first.utilization, Usage: first.mean}
	rebalance := len(g.unready) > 0 && first.ratio > 1
	if !rebalance && len(g.missing) == 0 {
		p.Replicas = in.Replicas
		if !c.within(first.ratio) {
			p.Replicas = count(first.ratio * float64(g.ready))
		}
		return p
	}
	g.assume(&t, m, requests, first.ratio)
	p.Replicas = c.rebalanced(in.Replicas, first.ratio, t.usage(m.Target).ratio, t.all)
	return p
}

// requestsOf returns the request of each pod, where the metric compares with it.
func requestsOf(m Metric, pods []Pod) (requests []int64, problem string) {
	requests = make([]int64, len(pods))
	if m.Target.Type != Utilization {
		return requests, ""
	}
	for i := range pods {
		value, ok := pods[i].request(m)
		if !ok {
			return nil, missingRequest + m.Name + ": " + pods[i].Name
		}
		requests[i] = value
	}
	return requests, ""
}

// tally sums the samples that count. One of a pod that is not selected has no request
// to compare with, so that only a mean takes its value.
func (g *group) tally(m Metric, requests []int64) tally {
	var t tally
	for _, s := range g.counted {
		switch {
		case s.pod >= 0:
			t.add(s.value, requests[s.pod], true)
		case m.Target.Type == Utilization:
			t.add(0, 0, false)
		default:
			t.add(s.value, 0, false)
		}
	}
	return t
}

// assume adds what is not measured, so as to dampen the change: nothing when scaling up;
// the target, or the whole request if that is more, when scaling down.
func (g *group) assume(t *tally, m Metric, requests []int64, ratio float64) {
	for _, i := range g.missing {
		switch {
		case ratio > 1:
			t.add(0, requests[i], true)
		case ratio < 1 && m.Target.Type == Utilization:
			t.add(scaled(requests[i], max(fullPercent, m.Target.Value), fullPercent), requests[i], true)
		case ratio < 1:
			t.add(m.Target.Value, 0, true)
		}
	}
	if ratio > 1 {
		for _, i := range g.unready {
			t.add(0, requests[i], true)
		}
	}
}

// rebalanced returns the replicas for a ratio that contains assumptions, over so many
// pods; they may not turn the direction.
func (c *Config) rebalanced(current int32, first, second float64, pods int64) int32 {
	if c.within(second) || first < 1 && second > 1 || first > 1 && second < 1 {
		return current
	}
	n := count(second * float64(pods))
	if second < 1 && n > current || second > 1 && n < current {
		return current
	}
	return n
}
