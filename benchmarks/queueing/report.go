package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
)

// target is a lowest ratio that package queueing is meant to reach.
type target struct {
	kind  kind
	ratio float64
	where string
	match func(*cell) bool
}

func targets() []target {
	everywhere := func(*cell) bool { return true }
	largest := func(c *cell) bool { return c.batch == 256 }
	return []target{
		{evaluate, 10, "B = 256", largest},
		{capacity, 50, "B = 256", largest},
		{evaluate, 1, "everywhere", everywhere},
		{capacity, 1, "everywhere", everywhere},
		{newEvaluate, 1, "everywhere", everywhere},
		{newCapacity, 1, "everywhere", everywhere},
	}
}

// report returns the page.
func report(results []result, owns []own, e effort) string {
	var page strings.Builder
	writeHead(&page, e)
	writeTargets(&page, results, owns)
	writeWorst(&page, results)
	writeOwn(&page, owns)
	for k := range kinds {
		writeCells(&page, results, k)
	}
	return page.String()
}

func writeHead(page *strings.Builder, e effort) {
	fmt.Fprintf(page, `# Benchmarks: queueing

Written by `+"`make bench-queueing`"+` on %s. Machine: %s.

The time of package `+"`queueing`"+` beside that of the formulation that it replaces,
`+"`benchmarks/baseline`"+`: the queueing algorithm of the llm-d/inferno family, written anew, which walks
over all B+Q states and sizes by bisection until the latency is within 1e-6 of its target or, where single precision
can't come that close, a hundred evaluations are spent. Both get equal questions, and answer them equally to 1e-4; only
then are they timed, in turn, in one process. A ratio is the baseline's time over ours, the median of %d turns of %v
each. Above 1 we are faster.

B is the batch limit, Q the number of waiting places. V1, V2 and V3 are the family's service models. A chat
request has 512 input and 256 output tokens, a summary 4096 and 64. Evaluate is asked for 16 rates from light load to
0.9989 of saturation, Capacity for four objectives, each of a mean TTFT and a mean ITL.
"NewStation +" prepares the replica anew for each question, on both sides; otherwise it is prepared once and the
time of that is not counted.

`, time.Now().UTC().Format(time.DateOnly), machine.Describe(), e.repeats, e.turn)
}

func writeTargets(page *strings.Builder, results []result, owns []own) {
	page.WriteString("## Targets\n\n| what | where | wanted | worst measured | |\n|---|---|---|---|---|\n")
	for _, t := range targets() {
		reached := worst(results, t.kind, t.match)
		fmt.Fprintf(page, "| %s | %s | ≥ %g | %.3g | %s |\n",
			t.kind, t.where, t.ratio, reached, verdict(reached >= t.ratio))
	}
	for _, k := range []kind{evaluate, capacity} {
		most := 0.0
		for _, r := range results {
			most = max(most, r.allocations[k])
		}
		fmt.Fprintf(page, "| allocations of %s | everywhere | 0 | %g | %s |\n", k, most, verdict(most == 0))
	}
	const longest = 20 * time.Microsecond
	var slowest time.Duration
	for _, o := range owns {
		if o.batch == 256 {
			slowest = max(slowest, o.meanLimits, o.tailLimit)
		}
	}
	fmt.Fprintf(page, "| time of Capacity, default model | B = 256 | ≤ %s | %s | %s |\n",
		microseconds(longest), microseconds(slowest), verdict(slowest <= longest))
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "**missed**"
}

func writeWorst(page *strings.Builder, results []result) {
	page.WriteString("\n## Worst ratio over models and shapes\n\n" +
		"| B | Q | Evaluate | Capacity | NewStation + Evaluate | NewStation + Capacity |\n|---|---|---|---|---|---|\n")
	for _, batch := range batches() {
		for _, places := range queues(batch) {
			here := func(c *cell) bool { return c.batch == batch && c.places == places }
			fmt.Fprintf(page, "| %d | %d |", batch, places)
			for k := range kinds {
				fmt.Fprintf(page, " %.3g |", worst(results, k, here))
			}
			page.WriteString("\n")
		}
	}
}

func writeCells(page *strings.Builder, results []result, k kind) {
	fmt.Fprintf(page, "\n## %s\n\n| B | Q | model | shape | baseline | ours | ratio | lowest | highest | our allocations |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n", k)
	for _, r := range results {
		c, t := r.cell, r.contests[k]
		fmt.Fprintf(page, "| %d | %d | %s | %s | %s | %s | %.3g | %.3g | %.3g | %g |\n", c.batch, c.places, c.model, c.shape,
			microseconds(t.theirs), microseconds(t.ours), t.ratio, t.least, t.most, r.allocations[k])
	}
}

func writeOwn(page *strings.Builder, owns []own) {
	page.WriteString(`
## The default model

It has no counterpart: it answers for quantiles, bursts and varying lengths as well. Its times for a chat request
with variation, at the same sizes, with limits that are reached at 0.9 of saturation:

| B | Q | NewStation | Evaluate | Capacity, mean TTFT and ITL | Capacity, p95 of TTFT |
|---|---|---|---|---|---|
`)
	for _, o := range owns {
		fmt.Fprintf(page, "| %d | %d | %s | %s | %s | %s |\n", o.batch, o.places,
			microseconds(o.prepare), microseconds(o.evaluate), microseconds(o.meanLimits), microseconds(o.tailLimit))
	}
}

func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
}
