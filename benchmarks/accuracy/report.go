package main

import (
	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// newReport is what the page of all benchmarks says of studies.
func newReport(studies []*study) *report.Report {
	r := &report.Report{
		Title: "Accuracy", Page: documentFile,
		About: "Errors of the queueing model against measurements and simulators, relative, predicted over observed − 1.",
	}
	for _, s := range studies {
		for _, t := range s.targets {
			x := report.AtMost(s.title+": "+t.name, 100*t.measured, 100*t.bound, " %")
			r.Targets = append(r.Targets, x)
		}
		r.Standings = append(r.Standings, s.standings...)
	}
	return r
}
