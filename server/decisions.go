package server

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"sort"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// filter says which decisions to show, and what of them.
type filter struct {
	workload    string
	changesOnly bool
	view        poolwrightv1.Decision_View
	seen        *sight
}

// decision translates what the filter leaves of an entry; nil = nothing.
func (f filter) decision(r controller.Remembered) (*poolwrightv1.Decision, error) {
	e, err := f.seen.entry(r.Entry)
	if err != nil {
		return nil, err
	}
	if f.changesOnly && len(e.Decision.Changes) == 0 || len(e.Decision.Plans) == 0 && len(r.Decision.Plans) > 0 {
		return nil, nil
	}
	whole := r.Whole && f.view == poolwrightv1.Decision_FULL
	switch {
	case f.workload != "":
		e = e.Only(func(w *planner.Workload, _ *planner.WorkloadPlan) bool { return w.QualifiedName() == f.workload })
		if len(e.Decision.Plans) == 0 || f.changesOnly && len(e.Decision.Changes) == 0 {
			return nil, nil
		}
		if !whole {
			e.Decision.Trail = nil
		}
	case !whole:
		e = e.Brief()
	}
	d := message.Decision(&e.Decision)
	d.Sequence, d.Failure = e.Sequence, e.Failure
	if whole {
		d.View = poolwrightv1.Decision_FULL
		message.Observed(d.GetPlan(), r.Snapshot.Observations)
	}
	for i := range e.Dropped {
		x := &e.Dropped[i]
		d.Dropped = append(d.Dropped, &poolwrightv1.DroppedChange{
			Workload: x.Change.Workload, Variant: x.Change.Variant, Reason: x.Reason,
		})
	}
	return d, nil
}

// mostNear is how many namespaces are proposed for a name.
const mostNear = 5

// known is NOT_FOUND for a workload that a fleet does not have; "" is none. The error
// has the names that are probably meant.
func known(f *planner.Fleet, workload string) error {
	if workload == "" {
		return nil
	}
	var near, names []string
	for i := range f.Workloads {
		w := &f.Workloads[i]
		name := w.QualifiedName()
		if name == workload {
			return nil
		}
		if w.Name == workload[strings.LastIndexByte(workload, '/')+1:] {
			near = append(near, name)
		}
		names = append(names, name)
	}
	sort.Strings(near)
	if len(near) == 0 {
		if name := document.Closest(workload, names); name != "" {
			near = append(near, name)
		}
	}
	hint := ""
	if len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near[:min(len(near), mostNear)], " or "))
	}
	return status.Errorf(codes.NotFound, "there is no workload %q%s", workload, hint)
}

// pageToken says where the page after the decision with a sequence number begins, and for
// which question.
func pageToken(m *poolwrightv1.ListDecisionsRequest, sequence uint64) string {
	token := binary.BigEndian.AppendUint64(nil, sequence)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(token, filters(m)))
}

// pageStart is the sequence number below which a page begins.
func pageStart(m *poolwrightv1.ListDecisionsRequest) (uint64, error) {
	if m.GetPageToken() == "" {
		return math.MaxUint64, nil
	}
	token, err := base64.RawURLEncoding.DecodeString(m.GetPageToken())
	switch {
	case err != nil || len(token) != 16:
		return 0, message.Violations{{Path: "pageToken", Message: "is not one that was given out"}}
	case binary.BigEndian.Uint64(token[8:]) != filters(m):
		return 0, message.Violations{{Path: "pageToken", Message: "is for other filters"}}
	}
	return binary.BigEndian.Uint64(token), nil
}

// filters is a hash of those of a request.
func filters(m *poolwrightv1.ListDecisionsRequest) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q %t %d", m.GetWorkload(), m.GetChangesOnly(), m.GetAfterSequence()) // a hash takes everything
	return h.Sum64()
}
