package metrics

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// vector is an answer of the query API.
func vector(samples ...string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(samples, ",") + `]}}`
}

// point is a sample of a replica of workload ns/w.
func point(q quantity, pod, value string) string {
	return fmt.Sprintf(`{"metric":{"namespace":"ns","model_name":"m","pod":%q,%q:%q},"value":[1700000000,%q]}`, pod, quantityLabel, q, value)
}

// observed answers every query in the same way, and returns what follows.
func observed(t *testing.T, c Config, handler http.HandlerFunc) ([]planner.Observation, Report, error) {
	t.Helper()
	s := httptest.NewServer(handler)
	defer s.Close()
	c.URL = s.URL
	var report Report
	o, err := New(c, everywhere(Series{Engine: VLLM}), nil, func(r Report) { report = r })
	require.NoError(t, err)
	got, err := o.Observe(t.Context(), fleetOf("ns", 1))
	return got, report, err
}

func TestFailureOfOneQueryIsAStateOfWhatItAsksFor(t *testing.T) {
	demand := vector(point(age, "p", "3"), point(completions, "p", "2"), point(running, "p", "4"), point(waiting, "p", "0"))
	got, report, err := observed(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), `"age"`) {
			_, _ = io.WriteString(w, demand)
			return
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"status":"error","errorType":"execution","error":"too many samples"}`)
	})
	require.NoError(t, err)
	assert.Equal(t, []planner.Observation{{Workload: "ns/w", Window: time.Minute, CompletionRate: of(2), Running: of(4), Waiting: of(0), Age: 3 * time.Second}}, got)
	assert.Equal(t, 2, report.Queries)
	require.Len(t, report.Failures, 1)
	assert.EqualError(t, report.Failures[0], "metrics: work of vllm: execution: too many samples")
}

func TestFailureOfAllQueriesIsAnError(t *testing.T) {
	for _, test := range []struct {
		name, message string
		config        Config
		handler       http.HandlerFunc
	}{
		{"error of the server", "answered with 503 Service Unavailable", Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }},
		{"no JSON", "invalid character", Config{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }},
		{"cut off", "unexpected EOF", Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, vector(point(age, "p", "3"))[:20])
		}},
		{"another type", `answered with a "matrix", not with a vector`, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
		}},
		{"no number", "value is no number", Config{}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, vector(point(age, "p", "many")))
		}},
		{"too long", "longer than maxResponseBytes", Config{MaxResponseBytes: 100}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, vector(point(age, "p", "3")))
		}},
		{"too late", "deadline exceeded", Config{Timeout: 50 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client is gone
			<-r.Context().Done()
		}},
		{"a redirect", "answered with 307 Temporary Redirect", Config{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}},
		{"no token", "bearerTokenFile", Config{BearerTokenFile: filepath.Join(t.TempDir(), "none")}, func(http.ResponseWriter, *http.Request) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, report, err := observed(t, test.config, test.handler)
			require.ErrorContains(t, err, test.message)
			require.ErrorContains(t, err, "metrics: demand of vllm: ")
			assert.Nil(t, got)
			assert.Len(t, report.Failures, 2)
		})
	}
}

func TestWarningsSurface(t *testing.T) {
	_, report, err := observed(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"success","warnings":["a store is away"],"data":{"resultType":"vector","result":[]}}`)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a store is away", "a store is away"}, report.Warnings)
	assert.Empty(t, report.Failures)
}

func TestSeriesThatAreNotValidSpoilNoQuery(t *testing.T) {
	p := prometheus(t)
	fleet := planner.Fleet{Workloads: []planner.Workload{workload("nowhere", "bad", 1), workload("nowhere", "good", 1)}}
	var report Report
	o, err := New(p.config(Series{}).Config, func(w *planner.Workload) Series {
		if w.Name == "bad" {
			return Series{Engine: VLLM, Selector: Labels{"a) or vector(1": "x"}}
		}
		return Series{Engine: VLLM}
	}, nil, func(r Report) { report = r })
	require.NoError(t, err)
	got, err := o.Observe(t.Context(), fleet)
	require.NoError(t, err)
	assert.Len(t, got, 2)
	assert.Equal(t, []string{`metrics: nowhere/bad.selector: "a) or vector(1" is no name of a label`}, report.Warnings)
}

func TestAuthorization(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	var seen []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+" "+r.Header.Get("X-Scope-OrgID"))
		_, _ = io.WriteString(w, vector())
	}
	c := Config{BearerTokenFile: token, Headers: map[string]string{"X-Scope-OrgID": "us"}}
	s := httptest.NewServer(http.HandlerFunc(handler))
	defer s.Close()
	c.URL = s.URL
	o, err := New(c, everywhere(Series{Engine: LlamaCPP}), nil, nil)
	require.NoError(t, err)
	for _, secret := range []string{"first\n", "second"} {
		require.NoError(t, os.WriteFile(token, []byte(secret), 0o600))
		_, err = o.Observe(t.Context(), fleetOf("ns", 1))
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Bearer first us", "Bearer second us"}, seen)
}

func TestAuthoritiesOfTheConfiguration(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, vector()) }))
	defer s.Close()
	s.Config.ErrorLog = nil
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	c := Config{URL: s.URL, CAFile: file}
	o, err := New(c, everywhere(Series{Engine: LlamaCPP}), nil, nil)
	require.NoError(t, err)
	_, err = o.Observe(t.Context(), fleetOf("ns", 1))
	require.NoError(t, err)

	c.CAFile = filepath.Join(t.TempDir(), "none")
	_, err = New(c, everywhere(Series{Engine: LlamaCPP}), nil, nil)
	require.ErrorContains(t, err, "metrics: caFile: ")
	require.NoError(t, os.WriteFile(c.CAFile, []byte("nothing"), 0o600))
	_, err = New(c, everywhere(Series{Engine: LlamaCPP}), nil, nil)
	require.ErrorContains(t, err, "metrics: caFile: no certificate in ")
}

func TestStrangeAnswersChangeNothing(t *testing.T) {
	got, _, err := observed(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, vector(
			`{"metric":{},"value":[1700000000,"1"]}`,
			`{"metric":{"namespace":"ns","model_name":"m","pod":"p"},"value":[1700000000,"1"]}`,
			`{"metric":{"namespace":"ns","model_name":"m","pod":"p","poolwright_quantity":"unknown"},"value":[1700000000,"1"]}`,
		))
	})
	require.NoError(t, err)
	assert.Equal(t, []planner.Observation{{Workload: "ns/w"}}, got)
}

// canned is an API client that answers everything in the same way.
type canned string

// URL implements [api.Client].
func (canned) URL(string, map[string]string) *url.URL { return &url.URL{Scheme: "http", Host: "x"} }

// Do implements [api.Client].
func (c canned) Do(context.Context, *http.Request) (*http.Response, []byte, error) {
	return &http.Response{StatusCode: http.StatusOK}, []byte(c), nil
}
