package tracing

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/credentials"
)

// Config is where traces go.
type Config struct {
	// Endpoint takes OTLP over gRPC: "host:port".
	Endpoint string
	// CAFile has the authorities to trust, in PEM; empty = those of the system.
	CAFile string
	// Insecure: the connection is not encrypted.
	Insecure bool
	// Sampling is the part of the calls that is traced, in (0, 1]. Cycles are traced always,
	// and calls whose caller traces them.
	Sampling float64
	// Version of the program.
	Version string
}

// New returns what traces are made with. Its Shutdown sends what is left. The collector need
// not be there; what it does not take is lost.
func New(ctx context.Context, c Config) (*sdk.TracerProvider, error) {
	options := []otlptracegrpc.Option{otlptracegrpc.WithEndpoint(c.Endpoint)}
	switch {
	case c.Insecure:
		options = append(options, otlptracegrpc.WithInsecure())
	case c.CAFile != "":
		trusted, err := credentials.NewClientTLSFromFile(c.CAFile, "")
		if err != nil {
			return nil, fmt.Errorf("tracing: caFile: %w", err)
		}
		options = append(options, otlptracegrpc.WithTLSCredentials(trusted))
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return sdk.NewTracerProvider(
		sdk.WithBatcher(exporter),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "poolwright"), attribute.String("service.version", c.Version),
		)),
		sdk.WithSampler(sdk.ParentBased(sampler{sdk.TraceIDRatioBased(c.Sampling)})),
	), nil
}

// sampler samples cycles always.
type sampler struct{ others sdk.Sampler }

// ShouldSample implements [sdk.Sampler].
func (s sampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Name == cycle {
		return sdk.AlwaysSample().ShouldSample(p)
	}
	return s.others.ShouldSample(p)
}

// Description implements [sdk.Sampler].
func (s sampler) Description() string { return "Cycles," + s.others.Description() }

// Transport traces requests that are made within a trace, such as in a cycle, under a name;
// others, such as watches, belong to none.
func Transport(name string, next http.RoundTripper) http.RoundTripper {
	return otelhttp.NewTransport(next,
		otelhttp.WithFilter(func(r *http.Request) bool {
			return trace.SpanContextFromContext(r.Context()).IsSampled()
		}),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return name + " " + r.Method }),
		otelhttp.WithPropagators(propagation.TraceContext{}),
	)
}
