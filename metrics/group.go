package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// group is the workloads whose replicas run one engine, or whose requests come through
// a gateway. They share queries.
type group struct {
	engine engine
	// by are the labels that results are grouped by, sorted.
	by           []string
	replicaLabel string
	// selector is what all series have.
	selector Labels
	// window is that of the configuration, and recentWindow the time over which what is completed
	// is measured beside it; 0: it is not.
	window, recentWindow time.Duration
	// lengthless: lengths of requests are not declared of all of the workloads.
	lengthless bool
	// named are the metrics that policies of the workloads follow.
	named  []string
	index  *index
	fleet  *planner.Fleet
	series []Series
	// reported is by workload of the whole fleet; nil where nothing was.
	reported []*reported
	// ambiguous are sets of workloads that nothing tells apart.
	ambiguous map[string][]int
}

// newCycle puts the workloads that Prometheus knows into groups, one for each engine in use
// and one for gateways.
func (o *Observer) newCycle(fleet *planner.Fleet) *cycle {
	c := &cycle{
		config: &o.config, client: o.client, fleet: fleet, engines: map[Engine]*engine{},
		series: make([]Series, len(fleet.Workloads)), pods: make([][]podReport, len(fleet.Workloads)),
		reported: make([]*reported, len(fleet.Workloads)), gateways: make([]*reported, len(fleet.Workloads)),
	}
	if o.scraper != nil {
		c.existing = o.scraper.pods
	}
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		c.series[i] = o.lookup(w)
		if err := o.valid(w, &c.series[i]); err != nil {
			c.warnings = append(c.warnings, err.Error())
			c.series[i] = Series{}
		}
	}
	for _, e := range engines() {
		c.engines[e.name] = &e
		if members := c.members(&e); len(members) > 0 {
			c.groups = append(c.groups, o.newGroup(&e, c, members))
		}
	}
	return c
}

// valid tells what is wrong with the series of a workload, nil if nothing is.
func (o *Observer) valid(w *planner.Workload, s *Series) error {
	name := w.QualifiedName()
	switch err := s.Validate(name); {
	case err != nil:
		return err
	case s.Scrape != nil && o.scraper == nil:
		return fmt.Errorf("metrics: %s.scrape: nobody knows its pods", name)
	case o.client == nil && (s.Gateway != nil || s.Scrape == nil):
		return fmt.Errorf("metrics: %s: there is no Prometheus to ask", name)
	}
	return nil
}

// members are the workloads of which Prometheus is asked for an engine.
func (c *cycle) members(e *engine) []member {
	var members []member
	for i := range c.fleet.Workloads {
		w, s := &c.fleet.Workloads[i], &c.series[i]
		switch {
		case e.name == gateway && s.Gateway != nil:
			members = append(members, newMember(w, i, s.Gateway.Selector, s.Gateway.ModelLabel, e.modelLabel))
		case e.name == s.Engine && s.Scrape == nil:
			m := newMember(w, i, s.Selector, s.ModelLabel, e.modelLabel)
			for j := range w.Variants {
				v := &w.Variants[j]
				m.targets = append(m.targets, v.ScaleTarget.Name)
				m.unnamed = m.unnamed || v.ScaleTarget.Name == "" && mayRun(v)
			}
			members = append(members, m)
		}
	}
	return members
}

// newMember says what the series of a workload look like.
func newMember(w *planner.Workload, place int, selector Labels, modelLabel, engineLabel string) member {
	m := member{workload: place, labels: Labels{}}
	if w.Namespace != "" {
		m.labels[namespaceLabel] = w.Namespace
	}
	if modelLabel == "" {
		modelLabel = engineLabel
	}
	if modelLabel != "" {
		m.labels[modelLabel] = w.Model
	}
	maps.Copy(m.labels, selector)
	return m
}

func (o *Observer) newGroup(e *engine, c *cycle, members []member) group {
	by, lengthless, named := map[string]bool{o.config.ReplicaLabel: true, jobLabel: true}, false, map[string]bool{}
	for k := range members {
		for name := range members[k].labels {
			by[name] = true
		}
		lengthless = lengthless || !declaresLengths(&c.fleet.Workloads[members[k].workload])
		for _, name := range c.metricsOf(members[k].workload) {
			named[name] = e.name != gateway && model.LegacyValidation.IsValidMetricName(name)
		}
		for _, labels := range c.series[members[k].workload].Variants {
			for name := range labels {
				by[name] = true
			}
		}
	}
	into := c.reported
	if e.name == gateway {
		into = c.gateways
	}
	return group{
		engine: *e, by: slices.Sorted(maps.Keys(by)), replicaLabel: o.config.ReplicaLabel, selector: o.config.Selector,
		window: o.config.Window, recentWindow: o.config.recentWindow(c.fleet), lengthless: lengthless, named: keysOf(named), index: newIndex(members),
		fleet: c.fleet, series: c.series, reported: into, ambiguous: map[string][]int{},
	}
}

// recentWindow is the time that has the scrapes since the last cycle in it, and the one before; 0
// where the window is no longer than that.
func (c *Config) recentWindow(fleet *planner.Fleet) time.Duration {
	recent := max(cmp.Or(fleet.Control.Cycle, planner.DefaultCycle), c.ScrapeInterval) + c.ScrapeInterval
	if c.Window <= recent {
		return 0
	}
	return recent
}

// keysOf are the keys with a true value, sorted.
func keysOf(set map[string]bool) []string {
	maps.DeleteFunc(set, func(_ string, in bool) bool { return !in })
	return slices.Sorted(maps.Keys(set))
}

