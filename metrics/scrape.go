package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/expfmt"
	"golang.org/x/sync/errgroup"
)

// scraper asks pods themselves, and remembers what they said of late.
type scraper struct {
	config *Config
	pods   Pods
	client *http.Client
	// histories are by workload and pod.
	histories map[podKey]*history
}

type podKey struct{ workload, pod string }

func newScraper(c *Config, pods Pods) *scraper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 1
	return &scraper{
		config: c, pods: pods, histories: map[podKey]*history{},
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// scrape is what one pod is asked, and its answer.
type scrape struct {
	workload, variant int
	pod               Pod
	url               string
	engine            *engine
	names             []string
	wanted            map[string]bool
	history           *history
	snapshot          snapshot
	// lengths are asked for where variation is.
	variation bool
	lengths   map[quantity]buckets
	err       error
}

// run asks the ready pods of the workloads that are to be scraped, and puts what they report
// into the cycle. Each has its own deadline, and all together have one. Those that are known
// to answer are asked first, and those that did not last time last, so that they keep
// nobody waiting; among them those first that were not asked for longest.
func (s *scraper) run(ctx context.Context, c *cycle) {
	scrapes := s.list(c, time.Now())
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(s.config.Scraping.Concurrency)
	for i := range scrapes {
		one := &scrapes[i]
		group.Go(func() error {
			one.snapshot, one.err = s.ask(ctx, one)
			return nil
		})
	}
	_ = group.Wait() // failures stand with their pods
	s.take(c, scrapes, time.Now())
}

// list is who is asked, in which order.
func (s *scraper) list(c *cycle, now time.Time) []scrape {
	var all []scrape
	for i := range c.fleet.Workloads {
		how := c.series[i].Scrape
		if how == nil {
			continue
		}
		e, names := c.engineOf(i), c.metricsOf(i)
		wanted := e.wanted(names)
		for _, pod := range s.pods.Pods(c.fleet.Workloads[i].QualifiedName()) {
			if !pod.Ready || pod.Address == "" {
				continue
			}
			key := podKey{c.fleet.Workloads[i].QualifiedName(), pod.Name}
			if s.histories[key] == nil {
				s.histories[key] = &history{}
			}
			s.histories[key].listed = now
			all = append(all, scrape{
				workload: i, variant: c.variantOf(i, pod.Variant), pod: pod, url: how.url(pod.Address),
				engine: e, names: names, wanted: wanted, history: s.histories[key],
				variation: c.scraping.variation && !declaresLengths(&c.fleet.Workloads[i]),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b scrape) int {
		return cmp.Or(a.history.failed.Compare(b.history.failed), cmp.Compare(min(1, len(b.history.snapshots)), min(1, len(a.history.snapshots))))
	})
	return all
}

// url is that of the metrics of a pod.
func (s *Scrape) url(address string) string {
	port, path := cmp.Or(s.Port, defaultPort), cmp.Or(s.Path, defaultPath)
	return "http://" + net.JoinHostPort(address, strconv.Itoa(port)) + path
}

// wanted are the names of what is read of a pod.
func (e *engine) wanted(names []string) map[string]bool {
	all := map[string]bool{}
	for _, list := range [][]metric{e.demand, e.work, {{names: e.present}, {names: names}}} {
		for i := range list {
			for _, name := range list[i].names {
				all[name], all[histogramOf(name)] = true, true
			}
		}
	}
	return all
}

// errNoTurn is that of pods that were not asked before the time of all was over.
var errNoTurn = errors.New("there was no time left to ask")

// ask asks one pod.
func (s *scraper) ask(ctx context.Context, one *scrape) (snapshot, error) {
	if ctx.Err() != nil {
		return snapshot{}, errNoTurn
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Scraping.Timeout)
	defer cancel()
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, one.url, nil)
	if err != nil {
		return snapshot{}, err
	}
	request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	response, err := s.client.Do(request)
	if err != nil {
		return snapshot{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body := &limitedBody{response.Body, s.config.Scraping.MaxResponseBytes}
	if response.StatusCode != http.StatusOK {
		return snapshot{}, fmt.Errorf("answered with %s", response.Status)
	}
	x, err := parse(body, one.wanted)
	if err != nil {
		return snapshot{}, err
	}
	_, _ = io.Copy(io.Discard, body) // so that the connection is used again
	result, ok := one.engine.read(x, one.names)
	if !ok {
		return snapshot{}, fmt.Errorf("does not report %q", one.engine.present)
	}
	if one.variation {
		one.lengths = one.engine.lengths(x)
	}
	result.at, result.started = began, one.pod.Started
	return result, nil
}

// take puts what was reported into the cycle.
func (s *scraper) take(c *cycle, scrapes []scrape, now time.Time) {
	failed := map[int][]string{}
	asked := make([]int, len(c.fleet.Workloads))
	for i := range scrapes {
		one := &scrapes[i]
		h := one.history
		asked[one.workload]++
		switch {
		case one.err == nil:
			h.failed = time.Time{}
			h.add(one.snapshot, s.config.Window)
		case !errors.Is(one.err, errNoTurn):
			h.failed = now
		}
		if one.err != nil {
			failed[one.workload] = append(failed[one.workload], fmt.Sprintf("%s: %v", one.pod.Name, one.err))
		}
		c.pods[one.workload] = append(c.pods[one.workload], podReport{one.pod.Name, one.variant, h, h.since(one.lengths)})
	}
	c.scraped = len(scrapes)
	for i := range c.fleet.Workloads {
		if messages := failed[i]; len(messages) > 0 {
			slices.Sort(messages)
			c.failures = append(c.failures, fmt.Errorf("metrics: %d of %d ready pods of %s don't tell, as %s",
				len(messages), asked[i], c.fleet.Workloads[i].QualifiedName(), messages[0]))
		}
		s.report(c, i, now)
	}
	s.forget(now)
}

// report sums up the pods of a workload.
func (s *scraper) report(c *cycle, i int, now time.Time) {
	if len(c.pods[i]) == 0 {
		return
	}
	slices.SortFunc(c.pods[i], func(a, b podReport) int { return cmp.Compare(a.pod, b.pod) })
	of, e, names := &reported{}, c.engineOf(i), c.metricsOf(i)
	for _, pod := range c.pods[i] {
		r := newReplica(pod.pod, pod.variant, c.series[i].partsOf(&c.fleet.Workloads[i], pod.variant))
		if r.other {
			continue
		}
		pod.history.report(r, e, names, now, s.config.Window)
		of.replicas = append(of.replicas, r)
		if !r.prefill {
			of.addBuckets(pod.lengths)
		}
	}
	c.reported[i] = of
}

// forget drops what is known of pods that have been gone for long.
func (s *scraper) forget(now time.Time) {
	maps.DeleteFunc(s.histories, func(_ podKey, h *history) bool { return now.Sub(h.listed) > memory })
}
