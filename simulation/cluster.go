package simulation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
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
	windows     int
	windowBegan float64
	open        []*openWindow
	current     *openWindow
	each        func(Window)

	autoscaler Autoscaler
	ticks      int
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
		config: config, timeout: config.Gateway.Timeout.Seconds(),
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
	c.addDisruptions(config.Disruptions)
	c.serveAtOnce()
	return c, nil
}

func (c *Cluster) addWorkload(config *planner.Workload) error {
	w := &workload{config: config, limits: LimitsOf(config.SLO), entry: c.addLine(false), decode: c.addLine(true)}
	for j := range config.Variants {
		v := &variant{workload: w, index: j, config: &config.Variants[j], takes: w.entry}
		v.machine, v.declared = machineOf(v.config)
		var err error
		if v.capacity, v.concurrency, err = sustained(v.config, config); err != nil {
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
