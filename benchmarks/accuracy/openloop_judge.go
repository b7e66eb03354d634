package main

import (
	"errors"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// openLoopFit is a profile and the rows that it judges: one machine's, and one
// shape's where the fit leaves that shape out.
type openLoopFit struct {
	machine string
	// prompt names the shape judged, 0 for all.
	prompt  int
	used    int
	profile queueing.Profile
	loss    float64
}

// judgeOpenLoop fits profiles and predicts every row. With lowOnly a machine has one
// profile, from rows of low load; otherwise one for each shape, from the rows of
// the other shapes and from rows of low load.
func judgeOpenLoop(rows []openLoopRow, lowOnly bool) ([]openLoopFit, error) {
	fits := openLoopFits(rows, lowOnly)
	errs := make([]error, len(fits))
	parallel(len(fits), func(i int) {
		f := &fits[i]
		var ms []measurement
		offset := 0.0
		for j := range rows {
			if r := &rows[j]; r.machine == f.machine && r.identifies(f.prompt, lowOnly) {
				ms = append(ms, r.measurement())
				offset = r.offset
			}
		}
		f.used = len(ms)
		f.profile, f.loss, errs[i] = fitProfile(ms, offset)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i := range rows {
		if err := rows[i].predict(openLoopFitOf(fits, &rows[i]).profile); err != nil {
			return nil, err
		}
	}
	return fits, nil
}

// openLoopFits lists the fits that the rows need, in the order of the rows.
func openLoopFits(rows []openLoopRow, lowOnly bool) []openLoopFit {
	var fits []openLoopFit
	for i := range rows {
		if openLoopFitOf(fits, &rows[i]) != nil {
			continue
		}
		f := openLoopFit{machine: rows[i].machine, prompt: rows[i].prompt}
		if lowOnly {
			f.prompt = 0
		}
		fits = append(fits, f)
	}
	return fits
}

// openLoopFitOf returns the fit that judges a row, nil if there is none.
func openLoopFitOf(fits []openLoopFit, r *openLoopRow) *openLoopFit {
	for i := range fits {
		if f := &fits[i]; f.machine == r.machine && (f.prompt == 0 || f.prompt == r.prompt) {
			return f
		}
	}
	return nil
}

// optimism returns by how much the predicted sustainable rate exceeds the row's, for its
// mean TTFT. Of a row that is not judged by its mean only the interval is known: there
// it is the least excess over TTFTs in the interval, that at its lower end. A right
// model can do no better, since the rate at the upper end is higher than the row's.
func (r *openLoopRow) optimism() float64 {
	if r.precise() {
		return relative(r.capacity, r.rate)
	}
	return relative(r.capacityLower, r.rate)
}

// mostOptimistic returns the largest excess over all rows below saturation, bursty
// ones included.
func mostOptimistic(rows []openLoopRow, excess func(*openLoopRow) float64) float64 {
	most := math.Inf(-1)
	for i := range rows {
		if r := &rows[i]; r.load < 1 {
			most = max(most, excess(r))
		}
	}
	return most
}
