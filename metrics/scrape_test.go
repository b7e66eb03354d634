package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/queueing"
)

// cluster is pods of workload ns/w in virtual time. It answers for them.
type cluster struct {
	t        *testing.T
	fleet    planner.Fleet
	pods     []Pod
	texts    map[string]process // by address; without a text a pod hangs
	asked    atomic.Int64
	reports  []Report
	observer *Observer
	series   Series
}

const cycleTime = 15 * time.Second

// busy is what a pod with something to do reports.
var busy = []func(float64) string{vllmAt(4, 5, 1)}

// newCluster has ready pods of one variant.
func newCluster(t *testing.T, c Config, texts ...func(float64) string) *cluster {
	t.Helper()
	k := &cluster{t: t, fleet: fleetOf("ns", 0), texts: map[string]process{}}
	for _, text := range texts {
		k.add(text)
	}
	k.series = Series{Engine: VLLM, Scrape: &Scrape{}}
	var err error
	k.observer, err = New(c, func(*planner.Workload) Series { return k.series }, k, func(r Report) { k.reports = append(k.reports, r) })
	require.NoError(t, err)
	k.observer.scraper.client.Transport = k
	return k
}

// add a pod that is ready.
func (k *cluster) add(text func(float64) string) {
	i := len(k.pods)
	k.pods = append(k.pods, Pod{Name: fmt.Sprintf("w-%d", i), Variant: "only", Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250), Ready: true})
	k.fleet.Workloads[0].Variants[0].CurrentReplicas++
	k.start(i, text)
}

// start lets a pod report from now on.
func (k *cluster) start(pod int, text func(float64) string) {
	k.texts[k.pods[pod].Address] = process{time.Now(), text}
}

// Pods implements [Pods].
func (k *cluster) Pods(workload string) []Pod {
	require.Equal(k.t, "ns/w", workload)
	return k.pods
}

// RoundTrip implements [http.RoundTripper].
func (k *cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	k.asked.Add(1)
	at, err := netip.ParseAddrPort(r.URL.Host)
	if err != nil || at.Port() != 8100 || r.URL.Path != "/metrics" {
		return nil, fmt.Errorf("nobody listens at %s", r.URL)
	}
	p := k.texts[at.Addr().String()]
	if p.text == nil {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body := p.text(time.Since(p.began).Seconds())
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// cycle lets the time of a cycle pass and observes.
func (k *cluster) cycle() planner.Observation {
	k.t.Helper()
	time.Sleep(cycleTime)
	got, err := k.observer.Observe(k.t.Context(), k.fleet)
	require.NoError(k.t, err)
	require.Len(k.t, got, 1)
	return got[0]
}

// settled is what is observed after some cycles.
func (k *cluster) settled() planner.Observation {
	k.t.Helper()
	var last planner.Observation
	for range 6 {
		last = k.cycle()
	}
	return last
}

func (k *cluster) lastFailure() string {
	return fmt.Sprint(errors.Join(k.reports[len(k.reports)-1].Failures...))
}

func TestPodsAreAskedThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, slices.Repeat(busy, 3)...)
		first := k.cycle()
		assert.Equal(t, of(15), first.Running)
		assert.Equal(t, of(3), first.Waiting)
		assert.Equal(t, planner.Missing, first.CompletionRate.State, "a counter has no rate yet")
		for range 10 {
			o := k.cycle()
			assert.Equal(t, planner.Fresh, o.CompletionRate.State)
			assert.InDelta(t, 12, o.CompletionRate.Value, 1e-9)
		}
		assert.Equal(t, Report{Pods: 3, Duration: k.reports[0].Duration}, k.reports[0])
	})
}

func TestRateIsOverTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faster := func(s float64) string { return vllmAt(1, 0, 0)(s + 9*max(0, s-300)) }
		k := newCluster(t, Config{}, faster)
		for range 20 {
			k.cycle()
		}
		for _, want := range []float64{1 + 9./4, 1 + 18./4, 1 + 27./4, 10, 10} {
			o := k.cycle()
			assert.InDelta(t, want, o.CompletionRate.Value, 1e-6)
			assert.InDelta(t, 10, o.RecentCompletionRate.Value, 1e-6, "since the last cycle")
		}
	})
}

