//go:build e2e && linux

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"k8s.io/client-go/rest"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const binary = "../../bin/poolwright"

// program is a running bin/poolwright.
type program struct {
	c            *cluster
	command      *exec.Cmd
	log, ledger  string
	grpc, http   string // addresses
	fleet        poolwrightv1.FleetServiceClient
	ended        chan struct{}
	watch        sync.WaitGroup
	mu           sync.Mutex
	decisions    []*poolwrightv1.Decision
	lastSequence uint64
}

// install creates what a cluster administrator would: namespace, account and rights.
func (c *cluster) install() {
	c.t.Helper()
	c.kubectl("apply", "--server-side", "-f", "../../deploy/kubernetes/rbac.yaml")
}

// setup is how a test's configuration differs from that of others.
type setup struct {
	// mayBeIdle: workloads go to zero replicas.
	mayBeIdle bool
	// gateway counts requests.
	gateway bool
	// least replicas of each workload; 0 = 1, but for those that may be idle.
	least int
	// ledger is a file that several processes share; empty = each has its own.
	ledger string
}

// start starts the program with the rights of its service account. Every process of a test
// has a name.
func (c *cluster) start(name string, p pace, s setup) *program {
	c.t.Helper()
	account, err := c.ServiceAccount(c.t.Context(), "poolwright", "poolwright")
	require.NoError(c.t, err)
	return c.run(name, c.configuration(name, account, p, s), s.ledger)
}

// configuration writes that of the program, with the rights of an account.
func (c *cluster) configuration(name string, account *rest.Config, p pace, s setup) string {
	c.t.Helper()
	kubeconfig, err := c.Kubeconfig(name, account)
	require.NoError(c.t, err)
	return c.fill("poolwright.yaml", map[string]any{
		"Kubeconfig": kubeconfig, "Prometheus": c.PrometheusURL,
		"Lease": p.lease, "Renew": p.renew, "Retry": p.retry, "Scrape": p.scrape, "Window": p.window,
		"Least": s.leastReplicas(), "Gateway": s.gateway,
		"Cycle": p.cycle, "Drain": p.drain, "ScaleDownWindow": p.scaleDown, "LoadTime": p.load,
	})
}

func (s *setup) leastReplicas() int {
	if s.mayBeIdle {
		return 0
	}
	return max(1, s.least)
}

