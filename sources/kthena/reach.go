package kthena

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/resource"
)

// reach finds how requests reach the replicas of a workload: by which name, and what
// engines serve them. Requests for LoRA adapters of a model are among those that its engines
// count under the name of the model, and so are those that a gateway sends once more.
func (r *reading) reach(d *declaration, servings []*serving, w *resource.Workload) {
	engines := slices.Clone(d.engines)
	var models, servers []string
	for _, s := range r.network.serversOf(w.Namespace, servings) {
		servers = append(servers, s.name)
		engines = append(engines, s.engine)
		if s.model != "" {
			models = append(models, s.model)
		}
	}
	var routed []string
	for _, m := range r.network.routesTo(w.Namespace, servers) {
		routed = append(routed, m.ModelName)
		if limit := m.limit(); limit != "" {
			addCondition(w, RateLimited, "Declared", fmt.Sprintf("ModelRoute %s lets through %s", m.name, limit))
		}
	}
	w.Model = cmp.Or(only(models), d.model, only(routed))
	w.Series.Engine = commonEngine(engines, w)
	if e := d.endpoint(); e != nil {
		w.Series.Port, w.Series.Path = e.Port, e.URI
	}
}

// only is the one name in a list; empty where there is none, or several.
func only(names []string) string {
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		return names[0]
	}
	return ""
}

// engineOf is the engine, as package metrics names it, of what Kthena calls so.
func engineOf(name string) (string, bool) {
	switch name {
	case "vLLM", "vLLMDisaggregated":
		return "vllm", true
	case "SGLang":
		return "sglang", true
	}
	return "", false
}

// commonEngine is the engine of all replicas. Where there is none whose metrics are known, a
// condition says so.
func commonEngine(names []string, w *resource.Workload) string {
	var known, unknown []string
	for _, name := range names {
		if engine, ok := engineOf(name); ok {
			known = append(known, engine)
		} else {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(known)
	slices.Sort(unknown)
	known, unknown = slices.Compact(known), slices.Compact(unknown)
	var message string
	switch {
	case len(unknown) > 0:
		message = "what replicas report is not known of " + strings.Join(unknown, ", ")
	case len(known) > 1:
		message = fmt.Sprintf("replicas have different engines, %s", strings.Join(known, " and "))
	case len(known) == 1:
		return known[0]
	default:
		return ""
	}
	addCondition(w, resource.EngineUnsupported, "MetricsUnknown", message)
	return ""
}

// endpoint is where pods report, if the targets say so and agree; else nil.
func (d *declaration) endpoint() *endpoint {
	var common *endpoint
	for i := range d.targets {
		e := d.targets[i].endpoint()
		if e == nil || common != nil && *common != *e {
			return nil
		}
		common = e
	}
	return common
}

// endpoint is where the pods of a target report, with Kthena's defaults; nil where it
// does not say.
func (t *targetSpec) endpoint() *endpoint {
	var e endpoint
	switch source := t.firstSource(); {
	case t.MetricEndpoint != nil:
		e = *t.MetricEndpoint
	case source != nil:
		e = *source
	default:
		return nil
	}
	return &endpoint{URI: cmp.Or(e.URI, defaultPath), Port: cmp.Or(e.Port, defaultPort)}
}

// firstSource is where the pods of a target report since v1.0: by metric, of which the
// first by name counts.
func (t *targetSpec) firstSource() *endpoint {
	for _, name := range slices.Sorted(maps.Keys(t.MetricSources)) {
		if pod := t.MetricSources[name].Pod; pod != nil {
			return pod
		}
	}
	return nil
}