// One pod that is not ready does not discard the others, and one that restarted counts
// again at once.
func TestIncident23UnreadyOrRestartedPodDiscardsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, slices.Repeat(busy, 3)...)
		k.settled()
		k.pods[1].Ready, k.fleet.Workloads[0].Variants[0].StartingReplicas = false, 1
		for range 30 {
			o := k.cycle()
			assert.Equal(t, of(10), o.Running)
			assert.Equal(t, planner.Fresh, o.CompletionRate.State)
			assert.InDelta(t, 8, o.CompletionRate.Value, 1e-9)
		}
		k.pods[1].Ready, k.fleet.Workloads[0].Variants[0].StartingReplicas = true, 0
		k.pods[1].Started = time.Now()
		k.start(1, vllmAt(4, 5, 1))
		o := k.cycle()
		assert.InDelta(t, 12, o.CompletionRate.Value, 1e-9, "counters were 0 at the start")
		assert.Equal(t, planner.Fresh, o.CompletionRate.State)
		// Without a word from the cluster: what was counted before the restart is lost.
		k.start(2, vllmAt(4, 5, 1))
		for range 10 {
			o = k.cycle()
			assert.Equal(t, planner.Fresh, o.CompletionRate.State)
			assert.InDelta(t, 12, o.CompletionRate.Value, 1e-9)
		}
	})
}

// Pods that do not answer are not known; they are neither idle nor one instance.
func TestIncident25PodsWithoutMetricsAreUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, make([]func(float64) string, 2)...)
		for range 3 {
			assert.Equal(t, planner.Observation{Workload: "ns/w"}, k.cycle())
		}
		assert.Contains(t, k.lastFailure(), "metrics: 2 of 2 ready pods of ns/w don't tell, as w-0: ")
		k.start(0, vllmAt(4, 5, 1))
		o := k.settled()
		assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 5}.Value, o.Running.Value)
		assert.Equal(t, planner.Incomplete, o.Running.State)
		assert.Equal(t, planner.Incomplete, o.CompletionRate.State)
		k.start(1, vllmAt(4, 5, 1))
		o = k.settled()
		assert.Equal(t, of(10), o.Running)
		k.start(0, nil)
		k.start(1, nil)
		assert.Equal(t, of(10), k.cycle().Running, "one missed scrape is none too many")
		o = k.settled()
		assert.Equal(t, planner.Measurement{State: planner.Stale}, o.Running)
		assert.Equal(t, planner.Measurement{State: planner.Stale}, o.CompletionRate)
	})
}

func TestIncident26TypoOnThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, func(s float64) string {
			return strings.ReplaceAll(vllmAt(5, 3, 1)(s), "request_success", "request_succes")
		})
		o := k.settled()
		assert.Equal(t, of(3), o.Running)
		assert.Equal(t, planner.Measurement{}, o.CompletionRate)
		k.start(0, func(s float64) string {
			return strings.ReplaceAll(vllmAt(5, 3, 1)(s), "num_requests_running", "num_request_running")
		})
		o = k.settled()
		assert.Equal(t, planner.Stale, o.Running.State)
		assert.Contains(t, k.lastFailure(), `does not report ["vllm:num_requests_running"]`)
	})
}

// Pods that hang have their own deadlines, and are asked after the others.
func TestHungPodsStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{Scraping: Scraping{Concurrency: 4}}, slices.Repeat(busy, 2)...)
		k.settled()
		for range 300 {
			k.add(nil)
		}
		k.pods[0], k.pods[301] = k.pods[301], k.pods[0]
		for range 20 {
			began := time.Now()
			o := k.cycle()
			assert.LessOrEqual(t, time.Since(began), cycleTime+10*time.Second)
			assert.Equal(t, planner.Incomplete, o.Running.State)
			assert.InDelta(t, 10, o.Running.Value, 0)
			assert.InDelta(t, 8, o.CompletionRate.Value, 1e-6)
		}
		// Even behind all of them, one that recovers is heard.
		k.start(150, vllmAt(4, 5, 1))
		require.Eventually(t, func() bool { return k.cycle().Running.Value == 15 }, time.Hour, cycleTime)
	})
}

func TestImpossibleValuesOfPodsAreInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, vllmAt(4, 5, 1))
		for _, value := range []string{"NaN", "+Inf", "-3"} {
			k.start(0, func(s float64) string {
				return strings.Replace(vllmAt(4, 5, 1)(s), "waiting{"+ofModel+"} 1", "waiting{"+ofModel+"} "+value, 1)
			})
			o := k.settled()
			assert.Equal(t, planner.Measurement{State: planner.Invalid}, o.Waiting)
			assert.Equal(t, of(5), o.Running)
			assert.Equal(t, planner.Fresh, o.CompletionRate.State)
		}
	})
}

