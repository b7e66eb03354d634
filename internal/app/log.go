package app

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// LogConfig says how serve logs.
type LogConfig struct {
	// Format is "text" or "json"; empty = text, and for people what a simulated fleet does.
	Format string
	Level  slog.Level
}

// logger writes to out.
func (c LogConfig) logger(out io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: c.Level}
	switch c.Format {
	case "", "text":
		return slog.New(slog.NewTextHandler(out, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return nil, &InputError{fmt.Errorf("--log-format: %q is neither text nor json", c.Format)}
}

// decisionLog logs what a loop decides: what it would say in every cycle, such as what is
// recommended and nobody does, only where the last cycle did not.
type decisionLog struct {
	log  *slog.Logger
	said news
}

// report logs a cycle.
func (l *decisionLog) report(e *controller.Entry) {
	d, log := &e.Decision, l.log.With("sequence", e.Sequence)
	log.Info("decided", "workloads", len(d.Plans), "changes", len(d.Changes), "dropped", len(e.Dropped), "pricePerHour", d.PricePerHour)
	l.said.begin()
	for _, c := range d.Changes {
		if l.said.add(changed(&c)) {
			log.Info("change", "workload", c.Workload, "variant", c.Variant, "from", c.From, "to", c.To, "goal", c.Goal, "reason", c.InWords())
		}
	}
	for _, dropped := range e.Dropped {
		c := dropped.Change
		if l.said.add(changed(&c) + " dropped") {
			log.Warn("change dropped", "workload", c.Workload, "variant", c.Variant, "from", c.From, "to", c.To, "reason", dropped.Reason)
		}
	}
	if e.Failure != "" && l.said.add(e.Failure) {
		log.Error("not all was done", "error", e.Failure)
	}
}

// changed names a change without its reason, whose numbers differ from cycle to cycle.
func changed(c *planner.Change) string {
	return fmt.Sprintf("%s %s %d %d", c.Workload, c.Variant, c.From, c.To)
}
