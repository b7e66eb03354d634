package message

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Opener opens a file that a message names. Names are relative to where the message
// comes from.
type Opener func(name string) (io.ReadCloser, error)

// NoFiles is the opener for messages from elsewhere, which may not read files here.
func NoFiles(string) (io.ReadCloser, error) {
	return nil, errors.New("files can't be read over the network: run the simulation where they are, by the command line")
}

// maxParts is the most parts of all traffic together.
const maxParts = 1_000

// Traffic checks and translates what arrives in a simulation: the requests of each of the
// fleet's workloads, and how long there are any. A workload that the simulation does not
// mention gets those of its load. The error is of type [Violations] and names every mistake.
func Traffic(m *poolwrightv1.Simulation, workloads []planner.Workload, open Opener) ([]trace.Workload, time.Duration, error) {
	t := translation{violations: validate(simulationValidator, m, protovalidate.WithFilter(protovalidate.FilterFunc(onlyTraffic)))}
	requests, duration := t.traffic(m, workloads, open)
	return requests, duration, t.violations.sorted().err()
}

// onlyTraffic leaves out what Traffic does not look at.
func onlyTraffic(m protoreflect.Message, d protoreflect.Descriptor) bool {
	_, simulation := m.Interface().(*poolwrightv1.Simulation)
	return !simulation || d.Name() == "traffic" || d.Name() == "duration"
}

// traffic translates what keeps the rules of the schema; it looks at nothing that doesn't.
func (t *translation) traffic(m *poolwrightv1.Simulation, workloads []planner.Workload, open Opener) ([]trace.Workload, time.Duration) {
	entries := t.trafficEntries(m, workloads)
	if len(t.violations) > 0 {
		return nil, 0
	}
	x := trafficTranslation{translation: t, open: open, traces: make(map[traceKey]trace.Source), samples: make(map[sampleKey]trace.Sample)}
	sources := make([][]trace.Source, len(workloads))
	// How long traces last may be how long requests are generated.
	for w, e := range entries {
		sources[w] = make([]trace.Source, len(e.parts))
		for k, part := range e.parts {
			if part.GetTrace() != nil {
				sources[w][k] = x.traced(part, element(e.path, k))
			}
		}
	}
	duration := x.duration(m, sources)
	x.horizon = duration.Seconds()
	for w, e := range entries {
		for k, part := range e.parts {
			if part.GetGenerated() != nil {
				sources[w][k] = x.generated(part, &workloads[w], element(e.path, k))
			}
		}
		if e.path == "" {
			sources[w] = x.ofLoad(&workloads[w], element("fleet.workloads", w)+".load")
		}
	}
	if len(t.violations) > 0 {
		return nil, 0
	}
	all := make([]trace.Workload, len(workloads))
	for w := range workloads {
		all[w] = trace.Workload{Name: workloads[w].QualifiedName(), Source: trace.Sum(sources[w]...)}
	}
	return all, duration
}

// trafficEntry is the parts of a workload's traffic; its path is empty where there is no
// entry.
type trafficEntry struct {
	parts []*poolwrightv1.TrafficPart
	path  string
}

// trafficEntries are in the order of the workloads.
func (t *translation) trafficEntries(m *poolwrightv1.Simulation, workloads []planner.Workload) []trafficEntry {
	index := make(map[string]int, len(workloads))
	for i := range workloads {
		index[workloads[i].QualifiedName()] = i
	}
	entries := make([]trafficEntry, len(workloads))
	total := 0
	for i, x := range m.GetTraffic() {
		path := element("traffic", i)
		w, ok := index[x.GetWorkload()]
		switch {
		case !ok:
			t.violations.add(path+".workload", "there is no workload %q", x.GetWorkload())
		case entries[w].path != "":
			t.violations.add(path+".workload", "%q has traffic already", x.GetWorkload())
		default:
			entries[w] = trafficEntry{x.GetParts(), path + ".parts"}
		}
		total += len(x.GetParts())
	}
	if total > maxParts {
		t.violations.add("traffic", "%d parts are more than the %d allowed", total, maxParts)
	}
	return entries
}

