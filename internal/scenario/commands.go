package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// command is one line of a script.
type command struct {
	// usage are its arguments.
	usage string
	run   func(*Script, []string) error
}

var commands = map[string]command{
	"tick":        {"[CYCLES | DURATION]", (*Script).runTick},
	"watch":       {"DURATION every DURATION", (*Script).runWatch},
	"state":       {"[WORKLOAD…]", (*Script).runState},
	"trail":       {"WORKLOAD", (*Script).runTrail},
	"demand":      {"WORKLOAD=RATE…", each((*Script).setDemand)},
	"waiting":     {"WORKLOAD=REQUESTS…", each((*Script).setWaiting)},
	"drop":        {"WORKLOAD=REQUESTS…", each((*Script).drop)},
	"lengths":     {"WORKLOAD=INPUT/OUTPUT|missing|declared…", each((*Script).setLengths)},
	"metrics":     {"WORKLOAD=WHAT…", each((*Script).setMetrics)},
	"profile":     {"WORKLOAD/VARIANT=declared|missing…", each((*Script).setProfile)},
	"scale":       {"WORKLOAD/VARIANT=REPLICAS…", each((*Script).scale)},
	"race":        {"WORKLOAD/VARIANT=REPLICAS…", (*Script).race},
	"lose":        {"POOL=DEVICES…", each((*Script).lose)},
	"return":      {"POOL=DEVICES…", each((*Script).giveBack)},
	"startup":     {"WORKLOAD/VARIANT=DURATION|never…", each((*Script).setStartup)},
	"restart":     {"WORKLOAD/VARIANT=REPLICAS…", each((*Script).restartReplicas)},
	"termination": {"DURATION", (*Script).setTermination},
	"fail":        {"catalog|metrics|actuator…", (*Script).fail},
	"mend":        {"catalog|metrics|actuator…", (*Script).mend},
	"pause":       {"WORKLOAD [for DURATION] [REASON]", (*Script).pause},
	"resume":      {"WORKLOAD…", (*Script).resume},
	"failover":    {"[forgetful]", (*Script).failover},
}

// each runs a command for every argument of the form KEY=VALUE.
func each(run func(s *Script, key, value string) error) func(*Script, []string) error {
	return func(s *Script, args []string) error {
		if len(args) == 0 {
			return errors.New("no argument")
		}
		for _, arg := range args {
			key, value, ok := strings.Cut(arg, "=")
			if !ok {
				return fmt.Errorf("%q has no =", arg)
			}
			if err := run(s, key, value); err != nil {
				return err
			}
		}
		return nil
	}
}

// mostCycles is more than two weeks.
const mostCycles = 100_000

// cycles reads a number of cycles, or a duration of so many.
func (s *Script) cycles(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		var d time.Duration
		if d, err = time.ParseDuration(text); err != nil || d%s.cycle != 0 {
			return 0, fmt.Errorf("%q is neither a number nor a multiple of the cycle of %s", text, s.cycle)
		}
		n = int(d / s.cycle)
	}
	if n < 1 || n > mostCycles {
		return 0, fmt.Errorf("%d cycles are not between 1 and %d", n, mostCycles)
	}
	return n, nil
}

// runTick lets cycles pass and prints what is new in each.
func (s *Script) runTick(args []string) error {
	n, err := 1, error(nil)
	if len(args) > 0 {
		n, err = s.cycles(args[0])
	}
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return errors.New("too many arguments")
	}
	for range n {
		if err := s.tick(); err != nil {
			return err
		}
	}
	s.flush()
	return nil
}

// runWatch lets cycles pass and prints a table in place of what is new.
func (s *Script) runWatch(args []string) error {
	if len(args) != 3 || args[1] != "every" {
		return errors.New("no such table")
	}
	n, err := s.cycles(args[0])
	if err != nil {
		return err
	}
	step, err := s.cycles(args[2])
	if err != nil {
		return err
	}
	s.silent = true
	defer func() { s.silent = false }()
	lines, changed := []string{strings.Join(s.header(), "\t")}, 0
	for k := range n {
		if err := s.tick(); err != nil {
			return err
		}
		changed += len(s.last.Decision.Changes)
		if (k+1)%step == 0 {
			lines = append(lines, strings.Join(s.row(changed), "\t"))
			changed = 0
		}
	}
	table := tabwriter.NewWriter(&s.out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, strings.Join(lines, "\n")); err != nil {
		return err
	}
	return table.Flush()
}

