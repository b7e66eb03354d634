package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
	// patience is how long a client waits.
	patience = 10 * time.Second
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

// phase makes calls for some time, and watches the process meanwhile.
func (l *load) phase(ctx context.Context, p *program, rate float64, length, interval time.Duration) (phase, error) {
	began, used := time.Now(), machine.ProcessorTime()
	before, err := p.sample(ctx)
	if err != nil {
		return phase{}, err
	}
	watched := make(chan []sample, 1)
	watching, enough := context.WithCancel(ctx)
	go func() { watched <- p.watch(watching, length) }()
	calls := l.call(ctx, rate, length)
	enough()
	samples := <-watched
	after, err := p.sample(ctx)
	if err != nil {
		return phase{}, fmt.Errorf("the process does not answer any more: %w", err)
	}
	seconds := time.Since(began).Seconds()
	return phase{
		rate: rate, seconds: seconds, calls: calls, samples: samples,
		clients: (machine.ProcessorTime() - used).Seconds() / seconds,
		server:  (after.processor - before.processor) / seconds,
		late:    p.longest(began, time.Now()).Seconds() / interval.Seconds(),
	}, ctx.Err()
}

// call makes calls at random times, as independent clients do, and waits for their answers.
// How long one takes counts from the time at which it should have been sent.
func (l *load) call(ctx context.Context, rate float64, length time.Duration) tally {
	var mu sync.Mutex
	var all tally
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
		select {
		case open <- struct{}{}:
		default:
			mu.Lock()
			all.add(errTooMany, 0)
			mu.Unlock()
			continue
		}
		client := poolwrightv1.NewOptimizerServiceClient(l.connections[i%len(l.connections)])
		request := l.requests[i%len(l.requests)]
		group.Go(func() {
			defer func() { <-open }()
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_, err := client.Optimize(ctx, request)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			all.add(err, took)
		})
	}
	group.Wait()
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
	case shed(err):
		t.shed++
	default:
		if t.failed == 0 {
			t.failure = err
		}
		t.failed++
	}
}

// shed tells a call that was refused, and told when to ask again.
func shed(err error) bool {
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted {
		return false
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration() > 0
		}
	}
	return false
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
