package main

import (
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// own is the time per question of the default model, which has no counterpart:
// it answers for quantiles and for variation that the family does not know.
type own struct {
	batch, places                            int
	prepare, evaluate, meanLimits, tailLimit time.Duration
}

// measureOwn times the default model over the sizes of the grid.
func measureOwn(e effort) ([]own, error) {
	var all []own
	for _, batch := range batches() {
		for _, places := range queues(batch) {
			o, err := measureOwnAt(batch, places, e)
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
	}
	return all, nil
}

func measureOwnAt(batch, places int, e effort) (own, error) {
	replica := queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Gamma: 0.004, Delta: 0.0000024},
		MaxBatch: batch,
		MaxQueue: queueing.Waiting{Limited: true, Places: places},
	}
	load := queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}
	station, err := queueing.NewStation(replica, load)
	if err != nil {
		return own{}, err
	}
	reached := station.Evaluate(0.9 * station.SaturationRate())
	mean := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Value: float64(reached.TTFT.Mean())},
		{Metric: queueing.ITL, Value: float64(reached.ITL.Mean())},
	}}
	tail := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: float64(reached.TTFT.Quantile(0.95))},
	}}
	o := own{batch: batch, places: places}
	step := 0
	for _, timed := range []struct {
		result *time.Duration
		call   func() error
	}{
		{&o.prepare, func() error { _, err := queueing.NewStation(replica, load); return err }},
		{&o.evaluate, func() error {
			step = step%16 + 1
			station.Evaluate(station.SaturationRate() * queueing.Rate(step) / 16)
			return nil
		}},
		{&o.meanLimits, func() error { _, err := station.Capacity(mean); return err }},
		{&o.tailLimit, func() error { _, err := station.Capacity(tail); return err }},
	} {
		if *timed.result, err = medianTime(timed.call, e); err != nil {
			return own{}, err
		}
	}
	return o, nil
}

func medianTime(call func() error, e effort) (time.Duration, error) {
	calls, err := callsIn(e.turn, call)
	if err != nil {
		return 0, err
	}
	var all []float64
	for range e.repeats {
		seconds, err := secondsPerCall(calls, call)
		if err != nil {
			return 0, err
		}
		all = append(all, seconds)
	}
	return time.Duration(median(all) * float64(time.Second)), nil
}
