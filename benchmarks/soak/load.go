package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/examples"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

const (
	// patience is how long a client waits: longer than the server lets it.
	patience = 90 * time.Second
	// mostOpen calls may be under way; a process that holds more than so many has failed.
	mostOpen = 20_000
	// fleets are as many as there are different requests.
	fleets = 64
)

// load makes calls, at times that do not depend on when others are answered.
type load struct {
	connections []*grpc.ClientConn
	requests    []*poolwrightv1.Fleet
	random      *rand.Rand
}

func newLoad(o *options, address string) (*load, error) {
	l := &load{random: rand.New(rand.NewPCG(1, 1))}
	for range o.clients {
		c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.connections = append(l.connections, c)
	}
	mix, err := sources.ReadFleet(examples.Mix)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	for range fleets {
		l.requests = append(l.requests, l.request(mix, o.workloads))
	}
	return l, nil
}

// request is the built-in fleet, repeated until it has so many workloads, each with a rate of
// its own.
func (l *load) request(mix *poolwrightv1.Fleet, workloads int) *poolwrightv1.Fleet {
	f := proto.CloneOf(mix)
	f.Workloads = nil
	for i := range workloads {
		w := proto.CloneOf(mix.GetWorkloads()[i%len(mix.GetWorkloads())])
		w.Name = fmt.Sprintf("%s-%02d", w.GetName(), i)
		w.Load.ArrivalRate *= 0.5 + l.random.Float64()
		f.Workloads = append(f.Workloads, w)
	}
	times := int32((workloads + len(mix.GetWorkloads()) - 1) / len(mix.GetWorkloads())) //nolint:gosec // few
	for _, p := range f.GetPools() {
		p.Capacity = proto.Int32(p.GetCapacity() * times)
	}
	return f
}

