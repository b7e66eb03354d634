package replica_test

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// naive is the same replica written down as it is described: it loops over the batch
// in every iteration and keeps no sums.
type naive struct {
	queueing.Replica
	now       float64
	waiting   []*naiveRequest
	batch     []*naiveRequest
	completed []replica.Completion
}

type naiveRequest struct {
	replica.Completion
	// computed counts KV entries of prompt and recomputed tokens, generated tokens made.
	// fractional is generated without rounding, target what a prefill has to compute.
	computed, generated, target int
	fractional                  float64
	decoding, admitted          bool
}

func newNaive(r queueing.Replica) *naive {
	if r.KVCacheTokens == 0 {
		r.KVCacheTokens = math.MaxInt32
	}
	if r.MaxBatchedTokens == 0 {
		r.MaxBatchedTokens = math.MaxInt32
	}
	r.AcceptedTokens = max(r.AcceptedTokens, 1)
	return &naive{Replica: r}
}

func (n *naive) serve(requests []replica.Request) []replica.Completion {
	for len(requests) > 0 || len(n.waiting)+len(n.batch) > 0 {
		if len(n.waiting)+len(n.batch) == 0 {
			n.now = max(n.now, requests[0].Arrival)
		}
		for len(requests) > 0 && requests[0].Arrival <= n.now {
			r := &naiveRequest{Completion: replica.Completion{Request: requests[0]}}
			requests = requests[1:]
			if float64(r.Input+r.Output) > float64(n.KVCacheTokens) {
				r.Outcome = replica.TooLong
				n.completed = append(n.completed, r.Completion)
				continue
			}
			if r.Prefilled {
				r.generated, r.fractional, r.FirstToken = 1, 1, r.Arrival
			}
			n.waiting = append(n.waiting, r)
		}
		if len(n.waiting)+len(n.batch) > 0 {
			n.iterate()
		}
	}
	return n.completed
}

// used counts KV entries: of decoding requests, with all that was generated.
func (n *naive) used() float64 {
	var sum float64
	for _, r := range n.batch {
		if r.decoding {
			sum += float64(r.Input) + r.fractional
		} else {
			sum += float64(r.Cached + r.computed)
		}
	}
	return sum
}

func (n *naive) decoding() (count int, context float64) {
	for _, r := range n.batch {
		if r.decoding {
			count++
			context += float64(r.Input) + r.fractional
		}
	}
	return count, context
}

func (n *naive) preempt() {
	last := n.batch[len(n.batch)-1]
	n.batch = n.batch[:len(n.batch)-1]
	if last.decoding {
		last.generated = min(int(last.fractional+1e-9), last.Output-1)
	}
	last.decoding, last.computed, last.Prefilled = false, 0, false
	last.Preemptions++
	n.waiting = slices.Insert(n.waiting, 0, last)
}

func (n *naive) iterate() {
	p := n.Profile
	duration := p.Alpha
	blocking := n.PrefillMode == queueing.Blocking
	budget := int(n.MaxBatchedTokens)
	preempted := false
	if !blocking {
		preempted = n.makeRoom()
		count, _ := n.decoding()
		budget -= count
		if k := len(n.batch) - 1; k >= 0 && !n.batch[k].decoding {
			chunk := min(n.batch[k].target-n.batch[k].computed, budget)
			if n.used()+float64(chunk) > float64(n.KVCacheTokens) {
				n.preempt()
				preempted = true
			} else {
				duration += n.compute(n.batch[k], chunk)
				budget -= chunk
			}
		}
	}
	prefills := 0
	for !preempted && len(n.waiting) > 0 && len(n.batch) < n.MaxBatch && budget > 0 {
		r := n.waiting[0]
		r.target = r.Input - r.Cached + r.generated
		chunk, need := min(r.target, budget), r.Cached
		if blocking {
			chunk = r.target
			if chunk > budget && prefills > 0 && !r.Prefilled {
				break
			}
		}
		if r.Prefilled {
			chunk, need = 0, r.Input+1
		}
		if n.used()+float64(need+chunk) > float64(n.KVCacheTokens) {
			break
		}
		n.waiting = n.waiting[1:]
		n.batch = append(n.batch, r)
		if !r.admitted {
			r.Admitted, r.admitted = n.now, true
		}
		if r.Prefilled {
			r.decoding = true
		} else {
			duration += n.compute(r, chunk)
			prefills++
		}
		budget -= max(1, chunk)
	}
	decodes := !blocking || prefills == 0
	if decodes {
		n.makeRoom()
		count, context := n.decoding()
		duration += p.Beta*float64(count) + p.Sigma*math.Sqrt(float64(count)) + p.Kappa*context
	}
	n.now += duration
	n.handOut(decodes)
}

func (n *naive) makeRoom() (preempted bool) {
	for n.used() > float64(n.KVCacheTokens)+1e-9 {
		n.preempt()
		preempted = true
	}
	return preempted
}

func (n *naive) compute(r *naiveRequest, chunk int) float64 {
	start, end := float64(r.computed), float64(r.computed+chunk)
	t := n.Profile.Delta*float64(chunk) + n.Profile.Epsilon*(end*end-start*start)
	if r.computed == 0 && r.Input+r.generated > 0 {
		t += n.Profile.Gamma
	}
	r.computed += chunk
	return t
}

func (n *naive) handOut(decodes bool) {
	var left []*naiveRequest
	for _, r := range n.batch {
		switch {
		case r.decoding && decodes:
			r.fractional += n.AcceptedTokens
		case !r.decoding && r.computed == r.target:
			r.generated++
			r.fractional = float64(r.generated)
			r.decoding = true
			if r.generated == 1 {
				r.FirstToken = n.now
			}
		}
		if r.fractional > float64(r.Output)-1e-9 {
			r.Outcome, r.Finished = replica.Completed, n.now
			n.completed = append(n.completed, r.Completion)
		} else {
			left = append(left, r)
		}
	}
	n.batch = left
}
