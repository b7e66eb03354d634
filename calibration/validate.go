package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
)

// Bounds of valid input. They exclude mistaken units and overflow, not machines.
const (
	maxSeconds = queueing.MaxSeconds
	leastTime  = 1e-12
	maxTokens  = 1e9
	maxBatch   = 1e6
	maxRate    = 1e9
	maxSCV     = 1e6
	maxWeight  = 1e6
	tiny       = math.SmallestNonzeroFloat64
)

// violations collects mistakes.
type violations []error

func (v *violations) add(format string, args ...any) {
	*v = append(*v, fmt.Errorf("calibration: "+format, args...))
}

// within requires a value in [low, high]; NaN never is.
func (v *violations) within(field string, value, low, high float64) {
	if !(value >= low && value <= high) {
		v.add("%s: %v is not in [%v, %v]", field, value, low, high)
	}
}

// validate returns every mistake in samples and options.
func validate(samples []Sample, options Options) error {
	var v violations
	for i := range samples {
		samples[i].validate(fmt.Sprintf("samples[%d]", i), &v)
	}
	options.validate(&v)
	return errors.Join(v...)
}

// field is a quantity of a sample, with its bounds and the kinds that have it.
type field struct {
	name string
	Quantity
	low, high           float64
	required, permitted []Kind
}

func (s *Sample) fields() []field {
	loads := []Kind{ClosedLoop, OpenLoop}
	return []field{
		{name: "batch", Quantity: s.Batch, low: 1, high: maxBatch, required: []Kind{DecodePoint}},
		{name: "contextTokens", Quantity: s.ContextTokens, low: 0, high: maxTokens, required: []Kind{DecodePoint}},
		{name: "inputTokens", Quantity: s.InputTokens, low: 0, high: maxTokens, required: []Kind{PrefillPoint, ClosedLoop, OpenLoop}},
		{name: "inputTokensScv", Quantity: s.InputSCV, low: 0, high: maxSCV, permitted: []Kind{PrefillPoint, ClosedLoop, OpenLoop}},
		{name: "outputTokens", Quantity: s.OutputTokens, low: 1, high: maxTokens, required: loads},
		{name: "outputTokensScv", Quantity: s.OutputSCV, low: 0, high: maxSCV, permitted: loads},
		{name: "prefixHitRatio", Quantity: s.PrefixHitRatio, low: 0, high: 1, permitted: []Kind{PrefillPoint, ClosedLoop, OpenLoop}},
		{name: "concurrency", Quantity: s.Concurrency, low: 1, high: maxBatch, required: []Kind{ClosedLoop}},
		{name: "arrivalRate", Quantity: s.ArrivalRate, low: tiny, high: maxRate, required: []Kind{OpenLoop}},
		{name: "running", Quantity: s.Running, low: tiny, high: maxBatch, permitted: []Kind{OpenLoop}},
		{name: "waiting", Quantity: s.Waiting, low: 0, high: maxRate, permitted: []Kind{OpenLoop}},
		{name: "itl", Quantity: s.ITL, low: leastTime, high: maxSeconds, required: []Kind{DecodePoint}, permitted: loads},
		{name: "ttft", Quantity: s.TTFT, low: leastTime, high: maxSeconds, required: []Kind{PrefillPoint}, permitted: loads},
	}
}

func (s *Sample) validate(path string, v *violations) {
	if s.Weight.Known {
		v.within(path+".weight", s.Weight.Value, tiny, maxWeight)
	}
	kind := s.Kind()
	if kind == UnknownKind {
		v.add("%s: batch and contextTokens, concurrency, arrivalRate, or inputTokens alone must be known, and only one of them", path)
	}
	for _, f := range s.fields() {
		required := slices.Contains(f.required, kind)
		switch {
		case f.Known:
			v.within(path+"."+f.name, f.Value, f.low, f.high)
			if kind != UnknownKind && !required && !slices.Contains(f.permitted, kind) {
				v.add("%s.%s: a %s has none", path, f.name, kind)
			}
		case required:
			v.add("%s.%s: missing in a %s", path, f.name, kind)
		}
	}
	if kind != ClosedLoop && kind != OpenLoop {
		return
	}
	if !s.ITL.Known && !s.TTFT.Known {
		v.add("%s: neither itl nor ttft is known", path)
	}
	if s.ITL.Known && s.OutputTokens.Known && s.OutputTokens.Value <= 1 {
		v.add("%s.itl: an output of 1 token has none", path)
	}
}

func (o *Options) validate(v *violations) {
	for i, use := range o.Ignore {
		if use.Kind <= UnknownKind || use.Kind > OpenLoop {
			v.add("options.ignore[%d]: kind %d is none", i, use.Kind)
		}
		if use.Metric != queueing.ITL && use.Metric != queueing.TTFT {
			v.add("options.ignore[%d]: metric %v is neither itl nor ttft", i, use.Metric)
		}
	}
	if o.SquareRoot < SquareRootDetected || o.SquareRoot > SquareRootNever {
		v.add("options.squareRoot: %d is none", o.SquareRoot)
	}
	validateProfile("options.prior", o.Prior, v)
	v.within("options.maxBatch", float64(o.MaxBatch), 0, queueing.MaxBatchLimit)
	v.within("options.kvCacheTokens", float64(o.KVCacheTokens), 0, maxTokens*queueing.MaxBatchLimit)
	if o.MaxBatchedTokens != 0 {
		v.within("options.maxBatchedTokens", float64(o.MaxBatchedTokens), 1, maxTokens)
	}
	if o.PrefillMode != queueing.Chunked && o.PrefillMode != queueing.Blocking {
		v.add("options.prefillMode: %d is none", o.PrefillMode)
	}
	if o.AcceptedTokens != 0 {
		v.within("options.acceptedTokens", o.AcceptedTokens, 1, maxTokens)
	}
}

func validateProfile(path string, p queueing.Profile, v *violations) {
	for t, value := range coefficientsOf(p) {
		if math.IsNaN(value) || value < 0 || value > maxSeconds {
			v.add("%s.%s: %v is not in [0, %v]", path, Term(t), value, maxSeconds)
		}
	}
}