func (l *load) close() error {
	var errs []error
	for _, c := range l.connections {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// phase watches the process while there are calls.
func (l *load) phase(ctx context.Context, p *program, call func() []window, rate float64, interval time.Duration) (phase, error) {
	began, used, stolen := time.Now(), machine.ProcessorTime(), machine.StolenTime()
	before, err := p.sample(ctx)
	if err != nil {
		return phase{}, err
	}
	watched := make(chan []sample, 1)
	watching, enough := context.WithCancel(ctx)
	go func() { watched <- p.watch(watching) }()
	windows := call()
	enough()
	samples := <-watched
	after, err := p.sample(ctx)
	if err != nil {
		return phase{}, fmt.Errorf("the process does not answer any more: %w", err)
	}
	seconds := time.Since(began).Seconds()
	return phase{
		rate: rate, seconds: seconds, calls: together(windows), windows: windows, samples: samples,
		clients: (machine.ProcessorTime() - used).Seconds() / seconds,
		server:  (after.processor - before.processor) / seconds,
		stolen:  (machine.StolenTime() - stolen).Seconds() / seconds,
		late:    p.longest(began, time.Now()).Seconds() / interval.Seconds(),
	}, ctx.Err()
}

// atOnce is how many calls each connection has under way in a flood: together more than a
// process lets wait.
const atOnce = 16

// flood makes as many calls at once as are too many, however fast the machine is. Who is
// refused asks again when it was told to.
func (l *load) flood(ctx context.Context, length time.Duration) []window {
	var mu sync.Mutex
	var all tally
	var group sync.WaitGroup
	end := time.Now().Add(length)
	for i := range atOnce * len(l.connections) {
		client := poolwrightv1.NewOptimizerServiceClient(l.connections[i%len(l.connections)])
		group.Go(func() {
			for n := i; time.Now().Before(end) && ctx.Err() == nil; n++ {
				began := time.Now()
				err := l.once(ctx, client, n)
				took := time.Since(began)
				mu.Lock()
				all.add(err, took)
				mu.Unlock()
				time.Sleep(retryAfter(err))
			}
		})
	}
	group.Wait()
	return []window{{tally: all}}
}

// once makes a call.
func (l *load) once(ctx context.Context, client poolwrightv1.OptimizerServiceClient, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := client.Optimize(ctx, l.requests[n%len(l.requests)])
	return err
}

// call makes calls at random times, as independent clients do, and waits for their answers.
// How long one takes counts from the time at which it should have been sent.
func (l *load) call(ctx context.Context, rate float64, length time.Duration) []window {
	var mu sync.Mutex
	var all []window
	var group sync.WaitGroup
	open := make(chan struct{}, mostOpen)
	began := time.Now()
	for i, at := 0, 0.; ; i++ {
		at += l.random.ExpFloat64() / rate
		due := began.Add(time.Duration(at * float64(time.Second)))
		if due.After(began.Add(length)) || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		mu.Lock()
		for now := int(at / windowLength.Seconds()); len(all) <= now; {
			all = append(all, window{stolenBefore: machine.StolenTime()})
		}
		now := len(all) - 1
		mu.Unlock()
		add := func(err error, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			all[now].add(err, took)
		}
		select {
		case open <- struct{}{}:
		default:
			add(errTooMany, 0)
			continue
		}
		client := poolwrightv1.NewOptimizerServiceClient(l.connections[i%len(l.connections)])
		group.Go(func() {
			defer func() { <-open }()
			err := l.once(ctx, client, i)
			add(err, time.Since(due))
		})
	}
	stolen := machine.StolenTime()
	group.Wait()
	for k := range slices.Backward(all) {
		lasted := min(windowLength, length-time.Duration(k)*windowLength)
		all[k].stolen = (stolen - all[k].stolenBefore).Seconds() / lasted.Seconds()
		stolen = all[k].stolenBefore
	}
	return all
}

// windowLength is the time in which the host either takes processors or leaves them, mostly.
const windowLength = 10 * time.Second

// window is a part of a phase: the calls that should have been sent in it, and the processors
// that the host gave to others meanwhile.
type window struct {
	tally
	stolen float64
	// stolenBefore is the time that was stolen until it began.
	stolenBefore time.Duration
}

// together are the calls of all windows.
func together(windows []window) (all tally) {
	for i := range windows {
		all.join(&windows[i].tally)
	}
	return all
}

var errTooMany = fmt.Errorf("%d calls are open", mostOpen)

// tally counts what became of calls.
type tally struct {
	calls, answered, shed int
	// failed are those that were neither answered nor refused as they should be; failure is
	// the first.
	failed  int
	failure error
	// counts are of the times of those that were answered, by logarithm.
	counts  []int
	longest time.Duration
}

func (t *tally) add(err error, took time.Duration) {
	t.calls++
	switch {
	case err == nil:
		t.answered++
		t.longest = max(t.longest, took)
		bucket := bucketOf(took)
		for len(t.counts) <= bucket {
			t.counts = append(t.counts, 0)
		}
		t.counts[bucket]++
	case retryAfter(err) > 0:
		t.shed++
	default:
		if t.failed == 0 {
			t.failure = err
		}
		t.failed++
	}
}

// join adds the calls of another tally.
func (t *tally) join(u *tally) {
	if t.failed == 0 {
		t.failure = u.failure
	}
	t.calls, t.answered, t.shed, t.failed = t.calls+u.calls, t.answered+u.answered, t.shed+u.shed, t.failed+u.failed
	t.longest = max(t.longest, u.longest)
	for len(t.counts) < len(u.counts) {
		t.counts = append(t.counts, 0)
	}
	for bucket, n := range u.counts {
		t.counts[bucket] += n
	}
}

// retryAfter is when a call that was refused was told to ask again; 0 for others.
func retryAfter(err error) time.Duration {
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted {
		return 0
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// Buckets are 1 % wide, from a microsecond on.
const bucketWidth = 1.01

func bucketOf(d time.Duration) int {
	return max(0, int(math.Log(d.Seconds()*1e6)/math.Log(bucketWidth)))
}

// quantile is the end of the bucket that it is in, in seconds; NaN without calls.
func (t *tally) quantile(q float64) float64 {
	rank, seen := int(math.Ceil(q*float64(t.answered))), 0
	for bucket, n := range t.counts {
		if seen += n; n > 0 && seen >= rank {
			return math.Pow(bucketWidth, float64(bucket+1)) / 1e6
		}
	}
	return math.NaN()
}