func (s *Script) runState(args []string) error {
	for i := range s.cluster.fleet.Workloads {
		if len(args) == 0 || slices.Contains(args, s.cluster.fleet.Workloads[i].QualifiedName()) {
			s.printState(i)
		}
	}
	for _, name := range args {
		if _, err := s.cluster.findWorkload(name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Script) runTrail(args []string) error {
	if len(args) != 1 {
		return errors.New("not one workload")
	}
	if _, err := s.cluster.findWorkload(args[0]); err != nil {
		return err
	}
	s.printTrail(args[0])
	return nil
}

func (s *Script) setDemand(name, value string) error {
	return set(s, name, value, ParseDemand, func(w *workload) *Demand { return &w.demand })
}

func (s *Script) setWaiting(name, value string) error {
	return set(s, name, value, number, func(w *workload) *float64 { return &w.waiting })
}

func (s *Script) drop(name, value string) error {
	return set(s, name, value, number, func(w *workload) *float64 { return &w.lost })
}

func (s *Script) setLengths(name, value string) error {
	w, err := s.workload(name)
	if err != nil {
		return err
	}
	if w.lengths, err = w.lengths.parse(value); err != nil {
		return err
	}
	return size(s.cluster.fleet, s.cluster.workloads)
}

func (s *Script) setMetrics(name, value string) error {
	return set(s, name, value, ParseMetrics, func(w *workload) *Metrics { return &w.metrics })
}

// set gives a field of a workload the value that a command has.
func set[T any](s *Script, name, value string, parse func(string) (T, error), field func(*workload) *T) error {
	w, err := s.workload(name)
	if err != nil {
		return err
	}
	*field(w), err = parse(value)
	return err
}

func (s *Script) setProfile(name, value string) error {
	v, err := s.variant(name)
	if err != nil {
		return err
	}
	if value != "declared" && value != "missing" {
		return fmt.Errorf("a profile is declared or missing, not %s", value)
	}
	v.profileless = value == "missing"
	return nil
}

func (s *Script) scale(name, value string) error {
	v, err := s.variant(name)
	if err != nil {
		return err
	}
	n, err := count(value)
	if err != nil {
		return err
	}
	v.asked = n
	s.cluster.settle()
	return nil
}

// race lets somebody else scale after the loop has read the cluster and before it acts.
func (s *Script) race(args []string) error {
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if _, err := s.variant(name); err != nil {
			return err
		}
		if _, err := count(value); err != nil {
			return err
		}
	}
	s.cluster.Meanwhile = func() error { return each((*Script).scale)(s, args) }
	return nil
}

func (s *Script) lose(pool, value string) error {
	n, err := count(value)
	if err != nil {
		return err
	}
	return s.cluster.Lose(pool, n)
}

func (s *Script) giveBack(pool, value string) error {
	n, err := count(value)
	if err != nil {
		return err
	}
	return s.cluster.Lose(pool, -n)
}

func (s *Script) setStartup(name, value string) error {
	v, err := s.variant(name)
	if err != nil {
		return err
	}
	if v.stuck = value == "never"; v.stuck {
		return nil
	}
	if v.startup, err = time.ParseDuration(value); err != nil || v.startup < 0 {
		return fmt.Errorf("%q is not a duration ≥ 0", value)
	}
	v.release(s.cluster.now)
	return nil
}

func (s *Script) restartReplicas(name, value string) error {
	v, err := s.variant(name)
	if err != nil {
		return err
	}
	n, err := count(value)
	if err != nil {
		return err
	}
	v.restart(n, s.cluster.now)
	return nil
}

func (s *Script) setTermination(args []string) error {
	if len(args) != 1 {
		return errors.New("not one duration")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration ≥ 0", args[0])
	}
	s.cluster.Termination = d
	return nil
}

func (s *Script) fail(args []string) error { return s.setFailing(args, true) }
func (s *Script) mend(args []string) error { return s.setFailing(args, false) }

func (s *Script) setFailing(args []string, failing bool) error {
	for _, arg := range args {
		if i := Interface(arg); i != Catalog && i != Observer && i != Actuator {
			return fmt.Errorf("no interface %q", arg)
		}
		s.cluster.Failing[Interface(arg)] = failing
	}
	return nil
}

// pause asks the loop to keep its hands off a workload.
func (s *Script) pause(args []string) error {
	if len(args) == 0 {
		return errors.New("no workload")
	}
	if _, err := s.workload(args[0]); err != nil {
		return err
	}
	pause := planner.Pause{Workload: args[0]}
	rest := args[1:]
	if len(rest) >= 2 && rest[0] == "for" {
		d, err := time.ParseDuration(rest[1])
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a duration > 0", rest[1])
		}
		pause.Until, rest = s.cluster.now.Add(d), rest[2:]
	}
	pause.Reason = strings.Join(rest, " ")
	s.pauses.Pause(pause)
	return nil
}

func (s *Script) resume(args []string) error {
	for _, name := range args {
		if _, ok := s.pauses.Resume(name); !ok {
			return fmt.Errorf("%q is not paused", name)
		}
	}
	return nil
}

// failover replaces the controller by one that knows what the ledger tells it, or
// nothing.
func (s *Script) failover(args []string) error {
	if len(args) == 1 && args[0] == "forgetful" {
		s.startLoop(planner.Memory{})
		return nil
	}
	if len(args) > 0 {
		return errors.New("it is forgetful or not")
	}
	memory, err := s.ledger.memory()
	if err != nil {
		return err
	}
	s.startLoop(memory)
	return nil
}

func (s *Script) workload(name string) (*workload, error) {
	i, err := s.cluster.findWorkload(name)
	if err != nil {
		return nil, err
	}
	return &s.cluster.workloads[i], nil
}

// variant finds WORKLOAD/VARIANT, where the workload may have a namespace.
func (s *Script) variant(name string) (*variant, error) {
	slash := strings.LastIndex(name, "/")
	if slash < 0 {
		return nil, fmt.Errorf("%q is not WORKLOAD/VARIANT", name)
	}
	i, j, err := s.cluster.find(name[:slash], name[slash+1:])
	if err != nil {
		return nil, err
	}
	return &s.cluster.workloads[i].variants[j], nil
}

// count reads a number of replicas or devices.
func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1_000_000 {
		return 0, fmt.Errorf("%q is not a number between 0 and a million", text)
	}
	return n, nil
}
