package simulation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Autoscaler changes the replicas of a cluster that it was made for.
type Autoscaler interface {
	// Interval is the time between calls of Scale, the first of which comes one interval
	// after the start.
	Interval() time.Duration
	// Scale looks at the cluster and changes replicas. An error ends the simulation.
	Scale(ctx context.Context, now time.Time) error
}

// Cluster is a fleet in virtual time: what Kubernetes, its gateway and its replicas are to
// whoever scales them. It is for one goroutine.
//
// Of what happens at one moment, what happens to the fleet comes first, then arrivals, then
// iterations of replicas.
type Cluster struct {
	config    Config
	workloads []*workload
	pools     []*pool
	lines     []*line
	// now is the moment of the last event, in seconds after the start; horizon is when the
	// simulation ends.
	now, horizon float64
	// last is the moment of the last arrival.
	last     float64
	calendar calendar
	// servers are by slot, free ones nil; race is their next iterations.
	servers []*server
	slots   []int32
	race    race
	asked   int
	pending []*server
	// vacated: devices have become free that pending replicas may want.
	vacated  bool
	requests table
	timeout  float64

	routing, starting *rand.Rand
	disruptions       []disruption

	// open are the windows whose requests have not all ended, current the one under way.
	windows      int
	windowLength float64
	windowBegan  float64
	open         []*openWindow
	current      *openWindow
	each         func(Window)

	autoscaler Autoscaler
	ticks      int
	context    context.Context //nolint:containedctx // that of the one call of Run
	failure    error
	ran        bool
	observer   observer
}

// never is the moment of what does not come.
var never = math.Inf(1)

// workload is a workload, its replicas and its requests.
type workload struct {
	config   *planner.Workload
	limits   Limits
	variants []*variant
	// entry is where requests are served whole or prefilled, decode where they go then.
	entry, decode *line
	demand        demand
}

// Streams of random numbers.
const (
	routingStream = iota
	startupStream
	disruptionStream // and those after it
)

// New returns a cluster at its start. The error says everything that is wrong with the
// configuration, each with its path.
func New(config Config) (*Cluster, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Window == 0 {
		config.Window = defaultWindow
	}
	if config.Gateway.Timeout == 0 {
		config.Gateway.Timeout = defaultTimeout
	}
	c := &Cluster{
		config: config, windowLength: config.Window.Seconds(), timeout: config.Gateway.Timeout.Seconds(),
		routing:  rand.New(rand.NewPCG(config.Seed, routingStream)),
		starting: rand.New(rand.NewPCG(config.Seed, startupStream)),
	}
	for i := range config.Fleet.Pools {
		c.pools = append(c.pools, newPool(&config.Fleet.Pools[i]))
	}
	for i := range config.Fleet.Workloads {
		if err := c.addWorkload(&config.Fleet.Workloads[i]); err != nil {
			return nil, err
		}
	}
	for _, d := range config.Disruptions {
		c.disruptions = append(c.disruptions, disruption{Disruption: d, pool: c.poolOf(d.Pool)})
	}
	c.serveAtOnce()
	return c, nil
}

