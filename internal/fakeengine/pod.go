package fakeengine

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"

	"github.com/poolwright/poolwright/simulation/replica"
)

// pod is one engine. The fleet's mutex guards it.
type pod struct {
	fleet           *Fleet
	namespace, name string
	address         string
	engine          *Engine
	replica         *replica.Replica
	report          *report
	// ready pods get requests. A pod that is gone ends what it has begun.
	ready, gone bool
	fault       Fault
	// server is nil until the pod is ready for the first time.
	server *http.Server
}

func isReady(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func newPod(f *Fleet, p *corev1.Pod) (*pod, error) {
	engine, err := parseEngine(p.Annotations[Annotation])
	if err != nil {
		return nil, fmt.Errorf("%w (pod %s/%s)", err, p.Namespace, p.Name)
	}
	created := &pod{
		fleet: f, namespace: p.Namespace, name: p.Name, engine: engine,
		address: net.JoinHostPort(p.Status.PodIP, strconv.Itoa(engine.Port)),
	}
	if err := created.start(); err != nil {
		return nil, fmt.Errorf("%w (pod %s/%s)", err, p.Namespace, p.Name)
	}
	return created, nil
}

// start begins anew: nothing runs or waits, and all counts are zero.
func (p *pod) start() error {
	var err error
	if p.replica, err = replica.New(p.engine.Replica); err != nil {
		return fmt.Errorf("fakeengine: %s: %w", Annotation, err)
	}
	gauge := func(value func() int) func() float64 {
		return func() float64 {
			p.fleet.mu.Lock()
			defer p.fleet.mu.Unlock()
			return orNaN(value(), p.fault == NotANumber)
		}
	}
	p.report = newReport(p.engine,
		gauge(func() int { return p.replica.Running() }), gauge(func() int { return p.replica.Waiting() }))
	return nil
}

// serve listens on the pod's address until the fleet or the pod ends.
func (p *pod) serve() error {
	l, err := net.Listen("tcp", p.address) //nolint:noctx // takes no time
	if err != nil {
		return fmt.Errorf("fakeengine: pod %s/%s: %w", p.namespace, p.name, err)
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.metrics), ReadHeaderTimeout: time.Minute}
	p.fleet.serving.Go(func() { _ = p.server.Serve(l) }) // until it is closed
	return nil
}

// metrics answers a scrape.
func (p *pod) metrics(w http.ResponseWriter, r *http.Request) {
	p.fleet.mu.Lock()
	report, fault := p.report, p.fault
	p.fleet.mu.Unlock()
	switch {
	case fault == Hanging:
		<-r.Context().Done()
	case fault == Silent:
		http.Error(w, "no metrics today", http.StatusServiceUnavailable)
	case r.URL.Path != "/metrics":
		http.NotFound(w, r)
	default:
		promhttp.HandlerFor(report.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	}
}

// fullness is how much the replica has to do for its batch.
func (p *pod) fullness() float64 {
	return float64(p.replica.Running()+p.replica.Waiting()) / float64(p.engine.Replica.MaxBatch)
}

// step lives until a moment of the fleet's time and reports what has ended.
func (p *pod) step(moment float64, ended func(*replica.Completion)) {
	for p.replica.Next() <= moment {
		for _, c := range p.replica.Step() {
			p.report.complete(&c)
			ended(&c)
		}
	}
}

// arrive takes a request at its time of arrival.
func (p *pod) arrive(request replica.Request) replica.Outcome {
	p.report.arrived.Inc()
	return p.replica.Arrive(request)
}

// inside is the number of requests that wait or run.
func (p *pod) inside() int { return p.replica.Running() + p.replica.Waiting() }
