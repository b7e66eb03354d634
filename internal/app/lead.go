package app

import (
	"context"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/internal/election"
)

const (
	// recallLimit is how long a leader takes to remember before it plans.
	recallLimit = 2 * time.Second
	// endLimit is how long a cycle may go on when the process is to end.
	endLimit = 10 * time.Second
)

// begin returns the term that begins: the last one, where nobody else has led since, or a
// new one.
func (l *clusterLoop) begin(mandate *election.Mandate) (*term, error) {
	if l.last != nil && mandate.Again {
		l.last.mandate = mandate
		return l.last, nil
	}
	t := &term{clusterLoop: l, mandate: mandate, decisions: decisionLog{log: l.log}}
	if err := t.observe(); err != nil {
		return nil, err
	}
	config := controller.Config{
		Planner: l.planner, Catalog: l.catalog, Observer: t, Actuator: t, History: l.people.History, Pauses: l.people.Pauses,
		Sequence: l.sequence,
	}
	if err := l.resume(&config); err != nil {
		l.log.Error("not all of the ledger is remembered", "error", err)
	}
	t.cycle = newCycle(config, l.metrics, &l.pulse, l.traces, l.precedence, t.decided)
	l.last = t
	return t, nil
}

// resume lets a controller go on where the ledger ends. Without one, or where it cannot be
// read, it goes on with what the cluster says.
func (l *clusterLoop) resume(config *controller.Config) error {
	if l.ledgers.Path == "" {
		return nil
	}
	if err := l.close(); err != nil {
		return err
	}
	began := time.Now()
	w, found, err := ledger.Open(l.ledgers)
	if err != nil {
		return err
	}
	l.ledger, config.Ledger = w, w
	config.Sequence = max(config.Sequence, found.Sequence)
	if torn := cutOff(found); torn != "" {
		l.log.Warn("the ledger was cut off", "where", torn)
	}
	recalled, err := w.Recall(l.planner, func() bool { return time.Since(began) > recallLimit })
	config.Memory = recalled.Memory
	l.people.Replace(recalled.Paused)
	l.log.Info("the ledger goes on", "sequence", found.Sequence, "workloads", len(recalled.Memory.Workloads),
		"paused", len(recalled.Paused), "took", time.Since(began))
	return err
}

// close ends the ledger.
func (l *clusterLoop) close() error {
	w := l.ledger
	l.ledger = nil
	if w == nil {
		return nil
	}
	return w.Close()
}

// lead plans until ctx ends, which it does with the lease. A cycle that runs then is brought to
// its end while the lease is held.
func (l *clusterLoop) lead(ctx, held context.Context, mandate *election.Mandate) error {
	defer l.leader.resigned()
	defer func() { l.past.Store(l.sequence) }()
	t, err := l.begin(mandate)
	if err != nil {
		return err
	}
	defer l.metrics.Rest()
	l.pulse.lead(time.Now())
	defer l.pulse.lead(time.Time{})
	held, cancel := context.WithCancel(held)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(endLimit, cancel) })()
	every := l.settings.config.Cycle
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		t.follow()
		if now := l.settings.config.Cycle; now != every {
			every = now
			ticker.Reset(every)
		}
		t.run(held)
		select {
		case <-ctx.Done():
			t.end()
			return nil
		case <-ticker.C:
		}
	}
}

// end writes down what the next leader is to go on with.
func (t *term) end() {
	if t.ledger == nil || t.mandate.Valid() != nil {
		return
	}
	t.ledger.Restart()
	if err := t.cycle.controller.Checkpoint(); err != nil {
		t.log.Error("the ledger does not end with a checkpoint", "error", err)
	}
}
