package scenario_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// teller makes stories up.
type teller struct {
	*rand.Rand
	// variants are WORKLOAD/VARIANT, by workload.
	workloads []string
	variants  [][]string
	// capacities and lost are devices by pool; 0 = no limit.
	capacities, lost []int
	failing          map[string]bool
}

func newTeller(seed uint64) *teller {
	return &teller{Rand: rand.New(rand.NewPCG(seed, 1)), failing: map[string]bool{}}
}

// chance is true with a probability.
func (t *teller) chance(probability float64) bool { return t.Float64() < probability }

// between is a whole number from low to high.
func (t *teller) between(low, high int) int { return low + t.IntN(high-low+1) }

// sometimes is a field of a fleet file, or nothing.
func (t *teller) sometimes(probability float64, format string, args ...any) string {
	if t.chance(probability) {
		return fmt.Sprintf(format, args...)
	}
	return ""
}

// fleet makes up pools, some without a limit or with quotas, and workloads that share them
// under one policy.
func (t *teller) fleet(policy string) string {
	var text strings.Builder
	text.WriteString("fleet\npools:\n")
	for p := range t.between(1, 3) {
		capacity := ""
		t.capacities, t.lost = append(t.capacities, 0), append(t.lost, 0)
		if t.chance(0.9) {
			t.capacities[p] = t.between(1, 24)
			capacity = fmt.Sprintf(", capacity: %d", t.capacities[p])
		}
		fmt.Fprintf(&text, "- {name: pool-%d, accelerator: H100, pricePerHour: %d%s%s}\n", p, t.between(1, 5), capacity,
			t.sometimes(0.3, ", quotas: {a: %d}", t.between(0, 12)))
	}
	text.WriteString("workloads:\n")
	for i := range t.between(1, 5) {
		t.workload(&text, i)
	}
	fmt.Fprintf(&text, "control: {%s%s}\n", t.sometimes(0.3, "devicesPerCycle: %d, ", t.between(4, 8)), policy)
	return text.String()
}

func (t *teller) workload(text *strings.Builder, i int) {
	namespace, least := []string{"a", "b"}[t.IntN(2)], t.between(0, 2)
	t.workloads, t.variants = append(t.workloads, fmt.Sprintf("%s/workload-%d", namespace, i)), append(t.variants, nil)
	mixing := t.chance(0.2)
	fmt.Fprintf(text, "- name: workload-%d\n  namespace: %s\n  priority: %d\n  load: {arrivalRate: %.3g}\n", i, namespace, t.between(1, 3), t.rate())
	text.WriteString(t.sometimes(0.2, "  unmetPenaltyPerRps: 5\n"))
	text.WriteString(t.sometimes(0.3, "  minReplicas: %d\n", least))
	text.WriteString(t.sometimes(0.2, "  maxReplicas: %d\n", least+t.between(1, 6)))
	if mixing {
		text.WriteString("  mixing: SINGLE\n")
	} else {
		text.WriteString(t.sometimes(0.1, "  redundancy: 1\n"))
	}
	text.WriteString("  variants:\n")
	for j := range t.between(1, 3) {
		t.variants[i] = append(t.variants[i], fmt.Sprintf("%s/variant-%d", t.workloads[i], j))
		t.variant(text, j, mixing)
	}
}

func (t *teller) variant(text *strings.Builder, j int, single bool) {
	least := 0
	if !single && t.chance(0.15) {
		least = 1
	}
	fmt.Fprintf(text, "  - {name: variant-%d, pools: [pool-%d], devicesPerReplica: %d, capacityRps: %d, minReplicas: %d%s, currentReplicas: %d, startup: %ds%s}\n",
		j, t.IntN(len(t.capacities)), 1<<t.IntN(3), t.between(2, 20), least, t.sometimes(0.2, ", maxReplicas: %d", least+t.between(2, 6)),
		t.between(0, 3), 15*t.between(0, 12), t.sometimes(0.3, ", switchingCost: {up: %.2f, down: %.2f}", t.Float64(), t.Float64()))
}

// rate is a demand in requests/s; none, now and then.
func (t *teller) rate() float64 {
	if t.chance(0.15) {
		return 0
	}
	return 80 * t.Float64()
}

// mishap is a command that makes something happen, or empty.
func (t *teller) mishap() string {
	if t.chance(0.4) {
		return ""
	}
	i := t.IntN(len(t.workloads))
	workload, variant := t.workloads[i], t.variants[i][t.IntN(len(t.variants[i]))]
	switch t.IntN(11) {
	case 0, 1:
		return fmt.Sprintf("demand %s=%.3g/s", workload, t.rate())
	case 2, 3:
		what := []string{"arrivals", "engine", "all", "missing", "stale", "invalid", "nan", "partial"}
		return fmt.Sprintf("metrics %s=%s", workload, what[t.IntN(len(what))])
	case 4:
		return fmt.Sprintf("scale %s=%d", variant, t.between(0, 6))
	case 5:
		return fmt.Sprintf("race %s=%d", variant, t.between(0, 6))
	case 6:
		return t.failOrMend([]string{"catalog", "metrics", "actuator"}[t.IntN(3)])
	case 7:
		return t.loseOrReturn(t.IntN(len(t.capacities)))
	case 8:
		startup := []string{"never", "0s", "2m"}
		return fmt.Sprintf("startup %s=%s\nrestart %s=%d", variant, startup[t.IntN(3)], variant, t.between(0, 2))
	case 9:
		return "failover" + t.sometimes(0.5, " forgetful")
	default:
		return fmt.Sprintf("pause %s for 2m", workload)
	}
}

func (t *teller) failOrMend(what string) string {
	t.failing[what] = !t.failing[what]
	if t.failing[what] {
		return "fail " + what
	}
	return "mend " + what
}

func (t *teller) loseOrReturn(p int) string {
	switch left := t.capacities[p] - t.lost[p]; {
	case t.lost[p] > 0:
		n := t.lost[p]
		t.lost[p] = 0
		return fmt.Sprintf("return pool-%d=%d", p, n)
	case left > 0:
		t.lost[p] = t.between(1, left)
		return fmt.Sprintf("lose pool-%d=%d", p, t.lost[p])
	}
	return ""
}

// calm mends everything, and lets demand stay as it is.
func (t *teller) calm() string {
	lines := []string{"mend catalog metrics actuator"}
	for i, workload := range t.workloads {
		lines = append(lines, fmt.Sprintf("metrics %s=arrivals", workload))
		for _, variant := range t.variants[i] {
			lines = append(lines, fmt.Sprintf("startup %s=30s", variant))
		}
	}
	return strings.Join(lines, "\n")
}