func (c *Cluster) poolOf(name string) *pool {
	for _, p := range c.pools {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (c *Cluster) addWorkload(config *planner.Workload) error {
	w := &workload{config: config, limits: LimitsOf(config.SLO), entry: c.addLine(false), decode: c.addLine(true)}
	for j := range config.Variants {
		v := &variant{workload: w, index: j, config: &config.Variants[j], takes: w.entry}
		v.machine, v.declared = machineOf(v.config)
		var err error
		if v.capacity, v.concurrency, err = sustained(v.machine, v.config.Role, config); err != nil {
			return fmt.Errorf("simulation: fleet.workloads[%d].variants[%d]: %w", len(c.workloads), j, err)
		}
		if v.config.Role == optimizer.Decode {
			v.takes = w.decode
		}
		for _, p := range v.config.Pools {
			v.pools = append(v.pools, c.pools[p])
			v.meter.prices = append(v.meter.prices, c.config.Fleet.Price(v.config, p))
		}
		v.meter.paidIn = make([]int, len(v.pools))
		w.variants = append(w.variants, v)
	}
	c.workloads = append(c.workloads, w)
	return nil
}

func (c *Cluster) addLine(prefilled bool) *line {
	l := &line{index: int32(len(c.lines)), prefilled: prefilled} //nolint:gosec // two for each workload
	c.lines = append(c.lines, l)
	return l
}

// serveAtOnce gives devices to the replicas of the start, which serve; those without room
// stay pending.
func (c *Cluster) serveAtOnce() {
	for _, w := range c.workloads {
		for _, v := range w.variants {
			v.desired = v.config.CurrentReplicas
			for range v.desired {
				if s := c.ask(v); c.allot(s) {
					c.pending = c.pending[:len(c.pending)-1]
					c.begin(s)
				}
			}
		}
	}
}

// startup is how long a replica takes to start, in seconds.
func (c *Cluster) startup(v *variant) float64 {
	mean, scv := v.config.Startup.Seconds(), c.config.StartupSCV
	if mean == 0 || scv == 0 {
		return mean
	}
	return distuv.Gamma{Alpha: 1 / scv, Beta: 1 / (scv * mean), Src: c.starting}.Rand()
}

// Run simulates until a time. It calls each, where that is not nil, with every window in
// order, as soon as all requests that arrived in it have ended. No autoscaler, nil,
// changes nothing.
//
// What is inside at the end may still end, within the timeout of the gateway: nothing
// arrives, nobody scales and nobody pays any more. What has not ended then is unmet. A
// cluster runs once.
//
// The error is that of the context or the autoscaler, or says what is wrong with a request.
func (c *Cluster) Run(ctx context.Context, a Autoscaler, until time.Time, each func(Window)) error {
	if c.ran {
		return errors.New("simulation: a cluster runs once")
	}
	c.horizon = until.Sub(c.config.Start).Seconds()
	if !(c.horizon > 0) {
		return fmt.Errorf("simulation: the end, %s, is not after the start, %s", until, c.config.Start)
	}
	if a != nil && a.Interval() <= 0 {
		return fmt.Errorf("simulation: an autoscaler's interval is %v", a.Interval())
	}
	c.ran, c.context, c.autoscaler, c.each = true, ctx, a, each
	c.plan()
	for r := range c.config.Requests {
		if err := c.check(&r); err != nil {
			return err
		}
		if r.At >= c.horizon {
			break
		}
		if !c.advance(r.At) {
			return c.failure
		}
		c.arrive(&r)
	}
	if !c.advance(c.horizon) {
		return c.failure
	}
	c.closeWindow()
	return c.finish()
}

// plan puts into the calendar what is known beforehand.
func (c *Cluster) plan() {
	c.openNext()
	c.nextTick()
	for i := range c.disruptions {
		d := &c.disruptions[i]
		subject := int32(i)
		c.calendar.add(max(0, (d.At-d.Notice).Seconds()), lossIsAnnounced, subject)
		c.calendar.add(d.At.Seconds(), devicesAreLost, subject)
		if d.ReturnsAfter > 0 {
			c.calendar.add((d.At + d.ReturnsAfter).Seconds(), devicesReturn, subject)
		}
	}
}

// nextTick plans the next call of the autoscaler.
func (c *Cluster) nextTick() {
	if c.autoscaler == nil {
		return
	}
	c.ticks++
	if at := (time.Duration(c.ticks) * c.autoscaler.Interval()).Seconds(); at < c.horizon {
		c.calendar.add(at, autoscalerLooks, 0)
	}
}

// advance carries out what happens up to a moment, but for iterations that end or start
// in that very moment, as what arrives takes part in them. It tells whether the simulation
// goes on.
func (c *Cluster) advance(to float64) bool {
	for c.failure == nil {
		next := never
		var slot int32
		if len(c.servers) > 0 {
			slot, next = c.race.first()
		}
		if len(c.calendar.events) > 0 {
			if at := c.calendar.events[0].at; at <= next && at <= to {
				c.now = at
				c.carryOut(c.calendar.pop())
				continue
			}
		}
		if !(next < to) {
			c.now = to
			return true
		}
		c.now = next
		c.step(c.servers[slot])
	}
	return false
}

// step carries out the next iteration of a server.
func (c *Cluster) step(s *server) {
	completed := s.replica.Step()
	c.race.set(s.slot, s.replica.Next())
	for i := range completed {
		c.complete(s, &completed[i])
	}
	switch {
	case s.phase == Serving:
		l := s.variant.takes
		if len(completed) > 0 || l.full(s) {
			l.reload(s)
		}
		c.wake(l)
	case s.inside() == 0:
		c.release(s)
		c.fillVacated()
	}
}

// fillVacated gives the devices that have become free to pending replicas.
func (c *Cluster) fillVacated() {
	if c.vacated {
		c.vacated = false
		c.fill()
	}
}

func (c *Cluster) carryOut(e event) {
	switch e.kind {
	case windowEnds:
		c.failure = c.context.Err()
		c.closeWindow()
	case devicesReturn:
		c.restore(&c.disruptions[e.subject])
	case lossIsAnnounced:
		stream := disruptionStream + uint64(e.subject) //nolint:gosec // it is an index
		c.announce(&c.disruptions[e.subject], rand.New(rand.NewPCG(c.config.Seed, stream)))
	case devicesAreLost:
		c.strikeOut(&c.disruptions[e.subject])
	case replicaIsReady:
		if s := c.servers[e.subject]; s != nil && s.phase == Starting && s.ready == e.at {
			c.begin(s)
		}
	case promptArrives:
		c.receive(e.subject)
	case heldAreRouted:
		c.routeHeld(c.lines[e.subject])
	case holdEnds:
		c.expire(c.lines[e.subject])
	case autoscalerLooks:
		c.tick()
	}
	c.fillVacated()
}

// tick lets the autoscaler act.
func (c *Cluster) tick() {
	now := c.config.Start.Add(time.Duration(c.ticks) * c.autoscaler.Interval())
	if err := c.autoscaler.Scale(c.context, now); err != nil {
		c.failure = fmt.Errorf("simulation: at %s: %w", now, err)
	}
	c.nextTick()
}

// arrive takes in a request.
func (c *Cluster) arrive(r *trace.Request) {
	i := c.requests.add()
	q := c.requests.at(i)
	q.arrival, q.window, q.workload = c.now, int32(c.current.Index), int32(r.Workload) //nolint:gosec // both are small
	q.input, q.output, q.prefix, q.blockTokens = r.Input, r.Output, r.Prefix, r.BlockTokens
	w := c.workloads[r.Workload]
	w.demand.arrived++
	c.current.Workloads[r.Workload].Arrived++
	c.current.inside++
	c.route(w.entry, i)
}

// finish lets what is inside end, for some time, and reports the rest.
func (c *Cluster) finish() error {
	c.autoscaler = nil
	c.advance(c.horizon + c.timeout)
	for i := range c.requests.all {
		if c.requests.all[i].number > 0 {
			c.fail(int32(i), Unfinished)
		}
	}
	c.report(true)
	return c.failure
}
