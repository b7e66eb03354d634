package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Script runs commands against one cluster and the loop that looks after it. Its clock
// starts at midnight.
type Script struct {
	cluster *Cluster
	loop    *controller.Controller
	pauses  *controller.Pauses
	ledger  *ledger
	cycle   time.Duration
	last    controller.Entry
	// conditions are those of the last cycle, and failure is what failed in it.
	conditions map[string]map[planner.ConditionType]bool
	failure    string
	// quiet is the number of cycles that nothing was said of; silent says nothing of any.
	quiet  int
	silent bool
	out    strings.Builder
}

// midnight is when every story begins.
var midnight = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// New returns a script with an empty cluster.
func New() *Script {
	s := &Script{
		cluster: NewCluster(midnight), pauses: &controller.Pauses{}, ledger: &ledger{}, cycle: planner.DefaultCycle,
	}
	s.startLoop(planner.Memory{})
	return s
}

// startLoop replaces the controller by a new one.
func (s *Script) startLoop(memory planner.Memory) {
	s.loop = controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: s.cluster, Observer: s.cluster, Actuator: s.cluster,
		Pauses: s.pauses, Ledger: s.ledger, Memory: memory,
	})
}

// ledger keeps what the last cycle was decided from.
type ledger struct {
	before planner.Memory
	last   controller.Entry
}

// Checkpoint implements [controller.Ledger].
func (l *ledger) Checkpoint(m planner.Memory) (planner.Memory, error) {
	l.before = m
	return m, nil
}

// Intend implements [controller.Ledger].
func (*ledger) Intend(uint64, []planner.Change) error { return nil }

// Append implements [controller.Ledger].
func (l *ledger) Append(e controller.Entry) error {
	l.last = e
	return nil
}

// memory is what a controller remembers that makes the last decision again.
func (l *ledger) memory() (planner.Memory, error) {
	_, memory, err := planner.New(lp.Simplex()).Plan(l.last.Snapshot, l.before, nil)
	return memory, err
}

// Run runs the commands of a block, one a line, and returns what they print. In a block
// that begins with "fleet" the rest is a fleet file. The error names the command that
// nothing is run after.
func (s *Script) Run(block string) (string, error) {
	s.out.Reset()
	first, rest, _ := strings.Cut(block, "\n")
	if strings.TrimSpace(first) == "fleet" {
		return "", s.declare(rest)
	}
	for line := range strings.Lines(block) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := s.command(fields[0], fields[1:]); err != nil {
			return s.out.String(), fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
	}
	s.flush()
	return s.out.String(), nil
}

// Commands lists the commands, by name.
func Commands() []string {
	names := append(slices.Collect(maps.Keys(commands)), "fleet")
	slices.Sort(names)
	return names
}

func (s *Script) command(name string, args []string) error {
	c, ok := commands[name]
	if !ok {
		return fmt.Errorf("no such command; there are %s", strings.Join(Commands(), ", "))
	}
	if err := c.run(s, args); err != nil {
		return fmt.Errorf("%w (usage: %s %s)", err, name, c.usage)
	}
	return nil
}

// declare reads a fleet file.
func (s *Script) declare(text string) error {
	m := &poolwrightv1.Fleet{}
	if err := document.UnmarshalYAML([]byte(text), m); err != nil {
		return fmt.Errorf("fleet: %w", message.Complete(m, err))
	}
	fleet, err := message.Fleet(m)
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	if fleet.Control.Cycle > 0 {
		s.cycle = fleet.Control.Cycle
	}
	return s.cluster.Declare(fleet)
}

// Last is what the loop did in the last cycle.
func (s *Script) Last() controller.Entry { return s.last }

// tick lets one cycle pass, then lets the loop decide.
func (s *Script) tick() error {
	s.cluster.Advance(s.cycle)
	s.cluster.Paused = map[string]bool{}
	for _, p := range s.pauses.At(s.cluster.Now()) {
		s.cluster.Paused[p.Workload] = true
	}
	entry, err := s.loop.Tick(context.Background(), s.cluster.Now(), nil)
	if err != nil && !errors.Is(err, errUnreachable) {
		return fmt.Errorf("at %s: %w", s.clock(), err)
	}
	s.last = entry
	s.report(err)
	if err := Check(s.cluster.before, &entry.Decision, s.cluster.changes, s.cluster.view()); err != nil {
		return fmt.Errorf("at %s: %w", s.clock(), err)
	}
	return nil
}

// clock is the time of the story.
func (s *Script) clock() string {
	since := s.cluster.Now().Sub(midnight)
	days, rest := since/(24*time.Hour), since%(24*time.Hour)
	text := time.Time{}.Add(rest).Format(time.TimeOnly)
	if days > 0 {
		text = fmt.Sprintf("%dd %s", days, text)
	}
	return text
}