// What is of no interest may be whatever it is.
func TestMistakesElsewhereSpoilNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, func(s float64) string {
			return "# TYPE python_gc gauge\n# TYPE python_gc counter\n}{ what\npython_gc{ 1\n" + vllmAt(4, 5, 1)(s)
		})
		assert.Equal(t, of(5), k.settled().Running)
		k.start(0, func(s float64) string { return vllmAt(4, 5, 1)(s) + "vllm:num_requests_running{ 1\n" })
		k.cycle()
		assert.Contains(t, k.lastFailure(), "no text format of Prometheus: ")
	})
}

// What replicas do and how long requests are is measured once per window.
func TestWorkOfPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := vllmWork("inter_token_latency_seconds", "prefix_cache")
		k := newCluster(t, Config{}, func(s float64) string { return vllmAt(2, 6, 1)(s) + work(s) })
		k.fleet.Workloads[0].Variants[0].Replica = &queueing.Replica{}
		var all []planner.Observation
		for range 12 {
			all = append(all, k.cycle())
		}
		assert.Equal(t, planner.Fresh, all[1].InputTokens.State, "as soon as a pod has answered twice")
		seen := 0
		for _, o := range all[4:] {
			for _, v := range o.Variants {
				seen++
				assert.Equal(t, queueing.Seconds(60), v.Replica.Window)
				assert.InDelta(t, 2, v.Replica.Rate.Value, 1e-9)
				assert.InDelta(t, 6, v.Replica.Running.Value, 1e-9)
				assert.InDelta(t, 0.02, v.Replica.ITL.Value, 1e-9)
				assert.InDelta(t, 0.3, v.Replica.TTFT.Value, 1e-9)
				assert.InDelta(t, 0.25, v.Replica.PrefixHitRatio.Value, 1e-9)
			}
			assert.Equal(t, planner.Fresh, o.InputTokens.State, "lengths hold until they are measured again")
			assert.InDelta(t, 100, o.InputTokens.Value, 1e-9)
			assert.InDelta(t, 50, o.OutputTokens.Value, 1e-9)
		}
		assert.Equal(t, 2, seen)
	})
}

const histogramType = "# TYPE vllm:request_prompt_tokens histogram\n# TYPE vllm:request_generation_tokens histogram\n"

func TestVariationOnPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		typed := func(n, prompt, output float64) string {
			text := tokens(n, prompt, output)
			half := strings.Index(text, "vllm:request_generation")
			return "# TYPE vllm:request_prompt_tokens histogram\n" + text[:half] + "# TYPE vllm:request_generation_tokens histogram\n" + text[half:]
		}
		k := newCluster(t, Config{},
			func(s float64) string { return vllmAt(2, 5, 1)(s) + typed(2*s, 80, 40) },
			func(s float64) string { return vllmAt(6, 5, 1)(s) + typed(6*s, 160, 40) })
		o := k.settled()
		mean, square := 0.25*75+0.75*150, 0.25*(50*50+50*100+100*100)/3+0.75*(100*100+100*200+200*200)/3
		assert.InDelta(t, square/mean/mean-1, o.InputSCV.Value, 1e-9)
		assert.InDelta(t, 1./3, o.OutputSCV.Value, 1e-9)
		k.start(0, func(s float64) string { return vllmAt(8, 5, 1)(s) + typed(8*s, 160, 40) })
		require.Eventually(t, func() bool { return k.cycle().InputSCV.Value < 0.08 }, time.Hour, cycleTime, "since then")
		assert.InDelta(t, 7./3/1.5/1.5-1, k.cycle().InputSCV.Value, 0.01)
	})
}

