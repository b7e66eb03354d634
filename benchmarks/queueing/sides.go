package main

import (
	"github.com/poolwright/poolwright/benchmarks/baseline"
	"github.com/poolwright/poolwright/queueing"
)

// kind is what both sides are asked to do.
type kind int

const (
	evaluate kind = iota
	capacity
	newEvaluate
	newCapacity
	kinds
)

func (k kind) String() string {
	return [kinds]string{"Evaluate", "Capacity", "NewStation + Evaluate", "NewStation + Capacity"}[k]
}

// task is one thing that both sides do. Each call answers all questions of a cell.
type task struct {
	theirs, ours func() error
	questions    int
}

// tasks returns what is compared: evaluation and sizing, each with the replica
// prepared beforehand and with preparing it anew for each question.
func (c *cell) tasks() (tasks [kinds]task, err error) {
	theirs, err := baseline.New(c.baseline)
	if err != nil {
		return tasks, err
	}
	ours, err := queueing.NewStation(c.replica, c.load)
	if err != nil {
		return tasks, err
	}
	prepared := pair{
		theirs: func() (*baseline.Analyzer, error) { return theirs, nil },
		ours:   func() (*queueing.Station, error) { return ours, nil },
	}
	anew := pair{
		theirs: func() (*baseline.Analyzer, error) { return baseline.New(c.baseline) },
		ours:   func() (*queueing.Station, error) { return queueing.NewStation(c.replica, c.load) },
	}
	return [kinds]task{
		evaluate:    c.evaluation(prepared),
		capacity:    c.sizing(prepared),
		newEvaluate: c.evaluation(anew),
		newCapacity: c.sizing(anew),
	}, nil
}

// pair says how each side comes by a prepared replica.
type pair struct {
	theirs func() (*baseline.Analyzer, error)
	ours   func() (*queueing.Station, error)
}

func (c *cell) evaluation(p pair) task {
	return task{
		questions: len(c.rates),
		theirs: func() error {
			for _, rate := range c.rates {
				a, err := p.theirs()
				if err != nil {
					return err
				}
				if _, err := a.Analyze(float32(rate)); err != nil {
					return err
				}
			}
			return nil
		},
		ours: func() error {
			for _, rate := range c.rates {
				s, err := p.ours()
				if err != nil {
					return err
				}
				s.Evaluate(rate)
			}
			return nil
		},
	}
}

func (c *cell) sizing(p pair) task {
	return task{
		questions: len(c.objectives),
		theirs: func() error {
			for _, o := range c.objectives {
				a, err := p.theirs()
				if err != nil {
					return err
				}
				if _, err := a.Size(o.targets); err != nil {
					return err
				}
			}
			return nil
		},
		ours: func() error {
			for _, o := range c.objectives {
				s, err := p.ours()
				if err != nil {
					return err
				}
				if _, err := s.Capacity(o.slo); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