// run starts the program with a configuration and a ledger, empty = its own.
func (c *cluster) run(name, config, ledger string) *program {
	c.t.Helper()
	addresses, err := c.FreeAddresses(2)
	require.NoError(c.t, err)
	folder := c.t.TempDir()
	r := &program{
		c: c, log: filepath.Join(folder, name+".log"), ledger: cmp.Or(ledger, filepath.Join(folder, name+".jsonl")),
		ended: make(chan struct{}), http: addresses[0], grpc: addresses[1],
	}
	log, err := os.Create(r.log)
	require.NoError(c.t, err)
	r.command = exec.Command(binary, "serve", "--config", config, "--ledger", r.ledger, //nolint:gosec // the program under test
		"--http-address", addresses[0], "--grpc-address", addresses[1])
	r.command.Stdout, r.command.Stderr = log, log
	r.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(c.t, r.command.Start())
	require.NoError(c.t, log.Close())
	go func() {
		_ = r.command.Wait() // killed, or its log says why it ended
		close(r.ended)
	}()
	connection, err := grpc.NewClient(addresses[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(c.t, err)
	r.fleet = poolwrightv1.NewFleetServiceClient(connection)
	ctx, cancel := context.WithCancel(context.Background())
	r.watch.Go(func() { r.follow(ctx) })
	c.t.Cleanup(func() {
		r.kill()
		cancel()
		r.watch.Wait()
		_ = connection.Close()
		if c.t.Failed() {
			text, _ := os.ReadFile(r.log)
			c.t.Logf("%s:\n%s", name, text[max(0, len(text)-40000):])
		}
	})
	return r
}

// kill ends the process as a failing node would.
func (r *program) kill() {
	_ = r.command.Process.Kill() // it may have ended
	<-r.ended
}

// end ends the process as an upgrade does.
func (r *program) end() {
	r.c.t.Helper()
	require.NoError(r.c.t, r.command.Process.Signal(syscall.SIGTERM))
	<-r.ended
	require.True(r.c.t, r.command.ProcessState.Success(), "it ended with %v", r.command.ProcessState)
}

// ready tells whether the process says that it could plan.
func (r *program) ready() bool {
	request, err := http.NewRequestWithContext(r.c.t.Context(), http.MethodGet, "http://"+r.http+"/readyz", http.NoBody)
	require.NoError(r.c.t, err)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// runs tells whether the process is there.
func (r *program) runs() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// follow keeps every decision that the process makes.
func (r *program) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if stream, err := r.fleet.WatchDecisions(ctx, &poolwrightv1.WatchDecisionsRequest{AfterSequence: &r.lastSequence, View: poolwrightv1.Decision_FULL}); err == nil {
			for {
				event, err := stream.Recv()
				if status.Code(err) == codes.OutOfRange { // of a leader that counts anew
					r.mu.Lock()
					r.lastSequence = 0
					r.mu.Unlock()
				}
				if err != nil {
					break
				}
				if d := event.GetDecision(); d != nil {
					r.mu.Lock()
					r.decisions, r.lastSequence = append(r.decisions, d), d.GetSequence()
					r.mu.Unlock()
				}
			}
		}
		timer := time.NewTimer(tick)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}

// decided are the decisions after one.
func (r *program) decided(after uint64) []*poolwrightv1.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	var some []*poolwrightv1.Decision
	for _, d := range r.decisions {
		if d.GetSequence() > after {
			some = append(some, d)
		}
	}
	return some
}

// last is the sequence of the last decision, 0 without one.
func (r *program) last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastSequence
}

// optimum asks `poolwright optimize` for the best plan for a fleet as it was measured.
func (r *program) optimum(fleet *poolwrightv1.Fleet) *poolwrightv1.Plan {
	r.c.t.Helper()
	text, err := protojson.Marshal(fleet)
	require.NoError(r.c.t, err)
	var out, complaints bytes.Buffer
	command := exec.CommandContext(r.c.t.Context(), binary, "optimize", "-f", "-", "-o", "json")
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(text), &out, &complaints
	require.NoError(r.c.t, command.Run(), complaints.String())
	plan := &poolwrightv1.Plan{}
	require.NoError(r.c.t, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(out.Bytes(), plan))
	return plan
}

// replay makes all decisions of the ledger again, and fails where one differs.
func (r *program) replay() {
	r.c.t.Helper()
	out, err := exec.CommandContext(r.c.t.Context(), binary, "replay", r.ledger).CombinedOutput() //nolint:gosec // the program under test
	require.NoError(r.c.t, err, string(out))
}

// change is one of a decision that was carried out.
type change struct {
	target   string
	from, to int
}

// String is as a history prints it.
func (c change) String() string { return fmt.Sprintf("%s %d → %d", c.target, c.from, c.to) }

// carriedOut are the changes of decisions that were not dropped, in order.
func carriedOut(decisions []*poolwrightv1.Decision) []change {
	var all []change
	for _, d := range decisions {
		dropped := map[[2]string]bool{}
		for _, drop := range d.GetDropped() {
			dropped[[2]string{drop.GetWorkload(), drop.GetVariant()}] = true
		}
		for _, c := range d.GetChanges() {
			if !dropped[[2]string{c.GetWorkload(), c.GetVariant()}] {
				all = append(all, change{c.GetTarget().GetKind() + "/" + c.GetTarget().GetName(), int(c.GetFrom()), int(c.GetTo())})
			}
		}
	}
	return all
}
