package simulation

import (
	"iter"
	"time"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation/replica"
)

// ReplicaStatus is what is known of a replica from outside: what its pod and its engine
// report.
type ReplicaStatus struct {
	// Number counts the replicas of the cluster in the order in which they were asked for.
	Number int
	Phase  Phase
	// Age is the time since it was asked for, ReadyFor that since it began to serve; 0 where it
	// never has.
	Age, ReadyFor time.Duration
	// Running and Waiting are requests in its batch and in its queue.
	Running, Waiting int
	// KVUsage is the share of its KV cache in use, in [0, 1]; 0 where that never limits.
	KVUsage float64
	// Totals is what it has done since it began to serve, up to now.
	Totals replica.Totals
}

// Desired is the number of replicas of a variant that was asked for last.
func (c *Cluster) Desired(workload, variant int) int {
	return c.workloads[workload].variants[variant].desired
}

// Held is the number of requests of a workload that wait at the gateway, those between
// prefill and decoding included.
func (c *Cluster) Held(workload int) int {
	w := c.workloads[workload]
	return w.entry.held.count + w.decode.held.count
}

// Replicas lists the replicas of a variant in the order in which they were asked for,
// draining ones included. Nothing may be changed while it does.
func (c *Cluster) Replicas(workload, variant int) iter.Seq[ReplicaStatus] {
	return func(yield func(ReplicaStatus) bool) {
		for _, s := range c.workloads[workload].variants[variant].servers {
			if !yield(c.status(s)) {
				return
			}
		}
	}
}

func (c *Cluster) status(s *server) ReplicaStatus {
	status := ReplicaStatus{Number: s.number, Phase: s.phase, Age: duration(c.now - s.asked)}
	if s.replica == nil {
		return status
	}
	status.ReadyFor = duration(c.now - s.ready)
	status.Running, status.Waiting = s.replica.Running(), s.replica.Waiting()
	if room := s.variant.machine.KVCacheTokens; room > 0 {
		status.KVUsage = float64(s.replica.KVUsed()) / float64(room)
	}
	status.Totals = s.totals(c.now)
	return status
}

// totals is what a server that has begun to serve has done up to a moment. Between two
// events nothing changes but time.
func (s *server) totals(now float64) replica.Totals {
	t := s.replica.Totals()
	d := now - max(s.replica.Now(), s.ready)
	t.Time = now - s.ready
	t.Running += d * float64(s.replica.Running())
	t.Waiting += d * float64(s.replica.Waiting())
	t.KVUsed += d * float64(s.replica.KVUsed())
	if s.replica.Running() > 0 {
		t.Busy += d
	}
	return t
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds*float64(time.Second) + 0.5)
}

// metrics are those of names that replicas that serve report.
func (c *Cluster) metrics(v *variant, names []string) []planner.MetricValues {
	var all []planner.MetricValues
	for _, name := range names {
		read, ok := podMetric(name)
		if !ok {
			continue
		}
		values := planner.MetricValues{Name: name}
		for _, s := range v.servers {
			if s.phase == Serving {
				status := c.status(s)
				values.Values = append(values.Values, read(&status))
			}
		}
		if len(values.Values) > 0 {
			all = append(all, values)
		}
	}
	return all
}

// podMetric is how a gauge of vLLM, SGLang, TensorRT-LLM or llama.cpp follows from the status
// of a replica.
func podMetric(name string) (func(*ReplicaStatus) float64, bool) {
	switch name {
	case "vllm:num_requests_running", "sglang:num_running_reqs", "trtllm_num_requests_running", "llamacpp:requests_processing":
		return func(s *ReplicaStatus) float64 { return float64(s.Running) }, true
	case "vllm:num_requests_waiting", "sglang:num_queue_reqs", "trtllm_num_requests_waiting", "llamacpp:requests_deferred":
		return func(s *ReplicaStatus) float64 { return float64(s.Waiting) }, true
	case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage":
		return func(s *ReplicaStatus) float64 { return s.KVUsage }, true
	}
	return nil, false
}
