package message

import (
	"fmt"
	"unicode"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// The most of each list that a fleet may have. They are far beyond real fleets and
// keep hostile input cheap.
const (
	mostPools     = 10_000
	mostQuotas    = 10_000
	mostWorkloads = 100_000
	mostVariants  = 1_000
	mostShapes    = 10_000
	mostScenarios = 1_000
	// mostRates is that of scenarios × workloads.
	mostRates = 10_000_000
)

// tooMany reports lists that are longer than allowed; such a fleet is not looked
// at further.
func tooMany(m *poolwrightv1.Fleet) Violations {
	var v Violations
	limit := func(n, most int, path string, args ...any) {
		if n > most {
			v.add(fmt.Sprintf(path, args...), "%d are more than the %d allowed", n, most)
		}
	}
	limit(len(m.GetPools()), mostPools, "pools")
	limit(len(m.GetWorkloads()), mostWorkloads, "workloads")
	limit(len(m.GetScenarios()), min(mostScenarios, mostRates/max(1, len(m.GetWorkloads()))), "scenarios")
	if len(v) > 0 {
		return v
	}
	for i, p := range m.GetPools() {
		limit(len(p.GetQuotas()), mostQuotas, "pools[%d].quotas", i)
	}
	for i, w := range m.GetWorkloads() {
		limit(len(w.GetVariants()), mostVariants, "workloads[%d].variants", i)
		limit(len(w.GetLoad().GetShapes()), mostShapes, "workloads[%d].load.shapes", i)
		limit(len(w.GetSlo().GetTtft().GetQuantiles()), mostVariants, "workloads[%d].slo.ttft.quantiles", i)
		limit(len(w.GetSlo().GetItl().GetQuantiles()), mostVariants, "workloads[%d].slo.itl.quantiles", i)
	}
	return v
}

// printable requires a name without control characters, which would spoil tables,
// terminals and metrics.
func (t *translation) printable(path, field, name string) {
	for _, r := range name {
		if unicode.IsControl(r) {
			t.violations.add(path+"."+field, "%q contains a control character", name)
			return
		}
	}
}
