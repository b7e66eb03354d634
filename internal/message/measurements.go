package message

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/calibration"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// The most that one calibration may have: it takes a few seconds.
const (
	mostSamples       = 20_000
	mostHeldOutGroups = 200
	mostHeldOutWork   = 50_000
)

// Measured is what is known of one (model, accelerator, parallelism, engine).
type Measured struct {
	Samples []calibration.Sample
	Options calibration.Options
	// Facts about device and model; nil = none.
	Facts *Facts
}

// Facts are those that a profile follows from without measurements.
type Facts struct {
	Device calibration.Device
	// Devices share the weights of one replica.
	Devices int
	Model   calibration.Architecture
	// Notes say what the device could not be taken as.
	Notes []string
}

// Measurements checks what a profile is to be estimated from, and translates it. The
// error is of type [Violations] and names every mistake.
func Measurements(m *poolwrightv1.Measurements) (Measured, error) {
	if n := len(m.GetSamples()); n > mostSamples {
		return Measured{}, Violations{{"samples", fmt.Sprintf("%d are more than the %d allowed", n, mostSamples)}}
	}
	v := validate(measurementsValidator, m)
	measured := Measured{Options: calibrationOptions(m.GetOptions())}
	for i, s := range m.GetSamples() {
		measured.Samples = append(measured.Samples, sample(s))
		if why := senseless(&measured.Samples[i]); why != "" {
			v.add(fmt.Sprintf("samples[%d]", i), "%s", why)
		}
	}
	implausible(&measured, &v)
	measured.Facts = facts(m, &v)
	if len(m.GetSamples()) == 0 && measured.Facts == nil {
		v.add("samples", "give samples, or device and model")
	}
	heldOut(m, &v)
	if len(v) > 0 {
		return Measured{}, v.sorted()
	}
	return measured, nil
}

// heldOut checks that held-out errors can be told, and at what cost.
func heldOut(m *poolwrightv1.Measurements, v *Violations) {
	if !m.GetOptions().GetHeldOut() {
		return
	}
	groups := make(map[string]bool)
	for _, s := range m.GetSamples() {
		groups[s.GetGroup()] = true
	}
	const path = "options.heldOut"
	switch n := len(groups); {
	case n < 2:
		v.add(path, "needs samples of at least two groups; there are %d", n)
	case n > mostHeldOutGroups:
		v.add(path, "%d groups are more than the %d allowed", n, mostHeldOutGroups)
	case n*len(m.GetSamples()) > mostHeldOutWork:
		v.add(path, "%d groups of %d samples are more than allowed: their product is limited to %d",
			n, len(m.GetSamples()), mostHeldOutWork)
	}
}

// implausible adds what package calibration has against samples and options, unless
// something is wrong with them already.
func implausible(measured *Measured, v *Violations) {
	_, err := calibration.Predict(queueing.Profile{}, measured.Samples, measured.Options)
	if err == nil {
		return
	}
	seen := make(map[string]bool, len(*v))
	for _, x := range *v {
		seen[root(x.Path)] = true
	}
	for _, x := range OfCalibration(err) {
		if !seen[root(x.Path)] {
			*v = append(*v, x)
		}
	}
}

// root is the sample or the option that a path is about.
func root(path string) string {
	parts := strings.SplitN(path, ".", 3)
	if parts[0] == "options" {
		return strings.Join(parts[:min(len(parts), 2)], ".")
	}
	return parts[0]
}

// senseless says why what a sample gives makes no measurement, "" where it does.
func senseless(s *calibration.Sample) string {
	lengths := s.InputTokens.Known && s.OutputTokens.Known
	switch kind := s.Kind(); {
	case kind == calibration.UnknownKind:
		return kindless(s)
	case kind == calibration.DecodePoint && !(s.Batch.Known && s.ContextTokens.Known && s.ITL.Known):
		return "a decoding batch needs batch, contextTokens and itlMs"
	case kind == calibration.PrefillPoint && !s.TTFT.Known:
		return "a single prompt needs ttftMs"
	case kind == calibration.ClosedLoop && !lengths:
		return "a constant number of clients needs inputTokens and outputTokens beside concurrency"
	case kind == calibration.OpenLoop && !(lengths && s.ArrivalRate.Known):
		return "traffic needs arrivalRate, inputTokens and outputTokens"
	case !s.ITL.Known && !s.TTFT.Known:
		return "give itlMs, ttftMs or both"
	}
	return ""
}

