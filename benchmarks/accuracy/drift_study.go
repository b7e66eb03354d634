package main

import (
	"github.com/poolwright/poolwright/simulation/replica"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// driftSeeds is the number of courses of generated traffic.
const driftSeeds = 8

// driftStudy compares windowed predictions with a simulation of generated traffic.
func driftStudy(options) (*study, error) {
	var points []tracePoint
	for seed := range uint64(driftSeeds) {
		course, err := judgeCourse(seed)
		if err != nil {
			return nil, err
		}
		points = append(points, course...)
	}
	t := table.Table{Title: "Errors by replica and load over all courses, %", Columns: table.Columns("replica", "load",
		"TTFT, median", "largest", "bias", "median window", "stationary, bias", "ITL, median", "largest", "bias", "median window")}
	each := len(points) / driftSeeds
	for i := range each {
		var c courses
		for j := i; j < len(points); j += each {
			c.add(&points[j])
		}
		t.Add(c.row(points[i].replica.name, points[i].load)...)
	}
	judged, err := targeted(points)
	return &study{
		title: "Generated drifting traffic", about: driftAbout, tables: []table.Table{t}, details: []table.Table{windowTable(points)},
		targets: []target{
			{"TTFT of β and κ, median", judged.ttft.quantile(0.5), mostTTFTError},
			{"ITL of β and κ, largest", judged.itl.quantile(1), mostITLError},
		},
	}, err
}

// judgeCourse judges all replicas at all loads under one course of traffic.
func judgeCourse(seed uint64) ([]tracePoint, error) {
	example, err := driftingTrace(seed, 1)
	if err != nil {
		return nil, err
	}
	var points []tracePoint
	for _, r := range tracedReplicas(example) {
		saturation, err := traceSaturation(r.replica, example)
		if err != nil {
			return nil, err
		}
		points = append(points, judgeLoads(r, func(load float64) ([]replica.Request, error) {
			return driftingTrace(seed, load*saturation)
		})...)
	}
	return points, nil
}

// courses are the errors for one replica and load under all courses.
type courses struct {
	ttft, itl, stationary     deviations
	ttftByWindow, itlByWindow deviations
}

func (c *courses) add(p *tracePoint) {
	c.ttft = append(c.ttft, p.ttft)
	c.itl = append(c.itl, p.itl)
	c.stationary = append(c.stationary, p.ttftStationary)
	c.ttftByWindow = append(c.ttftByWindow, p.ttftByWindow...)
	c.itlByWindow = append(c.itlByWindow, p.itlByWindow...)
}

func (c *courses) row(name string, load float64) []string {
	return []string{
		name, format(load),
		percent(c.ttft.quantile(0.5)), percent(c.ttft.quantile(1)), signedPercent(c.ttft.bias()),
		percent(c.ttftByWindow.quantile(0.5)), signedPercent(c.stationary.bias()),
		percent(c.itl.quantile(0.5)), percent(c.itl.quantile(1)), signedPercent(c.itl.bias()),
		percent(c.itlByWindow.quantile(0.5)),
	}
}

const driftAbout = `A quarter of an hour of generated traffic whose rate and lengths drift, with bursts of a minute and log-normal lengths,
eight courses. ` + windowAbout