// What policies of other autoscalers follow: values, rates, and percentiles of histograms,
// a pod each.
func TestMetricsThatPoliciesFollow(t *testing.T) {
	names := []string{"queue_depth", "tokens_total", "ttft_seconds", "absent", "labelled"}
	follow := map[string]planner.Policy{"kthena": {Kthena: &kthena.Config{}}, "hpa": {HPA: &hpa.Config{}}}
	for _, name := range names {
		follow["kthena"].Kthena.Metrics = append(follow["kthena"].Kthena.Metrics, kthena.Metric{Name: name})
		follow["hpa"].HPA.Metrics = append(follow["hpa"].HPA.Metrics, hpa.Metric{Source: hpa.PodsMetric, Name: name})
	}
	text := func(depth float64) func(float64) string {
		return func(s float64) string {
			return fmt.Sprintf(`# TYPE queue_depth gauge
queue_depth %g
# TYPE tokens_total counter
tokens_total %g
# TYPE ttft_seconds histogram
ttft_seconds_bucket{le="1"} %d
ttft_seconds_bucket{le="2"} %d
ttft_seconds_bucket{le="+Inf"} %[4]d
ttft_seconds_sum 1
ttft_seconds_count %[4]d
# TYPE labelled gauge
labelled{of="a"} 1
labelled{of="b"} 2
`, depth, 100*s, int(s), 2*int(s))
		}
	}
	for name, policy := range follow {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCluster(t, Config{}, text(3), text(7), nil)
				k.series.Engine = ""
				k.fleet.Control.Policy = policy
				o := k.settled()
				require.Len(t, o.Variants, 1)
				assert.Equal(t, "only", o.Variants[0].Variant)
				want := map[string][]float64{"queue_depth": {3, 7}, "tokens_total": {100, 100}, "ttft_seconds": {1.9, 1.9}, "labelled": {3, 3}}
				require.Len(t, o.Variants[0].Metrics, len(want), "what is absent is left out")
				for _, m := range o.Variants[0].Metrics {
					assert.InDeltaSlice(t, want[m.Name], m.Values, 0.02, m.Name)
					assert.Equal(t, 1, m.Missing)
				}
			})
		})
	}
}

// The percentile is that of the last minute; after a restart that of all since.
func TestPercentileOfTheLastMinute(t *testing.T) {
	bucketsOf := func(low, high int) buckets {
		return buckets{1: float64(low), 2: float64(low + high)}
	}
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	h := &history{}
	add := func(seconds int, b buckets) {
		h.add(snapshot{at: at(seconds), named: map[string]named{"x": {buckets: b}}}, time.Minute)
	}
	percentile := func() float64 {
		value, ok := h.metric("x", time.Minute)
		require.True(t, ok)
		return value
	}
	add(0, bucketsOf(100, 0))
	assert.InDelta(t, 0.95, percentile(), 1e-12, "no past is that counting began at 0")
	add(30, bucketsOf(100, 0))
	add(60, bucketsOf(100, 10))
	assert.InDelta(t, 2, percentile(), 1e-12, "rank 10 of 10 in the second bucket")
	add(90, bucketsOf(120, 10))
	assert.InDelta(t, 2-1./10*1, percentile(), 0.1, "20 and 10 since")
	add(105, bucketsOf(5, 0))
	assert.InDelta(t, 1, percentile(), 1e-12, "rank 5 of 5 since the restart")
}

func TestPodsOfAnotherOrderChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forwards, backwards := newCluster(t, Config{}), newCluster(t, Config{})
		for i := range 7 {
			rate := 0.1 * float64(i+1)
			forwards.add(vllmAt(rate, 3, 1))
			backwards.add(vllmAt(rate, 3, 1))
		}
		for i, j := 0, 6; i < j; i, j = i+1, j-1 {
			backwards.pods[i], backwards.pods[j] = backwards.pods[j], backwards.pods[i]
		}
		for range 6 {
			time.Sleep(cycleTime)
			a, err := forwards.observer.Observe(t.Context(), forwards.fleet)
			require.NoError(t, err)
			b, err := backwards.observer.Observe(t.Context(), backwards.fleet)
			require.NoError(t, err)
			assert.Equal(t, a, b)
		}
	})
}

func TestPodsThatAnswerBadly(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"answered with 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"answered with 302 Found": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"the answer is longer than":                 func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x 1\n", 1000)) },
		`does not report ["vllm:num_requests_runni`: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") },
	} {
		s := httptest.NewServer(handler)
		at := netip.MustParseAddrPort(s.Listener.Addr().String())
		series := everywhere(Series{Engine: VLLM, Scrape: &Scrape{Port: int(at.Port()), Path: "/m"}})
		var report Report
		o, err := New(Config{Scraping: Scraping{MaxResponseBytes: 1000}}, series, fixedPods{{Name: "p", Address: at.Addr().String(), Ready: true}, {Name: "q", Address: "", Ready: true}},
			func(r Report) { report = r })
		require.NoError(t, err)
		got, err := o.Observe(t.Context(), fleetOf("ns", 1))
		require.NoError(t, err)
		assert.Equal(t, []planner.Observation{{Workload: "ns/w"}}, got)
		require.Len(t, report.Failures, 1)
		require.ErrorContains(t, report.Failures[0], "metrics: 1 of 1 ready pods of ns/w don't tell, as p: "+want)
		s.Close()
	}
}