// kindless says why nothing can be said of what was measured.
func kindless(s *calibration.Sample) string {
	var given []string
	for _, q := range []struct {
		name string
		calibration.Quantity
	}{
		{"batch", s.Batch},
		{"contextTokens", s.ContextTokens},
		{"concurrency", s.Concurrency},
		{"arrivalRate", s.ArrivalRate},
		{"running", s.Running},
		{"waiting", s.Waiting},
	} {
		if q.Known {
			given = append(given, q.name)
		}
	}
	if len(given) > 0 {
		return strings.Join(given, " and ") + " do not go together: a sample is a decoding batch, a constant number of clients or traffic at a rate"
	}
	return "give batch and contextTokens, or concurrency, or arrivalRate, or inputTokens alone"
}

// quantity keeps what is missing missing.
func quantity(v *float64) calibration.Quantity {
	if v == nil {
		return calibration.Quantity{}
	}
	return calibration.Of(*v)
}

// milliseconds is a quantity in seconds.
func milliseconds(v *float64) calibration.Quantity {
	q := quantity(v)
	q.Value /= 1e3
	return q
}

func sample(m *poolwrightv1.Sample) calibration.Sample {
	if m == nil {
		m = &poolwrightv1.Sample{}
	}
	return calibration.Sample{
		Group:          m.GetGroup(),
		Weight:         quantity(m.Weight),
		Batch:          quantity(m.Batch),
		ContextTokens:  quantity(m.ContextTokens),
		InputTokens:    quantity(m.InputTokens),
		OutputTokens:   quantity(m.OutputTokens),
		InputSCV:       quantity(m.InputTokensScv),
		OutputSCV:      quantity(m.OutputTokensScv),
		PrefixHitRatio: quantity(m.PrefixHitRatio),
		Concurrency:    quantity(m.Concurrency),
		ArrivalRate:    quantity(m.ArrivalRate),
		Running:        quantity(m.Running),
		Waiting:        quantity(m.Waiting),
		ITL:            milliseconds(m.ItlMs),
		TTFT:           milliseconds(m.TtftMs),
	}
}

// sampleKinds and sampleMetrics are those of package calibration by their names in
// messages.
var (
	sampleKinds = [...]calibration.Kind{
		poolwrightv1.Sample_DECODE_POINT:  calibration.DecodePoint,
		poolwrightv1.Sample_PREFILL_POINT: calibration.PrefillPoint,
		poolwrightv1.Sample_CLOSED_LOOP:   calibration.ClosedLoop,
		poolwrightv1.Sample_OPEN_LOOP:     calibration.OpenLoop,
	}
	sampleMetrics = [...]queueing.Metric{
		poolwrightv1.Sample_ITL:  queueing.ITL,
		poolwrightv1.Sample_TTFT: queueing.TTFT,
	}
)

var squareRoots = [...]calibration.SquareRoot{
	poolwrightv1.CalibrationOptions_DETECTED: calibration.SquareRootDetected,
	poolwrightv1.CalibrationOptions_ALWAYS:   calibration.SquareRootAlways,
	poolwrightv1.CalibrationOptions_NEVER:    calibration.SquareRootNever,
}

// named returns the entry of a table for an enum's value; undefined values, which
// validation reports, get the first one.
func named[T any, E ~int32](table []T, value E) T {
	if value < 0 || int(value) >= len(table) {
		return table[0]
	}
	return table[value]
}

func calibrationOptions(m *poolwrightv1.CalibrationOptions) calibration.Options {
	o := calibration.Options{
		SquareRoot:       named(squareRoots[:], m.GetSquareRoot()),
		Prior:            profile(m.GetPrior()),
		MaxBatch:         int(m.GetMaxBatch()),
		KVCacheTokens:    queueing.Tokens(m.GetKvCacheTokens()),
		MaxBatchedTokens: queueing.Tokens(m.GetMaxBatchedTokens()),
		AcceptedTokens:   m.GetSpeculativeAcceptedTokens(),
		HeldOut:          m.GetHeldOut(),
	}
	if m.GetPrefillMode() == poolwrightv1.Variant_BLOCKING {
		o.PrefillMode = queueing.Blocking
	}
	for _, x := range m.GetIgnore() {
		metric := named(sampleMetrics[:], x.GetMetric())
		for k, kind := range sampleKinds {
			if x.Kind == nil || int(x.GetKind()) == k {
				o.Ignore = append(o.Ignore, calibration.Use{Kind: kind, Metric: metric})
			}
		}
	}
	return o
}
