package sources

import (
	"math"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// profile is how one model runs on one accelerator.
type profile struct {
	accelerator accelerator
	// units of the accelerator that one replica uses.
	units        int32
	model        poolwrightv1.Variant_ServiceModel
	coefficients *poolwrightv1.Profile
	// batch requests run together at atTokens tokens each.
	batch, atTokens float64
	// broken by a mistake that was reported.
	broken bool
}

func (s *system) readProfiles(root record) {
	s.profiles = map[string][]profile{}
	type pair struct{ model, accelerator string }
	given := map[pair]bool{}
	for _, r := range root.records("modelData", "models", "perfData", "spec") {
		name, p := r.required("name"), s.readProfile(r)
		of := pair{name, p.accelerator.name}
		if of.accelerator != "" && given[of] {
			r.reject("acc", "model %q has accelerator %q twice", name, of.accelerator)
		}
		given[of] = true
		s.profiles[name] = append(s.profiles[name], p)
	}
}

func (s *system) readProfile(r record) profile {
	before := r.mistakes.Count()
	p := profile{
		units:    r.count("accCount", 1),
		batch:    float64(r.count("maxBatchSize", 0)),
		atTokens: r.number("atTokens"),
	}
	if p.units == 0 {
		r.reject("accCount", "must be at least 1")
		p.units = 1
	}
	p.model, p.coefficients = coefficients(r)
	if name := r.required("acc"); name != "" {
		var ok bool
		if p.accelerator, ok = s.accelerators[name]; !ok {
			r.reject("acc", "accelerator %q is not declared", name)
		}
	}
	if devices := float64(p.units) * float64(p.accelerator.devices); devices > math.MaxInt32 {
		r.reject("accCount", "%v devices are too many", devices)
		p.units, p.accelerator.devices = 1, 1
	}
	p.broken = r.mistakes.Count() > before
	return p
}

// coefficients tells the generations of the service model by their fields.
func coefficients(r record) (poolwrightv1.Variant_ServiceModel, *poolwrightv1.Profile) {
	switch {
	case r.has("decodeParms"), r.has("prefillParms"):
		decode, prefill := r.record("decodeParms"), r.record("prefillParms")
		return poolwrightv1.Variant_LLMD_V1, &poolwrightv1.Profile{
			AlphaMs: decode.number("alpha"),
			BetaMs:  decode.number("beta"),
			GammaMs: prefill.number("gamma"),
			DeltaMs: prefill.number("delta"),
		}
	case r.has("perfParms"):
		parms := r.record("perfParms")
		if parms.has("decodeParms") || parms.has("prefillParms") {
			return coefficients(parms)
		}
		return poolwrightv1.Variant_LLMD_V3, &poolwrightv1.Profile{
			AlphaMs: parms.number("alpha"),
			BetaMs:  parms.number("beta"),
			GammaMs: parms.number("gamma"),
		}
	case r.has("alpha"), r.has("beta"):
		return poolwrightv1.Variant_LLMD_V0, &poolwrightv1.Profile{
			AlphaMs: r.number("alpha"),
			BetaMs:  r.number("beta"),
		}
	}
	r.reject("perfParms", "is missing; must be perfParms, decodeParms and prefillParms, or alpha and beta")
	return poolwrightv1.Variant_LLMD_V3, &poolwrightv1.Profile{}
}

// usable is false for a profile that was not fitted yet: the family gives it no
// allocation.
func (p profile) usable() bool {
	c := p.coefficients
	return p.broken || c.GetAlphaMs() > 0 || c.GetBetaMs() > 0 || c.GetGammaMs() > 0 || c.GetDeltaMs() > 0
}

// devices of one replica.
func (p profile) devices() int32 { return p.units * p.accelerator.devices }

// maxBatch scales the batch limit, which holds at atTokens generated tokens, to the
// tokens of the load. An override above 0 stands as it is.
func (p profile) maxBatch(override int32, outputTokens float64) int32 {
	batch := float64(override)
	if override == 0 {
		batch = p.batch
		if outputTokens > 0 {
			batch = math.Floor(batch * p.atTokens / outputTokens)
		}
	}
	return int32(min(max(batch, 1), maxBatch))
}

// maxQueue is the number of waiting places; nil where the service model itself says
// how many there are.
func (p profile) maxQueue(declared, batch int32) *int32 {
	var places int32
	switch p.model {
	case poolwrightv1.Variant_LLMD_V0:
		return nil
	case poolwrightv1.Variant_LLMD_V1:
		places = queueToBatch * batch
	default:
		places = declared
	}
	return &places
}
