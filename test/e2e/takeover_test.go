//go:build e2e && linux

package e2e

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// kills is how often TestKills kills the leader, a tenth of them, and one at least, with the
// default lease.
var kills = flag.Int("kills", 3, "how often the leader is killed")

// company is several processes that share a ledger.
type company struct {
	*world
	setup     setup
	processes []*program
	started   int
	random    *rand.Rand
	// first are the replicas before all.
	first map[string]int
}

// floor is the least number of replicas of each workload of a company.
const floor = 2

func newCompany(t *testing.T, processes int) *company {
	t.Helper()
	s := setup{least: floor, ledger: filepath.Join(t.TempDir(), "shared.jsonl")}
	w := newWorld(t, s, "plain", "llmaz")
	c := &company{world: w, setup: s, processes: []*program{w.program}, random: rand.New(rand.NewPCG(7, 8)), first: map[string]int{}}
	for _, target := range []string{"Deployment/chat-h100", "Deployment/chat-a100", "Playground/code-h100", "Playground/code-a100"} {
		c.first[target] = 1
	}
	c.complete(processes)
	return c
}

// complete starts as many processes as are missing, and waits until all could lead.
func (c *company) complete(processes int) {
	c.t.Helper()
	c.processes = slices.DeleteFunc(c.processes, func(p *program) bool { return !p.runs() })
	for len(c.processes) < processes {
		c.started++
		c.processes = append(c.processes, c.start("process"+strconv.Itoa(c.started), c.pace, c.setup))
	}
	c.until(func() bool {
		return !slices.ContainsFunc(c.processes, func(p *program) bool { return !p.ready() })
	}, "all processes are ready")
}

// leader is the process that holds the Lease, nil where none that runs does.
func (c *company) leader() *program {
	lease, err := c.typed.CoordinationV1().Leases("poolwright").Get(c.t.Context(), "poolwright", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return nil
	}
	for _, p := range c.processes {
		if p.runs() && strings.HasSuffix(*lease.Spec.HolderIdentity, "@"+p.grpc) {
			return p
		}
	}
	return nil
}

// seen waits until some processes have seen a decision made after a time: the leader's own,
// and others by asking it.
func (c *company) seen(since time.Time, by ...*program) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		return !slices.ContainsFunc(by, func(p *program) bool { return !p.decidedSince(since) })
	}, patience(), 5*time.Millisecond, "a decision is seen by all")
}

// shake changes the load, so that replicas are to be changed.
func (c *company) shake(n int) {
	c.t.Helper()
	c.offer([]queueing.Rate{4 * base, base, 3 * base, 2 * base}[n%4], c.ways...)
}

// strike waits for a moment within what the shaken load brings about: of every three the first
// is right behind a write, others are anywhere within two cycles.
func (c *company) strike(n int) {
	c.t.Helper()
	if n%3 > 0 {
		pass(c.t, time.Duration(c.random.Float64()*2*float64(c.pace.cycle)))
		return
	}
	before, began := len(c.witness.seen()), time.Now()
	for len(c.witness.seen()) == before && time.Since(began) < c.pace.scaleDown+c.pace.window+c.pace.cycles(3) {
		pass(c.t, time.Millisecond)
	}
}

// replace kills the leader, or ends it, and starts another process. It returns how long nobody
// decided, from then on.
func (c *company) replace(remove func(*program)) time.Duration {
	c.t.Helper()
	var leader *program
	c.until(func() bool {
		leader = c.leader()
		return leader != nil
	}, "somebody leads")
	processes := len(c.processes)
	began := time.Now()
	remove(leader)
	c.processes = slices.DeleteFunc(c.processes, func(p *program) bool { return p == leader })
	c.seen(began, c.processes[0])
	took := time.Since(began)
	c.t.Logf("another process decides after %s", took.Round(10*time.Millisecond))
	c.complete(processes)
	return took
}

// TestKills: the leader is killed over and over while replicas change. Nothing is done twice,
// floors hold, and another process soon goes on.
func TestKills(t *testing.T) {
	c := newCompany(t, 3)
	c.settle()
	targets := c.targets(c.program)
	slow := max(1, *kills/10)
	var short, long []time.Duration
	for n := range *kills - slow {
		c.shake(n)
		c.strike(n)
		short = append(short, c.replace((*program).kill))
	}

	for _, p := range c.processes {
		p.kill()
	}
	c.pace.lease, c.pace.renew, c.pace.retry = 15*time.Second, 10*time.Second, time.Second
	c.complete(3)
	c.seen(time.Now(), c.processes...)
	for n := range slow {
		c.shake(n)
		c.strike(n)
		long = append(long, c.replace((*program).kill))
	}
	load, err := os.ReadFile("/proc/loadavg")
	require.NoError(t, err)
	t.Logf("takeover after kill -9, with load %.14s\nlease of 5 s: %s\nlease of 15 s: %s", load, spread(short), spread(long))
	for _, took := range long {
		assert.Less(t, took, 20*time.Second)
	}
	r := c.judge(targets)
	t.Logf("%d decisions, %d changes, of which %d intents have no entry", len(r.sequences), len(r.intents), r.unfinished)
}

// judge ends all processes and checks what they have done.
func (c *company) judge(targets map[[2]string]string) record {
	c.t.Helper()
	for _, p := range c.processes {
		p.end()
	}
	r := c.read(c.setup.ledger, targets)
	written := c.written()
	require.NotEmpty(c.t, written)
	c.once(written, &r, floor, c.first)
	c.witness.check(c.cluster)
	c.program.replay()
	return r
}

// TestRollingUpgrade: all processes are replaced one by one while replicas change. Every
// decision is in the ledger, and what it says was done, no more and no less.
func TestRollingUpgrade(t *testing.T) {
	c := newCompany(t, 2)
	c.settle()
	targets := c.targets(c.program)
	var took []time.Duration
	for n := range 4 {
		c.shake(n)
		c.strike(n)
		took = append(took, c.replace((*program).end))
		after := c.leader()
		for _, p := range c.processes {
			if p != after { // a follower is replaced, too
				p.end()
				break
			}
		}
		c.complete(2)
	}
	t.Logf("takeover after the end: %s", spread(took))
	for _, d := range took {
		assert.Less(t, d, c.pace.lease, "the lease is given back")
	}
	answer, err := c.processes[0].fleet.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, answer.GetFleet().GetWorkloads())

	r := c.judge(targets)
	require.Zero(t, r.unfinished)
	for n := 1; n < len(r.sequences); n++ {
		require.Equal(t, r.sequences[n-1]+1, r.sequences[n], "a decision is missing")
	}
	require.True(t, maps.EqualFunc(byTarget(r.done), byTarget(c.written()), slices.Equal),
		"done: %v\nwritten: %v", printed{byTarget(r.done)}, printed{byTarget(c.written())})
}