// declaresLengths tells whether a workload says how long its requests are.
func declaresLengths(w *planner.Workload) bool { return w.Shape.OutputTokens > 0 || len(w.Shapes) > 0 }

// take gives each value of an answer to the workload that it is of. Those that are of
// none are of somebody else.
func (g *group) take(samples []sample) {
	marks := map[string]quantity{}
	for _, q := range append(allQuantities(), promptBuckets, outputBuckets) {
		marks[q.String()] = q
	}
	for i := range samples {
		series := samples[i].labels
		if bound, ok := series[bucketLabel]; ok {
			g.takeBucket(marks[series[quantityLabel]], bound, &samples[i])
			continue
		}
		name := series[g.replicaLabel]
		owners := g.index.owners(series, name)
		q, marked := marks[series[quantityLabel]]
		metric, isNamed := strings.CutPrefix(series[quantityLabel], namedMark)
		switch {
		case !marked && !isNamed || len(owners) == 0:
		case len(owners) > 1:
			g.confuse(owners)
		case isNamed:
			g.replica(&g.index.members[owners[0]], name, series).name(metric, samples[i].value)
		default:
			g.replica(&g.index.members[owners[0]], name, series).add(q, samples[i].value)
		}
	}
}

// takeBucket gives the bucket of a histogram to all workloads that it may be of: those
// whose replicas only tell apart have one variation of lengths. Outputs of those whose requests
// pass a prefill, which ends them with their first token, have none.
func (g *group) takeBucket(q quantity, bound string, s *sample) {
	high, err := strconv.ParseFloat(bound, 64)
	if err != nil || math.IsNaN(high) {
		return
	}
	for _, k := range g.index.candidates(s.labels) {
		if workload := g.index.members[k].workload; q != outputBuckets || !g.prefills(workload) {
			g.of(workload).bucket(q, high, s.value)
		}
	}
}

// prefills tells whether some pods of a workload prefill what others decode.
func (g *group) prefills(workload int) bool {
	variants := g.fleet.Workloads[workload].Variants
	return slices.ContainsFunc(variants, func(v planner.Variant) bool {
		return v.Role == optimizer.Prefill || hasPrefill(g.series[workload].Parts[v.Name])
	})
}

// settle ends the taking of answers. Pods may be nil.
func (g *group) settle(pods Pods, staleAfter float64) {
	for k := range g.index.members {
		workload := g.index.members[k].workload
		r := g.reported[workload]
		if r == nil {
			continue
		}
		r.settle(staleAfter)
		if pods != nil {
			r.bury(pods.Pods(g.fleet.Workloads[workload].QualifiedName()), staleAfter)
		}
	}
}

// replica is what is known of a replica of a workload.
func (g *group) replica(m *member, name string, series map[string]string) *replica {
	of := g.of(m.workload)
	key := target{name, series[jobLabel]}
	r := of.targets[key]
	if r == nil {
		place := g.variant(m, name, series)
		r = newReplica(name, place, g.parts(m.workload, place))
		of.targets[key] = r
	}
	return r
}

// parts are those of the replicas of a variant; none where it is not known, or gateways report.
func (g *group) parts(workload, variant int) []Part {
	if g.engine.name == gateway {
		return nil
	}
	return g.series[workload].partsOf(&g.fleet.Workloads[workload], variant)
}

func (g *group) of(workload int) *reported {
	if g.reported[workload] == nil {
		g.reported[workload] = &reported{targets: map[target]*replica{}}
	}
	return g.reported[workload]
}

// mayRun tells whether a variant has replicas or may get some.
func mayRun(v *planner.Variant) bool {
	return v.CurrentReplicas+v.LeavingReplicas > 0 || !v.MaxReplicas.Limited || v.MaxReplicas.Value > 0
}

// variant finds the variant of a replica: the only one, the one whose labels it has, or
// the one whose scale target begins its name. It is -1 if there is none.
func (g *group) variant(m *member, name string, series map[string]string) int {
	w := &g.fleet.Workloads[m.workload]
	only, running := 0, 0
	for j := range w.Variants {
		if mayRun(&w.Variants[j]) {
			only, running = j, running+1
		}
	}
	if running == 1 {
		return only
	}
	declared := g.series[m.workload].Variants
	targets := slices.Clone(m.targets)
	for j := range w.Variants {
		if labels, ok := declared[w.Variants[j].Name]; ok {
			if labels.matches(series) {
				return j
			}
			targets[j] = ""
		}
	}
	place, _ := longestTarget(targets, name)
	return place
}

// confuse remembers that nothing tells workloads apart.
func (g *group) confuse(owners []int) {
	key := fmt.Sprint(owners)
	if g.ambiguous[key] != nil {
		return
	}
	places := make([]int, len(owners))
	for i, k := range owners {
		places[i] = g.index.members[k].workload
		g.of(places[i]).ambiguous = true
	}
	g.ambiguous[key] = places
}

// ambiguities says in words which workloads nothing tells apart.
func (g *group) ambiguities(fleet *planner.Fleet) []string {
	var all []string
	for _, places := range g.ambiguous {
		names := make([]string, len(places))
		for i, place := range places {
			names[i] = fleet.Workloads[place].QualifiedName()
		}
		slices.Sort(names)
		all = append(all, fmt.Sprintf("%s reports series that are of any of %s: give them selectors that differ", g.engine.name, strings.Join(names, ", ")))
	}
	slices.Sort(all)
	return all
}