// fixedPods are those of every workload.
type fixedPods []Pod

// Pods implements [Pods].
func (p fixedPods) Pods(string) []Pod { return p }

func TestCancelledScrapeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{}, make([]func(float64) string, 3)...)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got, err := k.observer.Observe(ctx, k.fleet)
		require.NoError(t, err)
		assert.Equal(t, []planner.Observation{{Workload: "ns/w"}}, got)
		assert.Zero(t, k.asked.Load())
	})
}

// Prometheus and pods say the same.
func TestPodsAgreeWithPrometheus(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("agree", 0, func(s float64) string { return vllmAt(4, 5, 1)(s) + tokens(4*s, 80, 40) })
	at := netip.MustParseAddrPort(p.Listener.Addr().String())
	fleet := fleetOf("agree", 1)
	asked := until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return about(o.CompletionRate, 4) && fresh(o.InputTokens)
	})
	c := p.config(Series{Engine: VLLM, Scrape: &Scrape{Port: int(at.Port()), Path: path("agree", 0)}})
	c.URL = ""
	o, err := New(c.Config, c.series, fixedPods{{Name: "p", Variant: "only", Address: at.Addr().String(), Ready: true}}, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		got, err := o.Observe(t.Context(), fleet)
		require.NoError(t, err)
		return about(got[0].CompletionRate, 4) && got[0].Running == asked[0].Running && got[0].Waiting == asked[0].Waiting &&
			about(got[0].InputTokens, asked[0].InputTokens.Value) && about(got[0].OutputTokens, asked[0].OutputTokens.Value)
	}, patience, tick)
}

// A gateway counts arrivals also of workloads whose pods are asked themselves.
func TestPodsBesideAGateway(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("beside", 0, vllmAt(4, 5, 1))
	p.start("beside", 1, func(s float64) string {
		return line("inference_objective_request_total", ofModel, 9*s) + line("inference_extension_flow_control_queue_size", ofModel, 2)
	})
	at := netip.MustParseAddrPort(p.Listener.Addr().String())
	c := p.config(Series{Engine: VLLM, Gateway: &Gateway{}, Scrape: &Scrape{Port: int(at.Port()), Path: path("beside", 0)}})
	o, err := New(c.Config, c.series,
		fixedPods{{Name: "p", Variant: "only", Address: at.Addr().String(), Ready: true}}, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		got, err := o.Observe(t.Context(), fleetOf("beside", 1))
		require.NoError(t, err)
		return about(got[0].ArrivalRate, 9) && got[0].Running == of(5) && got[0].Waiting == of(3)
	}, patience, tick)
}

// FuzzExposition reads whatever a pod may report.
func FuzzExposition(f *testing.F) {
	f.Add(vllmAt(4, 5, 1)(10) + histogramType + tokens(3, 80, 40))
	f.Add("# TYPE vllm:request_prompt_tokens histogram\nvllm:request_prompt_tokens_bucket{le=\"NaN\"} 4\n")
	f.Add("vllm:num_requests_running{a=\"\\n\"} 1e400 5\n")
	e := vllm()
	wanted := e.wanted([]string{"vllm:request_prompt_tokens"})
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parse(strings.NewReader(text), wanted)
		if err != nil {
			return
		}
		h := &history{}
		for i := range 3 {
			s, _ := e.read(x, []string{"vllm:request_prompt_tokens"})
			s.at = time.Unix(int64(60*i), 0)
			h.add(s, time.Minute)
		}
		one := newReplica("w-0", 0, nil)
		h.report(one, &e, []string{"vllm:request_prompt_tokens"}, time.Unix(121, 0), time.Minute)
		r := reported{replicas: []*replica{one}}
		r.addBuckets(h.since(e.lengths(x)))
		w := workload("ns", "w", 1)
		s := scope{reported: &r, workload: &w, staleAfter: 45}
		for i := range e.demand {
			if m := s.measure(&e.demand[i]); hasValue(m) {
				assert.True(t, isValid(m.Value))
			}
		}
		if l := s.lengths(&e); hasValue(l.inputSCV) {
			assert.True(t, isValid(l.inputSCV.Value))
		}
	})
}
