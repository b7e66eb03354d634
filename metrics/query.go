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

// bucketLabel is the upper bound of a histogram's bucket.
const bucketLabel = "le"

// variationWindows is the number of windows after which the variation of lengths is asked
// for again, and over which it is measured.
const variationWindows = 10

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
		if m.completes() && g.recentWindow > 0 {
			parts = append(parts, g.mark(recentCompletions, g.sum(m.of(recentCompletions))))
		}
	}
	return union(append(parts, g.namedParts()...))
}

// workQuery asks for quantities of work, a replica each; and for the buckets of histograms
// of tokens, where the variation of lengths is to be known.
func (g *group) workQuery(variation bool) string {
	var parts []string
	for i := range g.engine.work {
		m := &g.engine.work[i]
		parts = append(parts, g.mark(m.quantity, g.sum(m)))
	}
	if variation && g.lengthless {
		for _, h := range []struct{ sum, buckets quantity }{{promptSum, promptBuckets}, {outputSum, outputBuckets}} {
			if names := g.engine.histogram(h.sum); len(names) > 0 {
				parts = append(parts, g.mark(h.buckets, g.buckets(names)))
			}
		}
	}
	return union(parts)
}

// buckets adds up those of all replicas over the time for which variation is asked for.
func (g *group) buckets(histograms []string) string {
	by := []string{bucketLabel}
	for _, label := range g.by {
		if label != g.replicaLabel && label != jobLabel {
			by = append(by, label)
		}
	}
	each := make([]string, len(histograms))
	for i, name := range histograms {
		each[i] = fmt.Sprintf("rate(%s[%s])", g.selected(name+"_bucket", matcher{}), duration(variationWindows*g.window))
	}
	return fmt.Sprintf("sum by (%s) (%s)", strings.Join(by, ", "), strings.Join(each, " or "))
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
func (g *group) mark(q quantity, expression string) string { return g.markAs(q.String(), expression) }

func (g *group) markAs(mark, expression string) string {
	return fmt.Sprintf(`label_replace(%s, %q, %q, "", "")`, expression, quantityLabel, mark)
}

// present is an expression over the metric that every replica reports, the latest of a
// replica.
func (g *group) present(of string) string {
	each := make([]string, len(g.engine.present))
	for i, name := range g.engine.present {
		each[i] = fmt.Sprintf(of, g.selected(name, matcher{}))
	}
	return fmt.Sprintf("max by (%s) (%s)", strings.Join(g.by, ", "), strings.Join(each, " or "))
}

// sum adds up the series of a replica.
func (g *group) sum(m *metric) string {
	each := make([]string, len(m.names))
	for i, name := range m.names {
		selected := g.selected(name, m.only)
		switch m.quantity {
		case running, waiting:
			each[i] = selected
		case runningMean, waitingMean:
			each[i] = fmt.Sprintf("avg_over_time(%s[%s])", selected, duration(g.window))
		case recentCompletions:
			each[i] = fmt.Sprintf("rate(%s[%s])", selected, duration(g.recentWindow))
		default:
			each[i] = fmt.Sprintf("rate(%s[%s])", selected, duration(g.window))
		}
	}
	return fmt.Sprintf("sum by (%s) (%s)", strings.Join(g.by, ", "), strings.Join(each, " or "))
}

// selected is the selector of a metric's series.
func (g *group) selected(name string, only matcher) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(g.selector)) {
		all = append(all, fmt.Sprintf("%s=%q", label, g.selector[label]))
	}
	switch len(only.values) {
	case 0:
	case 1:
		all = append(all, fmt.Sprintf("%s=%q", only.label, only.values[0]))
	default:
		all = append(all, fmt.Sprintf("%s=~%q", only.label, strings.Join(only.values, "|")))
	}
	return name + "{" + strings.Join(all, ",") + "}"
}

func duration(d time.Duration) string { return model.Duration(d.Truncate(time.Millisecond)).String() }
