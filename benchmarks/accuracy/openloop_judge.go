package main

import (
	"runtime"
	"sync"

	"github.com/poolwright/poolwright/queueing"
)

// openLoopFit is a profile and the rows that it judges: one machine's, and one
// shape's where the fit leaves that shape out.
type openLoopFit struct {
	machine string
	// prompt is the shape judged, 0 for all.
	prompt  int
	used    int
	profile queueing.Profile
	loss    float64
}

// judgedRow is a row with its prediction.
type judgedRow struct {
	openLoopRow
	predicted queueing.Performance
	// capacity is the rate at which the predicted mean TTFT is the row's, and at the
	// upper end of the row's interval.
	capacity, capacityUpper float64
}

// judgeOpenLoop fits profiles and predicts every row. With lowOnly a machine has one
// profile, from rows of low load; otherwise one for each shape, from the rows of
// the other shapes and from rows of low load.
func judgeOpenLoop(rows []openLoopRow, lowOnly bool) ([]openLoopFit, []judgedRow, error) {
	fits := openLoopFits(rows, lowOnly)
	errs := make([]error, len(fits))
	parallel(len(fits), func(i int) {
		f := &fits[i]
		var ms []measurement
		offset := 0.0
		for j := range rows {
			if r := &rows[j]; r.machine() == f.machine && r.identifies(f.prompt, lowOnly) {
				ms = append(ms, r.measurement())
				offset = r.offset
			}
		}
		f.used = len(ms)
		f.profile, f.loss, errs[i] = fitProfile(ms, offset)
	})
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	judged := make([]judgedRow, len(rows))
	for i := range rows {
		var err error
		if judged[i], err = judge(rows[i], fits); err != nil {
			return nil, nil, err
		}
	}
	return fits, judged, nil
}

// openLoopFits lists the fits that the rows need, in the order of the rows.
func openLoopFits(rows []openLoopRow, lowOnly bool) []openLoopFit {
	var fits []openLoopFit
	for i := range rows {
		if openLoopFitOf(fits, &rows[i]) != nil {
			continue
		}
		f := openLoopFit{machine: rows[i].machine(), prompt: rows[i].prompt()}
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
		if f := &fits[i]; f.machine == r.machine() && (f.prompt == 0 || f.prompt == r.prompt()) {
			return f
		}
	}
	return nil
}

func judge(r openLoopRow, fits []openLoopFit) (judgedRow, error) {
	j := judgedRow{openLoopRow: r}
	s, err := r.station(openLoopFitOf(fits, &r).profile)
	if err != nil {
		return j, err
	}
	j.predicted = s.Evaluate(queueing.Rate(r.rate))
	if j.capacity, err = sustained(s, r.ttft.mean); err != nil {
		return j, err
	}
	j.capacityUpper, err = sustained(s, r.ttft.mean+r.ttftInterval)
	return j, err
}

// sustained returns the highest rate at which the mean TTFT is at most a limit.
func sustained(s *queueing.Station, limit float64) (float64, error) {
	c, err := s.Capacity(queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Value: limit}}})
	return float64(c.Rate), err
}

// parallel calls f for 0 … n-1 on all processors and returns when all are done.
func parallel(n int, f func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// judgedMetric is a quantity that rows are judged by.
type judgedMetric struct {
	name string
	// error returns the relative error of a row.
	error func(*judgedRow) float64
}

func openLoopMetrics() []judgedMetric {
	quantile := func(l *queueing.Latency, q float64) float64 { return float64(l.Quantile(q)) }
	return []judgedMetric{
		{"ITL mean", func(r *judgedRow) float64 { return relative(float64(r.predicted.ITL.Mean()), r.itl.mean) }},
		{"ITL p95", func(r *judgedRow) float64 { return relative(quantile(&r.predicted.ITL, 0.95), r.itl.p95) }},
		{"TTFT mean", func(r *judgedRow) float64 { return relative(float64(r.predicted.TTFT.Mean()), r.ttft.mean) }},
		{"TTFT p50", func(r *judgedRow) float64 { return relative(quantile(&r.predicted.TTFT, 0.5), r.ttft.p50) }},
		{"TTFT p95", func(r *judgedRow) float64 { return relative(quantile(&r.predicted.TTFT, 0.95), r.ttft.p95) }},
		{"TTFT p99", func(r *judgedRow) float64 { return relative(quantile(&r.predicted.TTFT, 0.99), r.ttft.p99) }},
		{"batch", func(r *judgedRow) float64 { return relative(r.predicted.Running, r.batch) }},
		{"rate", func(r *judgedRow) float64 { return relative(r.capacity, r.rate) }},
	}
}
