package metrics

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"

	"github.com/poolwright/poolwright/internal/tracing"
)

// client asks Prometheus. It reads answers itself: the typed client above
// [api.Client] takes nearly twice as long for large ones.
type client struct {
	api     api.Client
	timeout time.Duration
}

func newClient(c *Config) (*client, error) {
	base := http.DefaultTransport.(*http.Transport).Clone()
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("metrics: caFile: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("metrics: caFile: no certificate in %s", c.CAFile)
		}
		base.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	inner, err := api.NewClient(api.Config{Address: c.URL, Client: &http.Client{
		Transport: &transport{base: tracing.Transport("query", base), headers: c.Headers, tokenFile: c.BearerTokenFile, most: c.MaxResponseBytes},
		// A redirect would take the token to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err != nil {
		return nil, fmt.Errorf("metrics: url: %w", err)
	}
	return &client{api: inner, timeout: c.Timeout}, nil
}

// sample is one element of a vector.
type sample struct {
	labels map[string]string
	value  float64
}

// answer is what the query API answers with.
type answer struct {
	Status, ErrorType, Error string
	Warnings                 []string
	Data                     struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			// Value is a time in seconds, and a number as text.
			Value [2]any
		}
	}
}

// query asks for a vector, now by the clock of Prometheus.
func (c *client) query(ctx context.Context, text string) ([]sample, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	form := url.Values{"query": {text}, "timeout": {duration(c.timeout)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.api.URL("/api/v1/query", nil).String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, body, err := c.api.Do(ctx, request) //nolint:bodyclose // Do reads and closes it
	if err != nil {
		return nil, nil, err
	}
	var a answer
	switch err := json.Unmarshal(body, &a); {
	case a.Status == "error":
		return nil, a.Warnings, fmt.Errorf("%s: %s", a.ErrorType, a.Error)
	case response.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("answered with %s", response.Status)
	case err != nil:
		return nil, nil, err
	}
	samples, err := a.vector()
	return samples, a.Warnings, err
}

func (a *answer) vector() ([]sample, error) {
	if a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("answered with a %q, not with a vector", a.Data.ResultType)
	}
	samples := make([]sample, len(a.Data.Result))
	for i := range a.Data.Result {
		text, _ := a.Data.Result[i].Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("answered with a sample whose value is no number: %w", err)
		}
		samples[i] = sample{labels: a.Data.Result[i].Metric, value: value}
	}
	return samples, nil
}

// transport adds what a query is authorized with, and cuts off answers that are too
// long.
type transport struct {
	base      http.RoundTripper
	headers   map[string]string
	tokenFile string
	most      int64
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	if t.tokenFile != "" {
		token, err := os.ReadFile(t.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("bearerTokenFile: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &limitedBody{response.Body, t.most}
	return response, nil
}

var errTooLong = errors.New("the answer is longer than maxResponseBytes")

// limitedBody fails where more is read than allowed.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
