package replica

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Transfer is the time that KV entries take from one replica to another.
type Transfer struct {
	// Base is per request, PerToken per prompt token; both are finite and ≥ 0.
	Base, PerToken queueing.Seconds
}

func (t Transfer) validate() error {
	for _, s := range []queueing.Seconds{t.Base, t.PerToken} {
		if !(s >= 0) || math.IsInf(float64(s), 1) {
			return fmt.Errorf("replica: transfer: %v is not finite and ≥ 0", s)
		}
	}
	return nil
}

// Disaggregated is a replica that computes prompts and one that decodes. The KV entries
// of a prompt go from the first to the second; the first token comes with them, so
// that the transfer is a part of TTFT and the wait for the second replica one of ITL.
// Like [Replica], it is for one goroutine.
type Disaggregated struct {
	prefill, decode *Replica
	transfer        Transfer
	// stages keeps the requests inside under small indices, which are the IDs that the
	// two replicas know them by.
	stages []Completion
	free   []int
	// transfers is the requests between the replicas, sent counts them.
	transfers timetable
	sent      int64
	completed []Completion
}

// NewDisaggregated returns an idle pair at time 0. The error is that of [New] for
// either replica, or says that the transfer is out of range.
func NewDisaggregated(prefill, decode queueing.Replica, transfer Transfer) (*Disaggregated, error) {
	p, errPrefill := New(prefill)
	if errPrefill != nil {
		errPrefill = fmt.Errorf("prefill: %w", errPrefill)
	}
	d, errDecode := New(decode)
	if errDecode != nil {
		errDecode = fmt.Errorf("decode: %w", errDecode)
	}
	if err := errors.Join(errPrefill, errDecode, transfer.validate()); err != nil {
		return nil, err
	}
	return &Disaggregated{prefill: p, decode: d, transfer: transfer}, nil
}

// Prefill is the replica that computes prompts, for its metrics.
func (d *Disaggregated) Prefill() *Replica { return d.prefill }

// Decode is the replica that decodes, for its metrics.
func (d *Disaggregated) Decode() *Replica { return d.decode }

// Arrive hands the pair a request, see [Replica.Arrive]. A request is rejected at its
// arrival if it can never fit either replica, and after its transfer, as a completion
// with the outcome QueueFull, if the second replica's waiting places are taken.
func (d *Disaggregated) Arrive(req Request) Outcome {
	if !req.wellFormed() || req.Prefilled {
		return Malformed
	}
	if req.Input+req.Output > d.decode.kvCapacity {
		return TooLong
	}
	stage := d.newStage()
	prompt := req
	prompt.ID, prompt.Output = stage, 1
	if outcome := d.prefill.Arrive(prompt); outcome != Accepted {
		d.free = append(d.free, stage)
		return outcome
	}
	d.stages[stage] = Completion{Request: req}
	return Accepted
}

func (d *Disaggregated) newStage() int {
	if n := len(d.free); n > 0 {
		stage := d.free[n-1]
		d.free = d.free[:n-1]
		return stage
	}
	d.stages = append(d.stages, Completion{})
	return len(d.stages) - 1
}

// Next is the moment of the next event, +Inf while the pair is idle.
func (d *Disaggregated) Next() float64 {
	return min(d.prefill.Next(), d.nextTransfer(), d.decode.Next())
}

func (d *Disaggregated) nextTransfer() float64 {
	if len(d.transfers) == 0 {
		return math.Inf(1)
	}
	return d.transfers[0].due
}

// Step carries out the next event, see [Replica.Step].
func (d *Disaggregated) Step() []Completion {
	d.completed = d.completed[:0]
	switch next := d.Next(); {
	case math.IsInf(next, 1):
		return nil
	case next == d.prefill.Next():
		for _, c := range d.prefill.Step() {
			d.send(&c)
		}
	case next == d.nextTransfer():
		d.receive(d.transfers.pop())
	default:
		for _, c := range d.decode.Step() {
			d.stages[c.ID].Preemptions += c.Preemptions
			d.complete(c.ID, Completed, c.Finished)
		}
	}
	return d.completed
}

// send starts the transfer of a prompt that was computed.
func (d *Disaggregated) send(c *Completion) {
	s := &d.stages[c.ID]
	s.Admitted, s.Overhead, s.Preemptions = c.Admitted, c.Overhead, c.Preemptions
	duration := d.transfer.Base + d.transfer.PerToken*queueing.Seconds(c.Input)
	d.sent++
	d.transfers.push(appointment{
		due:   c.Finished + float64(duration),
		entry: d.sent,
		index: int32(c.ID), //nolint:gosec // Two thousand million requests do not fit memory.
	})
}

// receive ends a transfer.
func (d *Disaggregated) receive(a appointment) {
	stage := int(a.index)
	s := &d.stages[stage]
	s.FirstToken = a.due
	if s.Output == 1 {
		d.complete(stage, Completed, a.due)
		return
	}
	outcome := d.decode.Arrive(Request{
		ID: stage, Arrival: a.due, Input: s.Input, Output: s.Output, Prefilled: true,
	})
	if outcome != Accepted {
		d.complete(stage, outcome, a.due)
	}
}

func (d *Disaggregated) complete(stage int, outcome Outcome, finished float64) {
	s := d.stages[stage]
	s.Outcome, s.Finished = outcome, finished
	d.completed = append(d.completed, s)
	d.free = append(d.free, stage)
}
