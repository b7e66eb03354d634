package sources

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const (
	secondsPerMinute = 60
	centsPerUnit     = 100
)

// workloads are one per server.
func (s *system) workloads(root record) []*poolwrightv1.Workload {
	given := map[string]bool{}
	var workloads []*poolwrightv1.Workload
	for _, r := range root.records("serverData", "servers", "spec") {
		w := s.workload(r)
		if given[w.GetName()] {
			r.reject("name", "server %q is given twice", w.GetName())
		}
		given[w.GetName()] = true
		workloads = append(workloads, w)
	}
	return workloads
}

func (s *system) workload(r record) *poolwrightv1.Workload {
	w := &poolwrightv1.Workload{
		Name:         r.required("name"),
		Model:        r.required("model"),
		ServiceClass: r.text("class"),
		Mixing:       poolwrightv1.Workload_SINGLE,
		MinReplicas:  r.count("minNumReplicas", 0),
	}
	if s.heterogeneous {
		w.Mixing = poolwrightv1.Workload_ALLOWED
	}
	current := r.record("currentAlloc")
	load := current.record("load")
	if !current.has("load") {
		load = r.record("load")
	}
	var outputTokens float64
	w.Load, outputTokens = readLoad(load)
	s.setTarget(r, w)
	s.setVariants(r, current, w, outputTokens)
	return w
}

// readLoad converts requests per minute. A load without generated tokens is no load,
// as the family has it; their number is returned as it stands.
func readLoad(r record) (load *poolwrightv1.Load, outputTokens float64) {
	load = &poolwrightv1.Load{
		ArrivalRate:  r.number("arrivalRate") / secondsPerMinute,
		InputTokens:  r.number("avgInTokens"),
		OutputTokens: r.number("avgOutTokens", "avgLength"),
	}
	if r.has("arrivalCOV") {
		scv := squared(r.number("arrivalCOV"))
		load.ArrivalScv = &scv
	}
	if r.has("serviceCOV") {
		scv := squared(r.number("serviceCOV"))
		load.OutputTokensScv = &scv
	}
	outputTokens = load.GetOutputTokens()
	if outputTokens > 0 && outputTokens < 1 {
		r.reject("avgOutTokens", "must be 0 or at least 1")
	}
	if outputTokens == 0 {
		load.ArrivalRate, load.OutputTokens = 0, 1
	}
	return load, outputTokens
}

func squared(x float64) float64 { return x * x }

// setTarget takes priority and SLO from the server's class.
func (s *system) setTarget(r record, w *poolwrightv1.Workload) {
	if w.GetServiceClass() == "" {
		w.ServiceClass = defaultClass
	}
	c, ok := s.classes[w.GetServiceClass()]
	if !ok {
		r.reject("class", "service class %q is not declared", w.GetServiceClass())
		return
	}
	w.Priority = &c.priority
	target, ok := c.targets[w.GetModel()]
	if !ok && len(s.profiles[w.GetModel()]) == 0 {
		return
	}
	if !ok {
		r.reject("class", "service class %q has no target for model %q", w.GetServiceClass(), w.GetModel())
		return
	}
	w.Slo = &poolwrightv1.SLO{TokensPerSecond: target.number("slo-tps")}
	if limit := target.milliseconds("slo-itl", "slo-tpot"); limit != nil {
		w.Slo.Itl = &poolwrightv1.LatencyLimits{Mean: limit}
	}
	switch {
	case target.has("slo-ttft"):
		if limit := target.milliseconds("slo-ttft"); limit != nil {
			w.Slo.Ttft = &poolwrightv1.LatencyLimits{Mean: limit}
		}
	case target.has("slo-ttw"):
		if limit := target.milliseconds("slo-ttw"); limit != nil {
			w.Slo.Ttft = &poolwrightv1.LatencyLimits{P95: limit}
		}
	}
	// The family sizes for the target's throughput in place of the arrivals.
	if tokens := w.Slo.GetTokensPerSecond(); tokens > 0 && w.Load.GetArrivalRate() > 0 {
		w.Load.ArrivalRate = tokens / w.Load.GetOutputTokens()
	}
}

// milliseconds returns a limit, nil where it is absent or 0.
func (r record) milliseconds(names ...string) *durationpb.Duration {
	const most = float64(365 * 24 * time.Hour / time.Millisecond)
	name, _, _ := r.find(names...)
	switch ms := r.number(name); {
	case ms == 0:
		return nil
	case ms > most:
		r.reject(name, "%v ms is more than a year", ms)
		return nil
	default:
		return durationpb.New(max(1, time.Duration(ms*float64(time.Millisecond))))
	}
}

// setVariants gives the server a variant per accelerator that its model was profiled
// on, or only the one in use if that is to be kept.
func (s *system) setVariants(r, current record, w *poolwrightv1.Workload, outputTokens float64) {
	inUse := current.text("accelerator")
	if _, ok := s.accelerators[inUse]; inUse != "" && !ok {
		current.reject("accelerator", "accelerator %q is not declared", inUse)
		return
	}
	keep := r.flag("keepAccelerator") && inUse != ""
	replicas := current.count("numReplicas", 0)
	override, queue := r.count("maxBatchSize", 0), r.count("maxQueueSize", 0)
	profiles := s.profiles[w.GetModel()]
	for _, p := range profiles {
		if !p.usable() || keep && p.accelerator.name != inUse {
			continue
		}
		v := p.variant(override, queue, outputTokens)
		if p.accelerator.name == inUse {
			v.CurrentReplicas = replicas
		}
		w.Variants = append(w.Variants, v)
	}
	switch {
	case len(w.GetVariants()) > 0:
	case len(profiles) == 0:
		r.reject("model", "model %q is not declared", w.GetModel())
	case keep:
		r.reject("keepAccelerator", "model %q has no coefficients for accelerator %q", w.GetModel(), inUse)
	default:
		r.reject("model", "model %q has no coefficients above 0", w.GetModel())
	}
}

// variant of a workload with so many generated tokens per request. A unit of
// currency is 100 cents.
func (p profile) variant(override, queue int32, outputTokens float64) *poolwrightv1.Variant {
	devices := p.devices()
	batch := p.maxBatch(override, outputTokens)
	price := p.accelerator.cents * float64(p.units) / centsPerUnit
	return &poolwrightv1.Variant{
		Name:                p.accelerator.name,
		Accelerator:         p.accelerator.kind,
		DevicesPerReplica:   &devices,
		Profile:             p.coefficients,
		ServiceModel:        p.model,
		MaxBatch:            &batch,
		MaxQueue:            p.maxQueue(queue, batch),
		PricePerReplicaHour: &price,
	}
}
