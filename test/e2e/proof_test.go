//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// record is what a ledger says was to be changed.
type record struct {
	// intents are what was about to be done, in order; done what was, by the entries.
	intents, done []change
	// unfinished is the number of intents without an entry.
	unfinished int
	// sequences are those of entries, in order.
	sequences []uint64
}

// line is what is read of a line of a ledger.
type line struct {
	Intent *struct{ Changes recorded }
	Entry  *struct {
		Sequence uint64
		Now      time.Time
		Decision struct{ Changes recorded }
		Dropped  []struct{ Change recordedChange }
	}
}

// recordedChange is a change as a ledger has it.
type recordedChange struct {
	Workload, Variant string
	From, To          int
}

type recorded []recordedChange

// by names the targets of changes.
func (r recorded) by(targets map[[2]string]string) []change {
	var all []change
	for _, c := range r {
		all = append(all, change{targets[[2]string{c.Workload, c.Variant}], c.From, c.To})
	}
	return all
}

// targets are the objects that the variants of the fleet scale.
func (w *world) targets(p *program) map[[2]string]string {
	w.t.Helper()
	answer, err := p.fleet.GetFleet(w.t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(w.t, err)
	all := map[[2]string]string{}
	for _, workload := range answer.GetFleet().GetWorkloads() {
		name := strings.TrimPrefix(workload.GetNamespace()+"/"+workload.GetName(), "/")
		for _, v := range workload.GetVariants() {
			all[[2]string{name, v.GetName()}] = v.GetScaleTarget().GetKind() + "/" + v.GetScaleTarget().GetName()
		}
	}
	return all
}

// read reads a ledger.
func (w *world) read(ledger string, targets map[[2]string]string) record {
	w.t.Helper()
	text, err := os.ReadFile(ledger) //nolint:gosec // of this test
	require.NoError(w.t, err)
	var r record
	begun := false
	for text := range bytes.Lines(text) {
		var l line
		require.NoError(w.t, json.Unmarshal(text, &l))
		if begun && l.Entry == nil {
			r.unfinished++
		}
		begun = l.Intent != nil
		if begun {
			r.intents = append(r.intents, l.Intent.Changes.by(targets)...)
		}
		if e := l.Entry; e != nil {
			r.sequences = append(r.sequences, e.Sequence)
			done := slices.DeleteFunc(e.Decision.Changes, func(c recordedChange) bool {
				return slices.ContainsFunc(e.Dropped, func(d struct{ Change recordedChange }) bool {
					return d.Change.Workload == c.Workload && d.Change.Variant == c.Variant
				})
			})
			r.done = append(r.done, done.by(targets)...)
		}
	}
	return r
}

// kinds are those of the resources that are scaled.
var kinds = map[string]string{"deployments": "Deployment", "playgrounds": "Playground"}

// written are the changes of replicas by the program, by what the witness saw and the API
// server's record. It fails the test where a write has changed nothing.
func (w *world) written() []change {
	w.t.Helper()
	scalings, err := w.Scalings()
	require.NoError(w.t, err)
	scalings = slices.DeleteFunc(scalings, func(s controlplane.Scaling) bool { return !strings.HasSuffix(s.User, ":poolwright") })
	var done []change
	var idle []controlplane.Scaling
	w.until(func() bool { // the witness may be behind
		done, idle = carried(w.witness.transitions(), scalings)
		return len(idle) == 0
	}, "written, and done before: %v", printed{&idle})
	return done
}

// carried are the changes that some writes have made, and the writes that changed nothing. A
// write to which there was no answer, as its process had been killed, may be either.
func carried(seen []transition, writes []controlplane.Scaling) (done []change, idle []controlplane.Scaling) {
	left := slices.Clone(writes)
	take := func(t transition, version string) bool {
		k := slices.IndexFunc(left, func(s controlplane.Scaling) bool {
			return kinds[s.Resource]+"/"+s.Name == t.target && s.Replicas == t.to && s.Version == version
		})
		if k < 0 {
			return false
		}
		left = slices.Delete(left, k, k+1)
		return true
	}
	for _, t := range seen {
		if take(t, t.version) || take(t, "") {
			done = append(done, t.change)
		}
	}
	return done, slices.DeleteFunc(left, func(s controlplane.Scaling) bool { return s.Version == "" })
}

// once checks that every write to the cluster was intended, by an intent of its own; that what
// entries say was done, was; and that floors held after each write.
func (w *world) once(written []change, r *record, floor int, first map[string]int) {
	w.t.Helper()
	intents, writes := byTarget(r.intents), byTarget(written)
	for target, all := range writes {
		left := intents[target]
		for n, c := range all {
			k := slices.Index(left, c)
			require.GreaterOrEqual(w.t, k, 0, "%v: write %d of %v was not intended; intents left: %v", target, n, all, left)
			left = left[k+1:]
		}
	}
	for target, done := range byTarget(r.done) {
		left := writes[target]
		for _, c := range done {
			k := slices.Index(left, c)
			require.GreaterOrEqual(w.t, k, 0, "%v: %v is in the ledger, and was not written; written: %v", target, c, writes[target])
			left = left[k+1:]
		}
	}
	w.floors(written, floor, first)
}

// floors checks that every workload always has its least number of replicas.
func (w *world) floors(written []change, floor int, first map[string]int) {
	w.t.Helper()
	now, workload := map[string]int{}, func(target string) string {
		return target[:strings.LastIndexByte(target, '-')] // chat of chat-h100
	}
	for target, n := range first {
		now[workload(target)] += n
	}
	for n, c := range written {
		now[workload(c.target)] += c.to - c.from
		require.GreaterOrEqual(w.t, now[workload(c.target)], floor, "write %d: %v", n, c)
	}
}

// decidedSince tells whether the process has seen a decision that was made after a time.
func (r *program) decidedSince(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.decisions) > 0 && r.decisions[len(r.decisions)-1].GetTime().AsTime().After(t)
}

// spread says how long something took.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(all))
	at := func(q float64) time.Duration {
		return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Millisecond)
	}
	return fmt.Sprintf("%d: least %s, median %s, p90 %s, most %s", len(all), at(0), at(0.5), at(0.9), at(1))
}
