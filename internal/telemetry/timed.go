package telemetry

import (
	"context"
	"time"

	"github.com/poolwright/poolwright/controller"
)

// Stages of a cycle. What is left of its duration is planning.
const (
	read    = "read"
	observe = "observe"
	plan    = "plan"
	act     = "act"
	record  = "record"
	publish = "publish"
)

// Timed is a controller's configuration in which what it waits for is timed.
func (l *Loop) Timed(c controller.Config) controller.Config {
	return c.Around(func(ctx context.Context, p controller.Part) (context.Context, func(error)) {
		began := time.Now()
		return ctx, func(error) { l.spend(stageOf(p), began) }
	})
}

func stageOf(p controller.Part) string {
	switch p {
	case controller.PartRead:
		return read
	case controller.PartObserve:
		return observe
	case controller.PartApply:
		return act
	default:
		return record
	}
}

// Publish times what is written about a cycle once it is recorded.
func (l *Loop) Publish(write func()) {
	defer l.spend(publish, time.Now())
	write()
}

// spend adds the time since a stage began.
func (l *Loop) spend(stage string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent[stage] += time.Since(began)
}

// countStages counts what a cycle's parts took, and begins anew.
func (l *Loop) countStages(took time.Duration) {
	for _, stage := range []string{read, observe, act, record, publish} {
		l.stages.WithLabelValues(stage).Observe(l.spent[stage].Seconds())
		took -= l.spent[stage]
	}
	l.stages.WithLabelValues(plan).Observe(max(0, took).Seconds())
	clear(l.spent)
}