// trafficTranslation carries what the parts of all traffic share.
type trafficTranslation struct {
	*translation
	open Opener
	// horizon is how long requests arrive, in seconds.
	horizon float64
	traces  map[traceKey]trace.Source
	samples map[sampleKey]trace.Sample
	// stateChanges, skippedRequests and prefixGroups are those of the parts so far.
	stateChanges, skippedRequests float64
	prefixGroups                  int
}

type traceKey struct {
	file        string
	blockTokens int
}

type sampleKey struct {
	traceKey
	from, to float64
}

// maxDuration is the longest simulation.
const maxDuration = 31 * 24 * time.Hour

// duration is what the message says, or the time until the last request of a trace.
func (x *trafficTranslation) duration(m *poolwrightv1.Simulation, sources [][]trace.Source) time.Duration {
	if m.GetDuration() != nil {
		return m.GetDuration().AsDuration()
	}
	var end float64
	traces := false
	for _, s := range slices.Concat(sources...) {
		if s != nil {
			end, traces = max(end, trace.End([]trace.Workload{{Source: s}})), true
		}
	}
	switch whole := math.Floor(end) + 1; {
	case traces && whole <= maxDuration.Seconds():
		return time.Duration(whole) * time.Second
	case traces:
		x.violations.add("duration", "the traces last longer than a month: give a duration")
	case len(x.violations) == 0:
		x.violations.add("duration", "it is needed, as there is no trace that ends")
	}
	return 0
}

// add notes the mistakes that package trace finds.
func (x *trafficTranslation) add(path string, err error) {
	for _, e := range unjoin(err) {
		x.violations.add(path, "%s", strings.TrimPrefix(e.Error(), "trace: "))
	}
}

func secondsOf(d *durationpb.Duration) float64 { return d.AsDuration().Seconds() }

// traced is a part that comes from a trace; nil after a violation.
func (x *trafficTranslation) traced(m *poolwrightv1.TrafficPart, path string) trace.Source {
	s := x.trace(m.GetTrace(), path+".trace")
	if s == nil {
		return nil
	}
	if end := trace.End([]trace.Workload{{Source: s}}); secondsOf(m.GetFrom()) > end {
		x.violations.add(path+".from", "the trace ends at %g s", end)
	}
	return x.placed(m, s, path)
}

// trace reads a trace once, however often it is named; nil after a violation.
func (x *trafficTranslation) trace(m *poolwrightv1.TraceFile, path string) trace.Source {
	key := traceKey{m.GetFile(), int(m.GetBlockTokens())}
	if s, ok := x.traces[key]; ok {
		return s
	}
	s, err := trace.Read(x.file(key))
	if err != nil {
		x.add(path+".file", err)
		return nil
	}
	x.traces[key] = s
	return s
}

func (x *trafficTranslation) file(key traceKey) trace.File {
	return trace.File{
		Name:        key.file,
		Open:        func() (io.ReadCloser, error) { return x.open(key.file) },
		BlockTokens: key.blockTokens,
	}
}

// placed cuts, stretches, scales and places a part.
func (x *trafficTranslation) placed(m *poolwrightv1.TrafficPart, s trace.Source, path string) trace.Source {
	before := len(x.violations)
	then := func(path string, next trace.Source, err error) {
		if err != nil {
			x.add(path, err)
			return
		}
		s = next
	}
	if m.GetFrom() != nil || m.GetTo() != nil || m.Stretch != nil {
		cut := trace.Placement{From: secondsOf(m.GetFrom()), To: secondsOf(m.GetTo()), Stretch: m.GetStretch()}
		next, err := trace.Place(s, cut)
		then(path, next, err)
	}
	if m.GetScale() != nil && m.GetTrace() == nil {
		x.violations.add(path, "resample and replicate are for traces: what is generated has a rate")
	}
	if r := m.GetResample(); r != nil {
		next, err := trace.Resample(s, r.GetFactor(), secondsOf(r.GetWindow()))
		then(path+".resample", next, err)
	}
	if r := m.GetReplicate(); r != nil {
		next, err := trace.Replicate(s, r.GetFactor(), secondsOf(r.GetJitter()))
		then(path+".replicate", next, err)
	}
	if m.GetAt() != nil {
		next, err := trace.Place(s, trace.Placement{At: secondsOf(m.GetAt())})
		then(path+".at", next, err)
	}
	if len(x.violations) > before {
		return nil
	}
	return s
}
