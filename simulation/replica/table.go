package replica

// none stands for no request where the index of one is expected.
const none int32 = -1

// request is the state of a request inside a replica.
type request struct {
	Request
	// admitted and firstToken are moments; wasAdmitted and hasFirstToken say that
	// they have come.
	admitted, firstToken       float64
	wasAdmitted, hasFirstToken bool
	preemptions                int
	// computed counts prompt tokens computed since the last admission. generated counts
	// output tokens as of the moment of joining the decoding set.
	computed, generated int
	// start is the decoding step before which it joined the decoding set, entry its
	// number there; 0 outside.
	start, entry int64
	// older and newer link the batch in order of admission.
	older, newer int32
}

// prompt is the number of tokens to compute before the next token: after a
// preemption, generated ones too.
func (r *request) prompt() int { return r.Input - r.Cached + r.generated }

// requestTable keeps the requests inside a replica under small indices, which are
// used again.
type requestTable struct {
	all  []request
	free []int32
}

func (t *requestTable) at(i int32) *request { return &t.all[i] }

func (t *requestTable) add(req Request) int32 {
	i := int32(len(t.all)) //nolint:gosec // Two thousand million requests do not fit memory.
	if n := len(t.free); n > 0 {
		i = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		t.all = append(t.all, request{})
	}
	r := &t.all[i]
	*r = request{Request: req, older: none, newer: none}
	if req.Prefilled {
		r.generated, r.firstToken, r.hasFirstToken = 1, req.Arrival, true
	}
	return i
}

func (t *requestTable) remove(i int32) { t.free = append(t.free, i) }
