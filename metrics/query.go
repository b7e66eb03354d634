package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// quantityLabel is what a query marks its quantities with.
const quantityLabel = "poolwright_quantity"

// memory is how long a replica that has fallen silent is known to be so; afterwards
// it is as if it had never been there.
const memory = 5 * time.Minute

// demandQuery asks for ages and quantities of demand, a replica each.
func (g *group) demandQuery() string {
	parts := []string{
		g.mark(age, "time() - "+g.present("timestamp(%s)")),
		g.mark(known, g.present("present_over_time(%s["+duration(memory)+"])")),
	}
	for i := range g.engine.demand {
		m := &g.engine.demand[i]
		parts = append(parts, g.mark(m.quantity, g.sum(m)))
	}
	return union(parts)
}

// workQuery asks for quantities of work, a replica each.
func (g *group) workQuery() string {
	parts := make([]string, len(g.engine.work))
	for i := range g.engine.work {
		m := &g.engine.work[i]
		parts[i] = g.mark(m.quantity, g.sum(m))
	}
	return union(parts)
}

// union joins expressions as a balanced tree: Prometheus goes over all that is on the
// left of an "or".
func union(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	return fmt.Sprintf("(%s or %s)", union(parts[:half]), union(parts[half:]))
}

// mark adds the label of a quantity to an expression's results, so that one query can
// ask for many.
func (g *group) mark(q quantity, expression string) string {
	return fmt.Sprintf(`label_replace(%s, %q, %q, "", "")`, expression, quantityLabel, q.String())
}

// present is an expression over the metric that every replica reports, the latest of a
// replica.
func (g *group) present(of string) string {
	each := make([]string, len(g.engine.present))
	for i, name := range g.engine.present {
		each[i] = fmt.Sprintf(of, g.selected(name, ""))
	}
	return fmt.Sprintf("max by (%s) (%s)", strings.Join(g.by, ", "), strings.Join(each, " or "))
}

// sum adds up the series of a replica.
func (g *group) sum(m *metric) string {
	each := make([]string, len(m.names))
	for i, name := range m.names {
		selected := g.selected(name, m.matchers)
		switch m.quantity {
		case running, waiting:
			each[i] = selected
		case runningMean, waitingMean:
			each[i] = fmt.Sprintf("avg_over_time(%s[%s])", selected, duration(g.window))
		default:
			each[i] = fmt.Sprintf("rate(%s[%s])", selected, duration(g.window))
		}
	}
	return fmt.Sprintf("sum by (%s) (%s)", strings.Join(g.by, ", "), strings.Join(each, " or "))
}

// selected is the selector of a metric's series.
func (g *group) selected(name, matchers string) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(g.selector)) {
		all = append(all, fmt.Sprintf("%s=%q", label, g.selector[label]))
	}
	if matchers != "" {
		all = append(all, matchers)
	}
	return name + "{" + strings.Join(all, ",") + "}"
}

func duration(d time.Duration) string { return model.Duration(d.Truncate(time.Millisecond)).String() }
