package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/server"
)

// instruments are what a loop shares with the server: what both are watched by, and that it
// goes before calls.
type instruments struct {
	registry   *prometheus.Registry
	log        *slog.Logger
	traces     trace.TracerProvider // nil = none
	precedence *server.Precedence
}

// tracesGrace is how long the last traces may take.
const tracesGrace = 5 * time.Second

// traces returns what traces are made with, none where c is nil, and what sends the last ones.
func traces(ctx context.Context, c *config.Tracing, log *slog.Logger) (trace.TracerProvider, func(), error) {
	if c == nil {
		return nil, func() {}, nil
	}
	provider, err := tracing.New(ctx, tracing.Config{
		Endpoint: c.Endpoint, CAFile: c.CAFile, Insecure: c.Insecure, Sampling: c.Sampling, Version: release(),
	})
	if err != nil {
		return nil, nil, &InputError{err}
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces were lost", "error", err) }))
	return provider, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesGrace)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Warn("traces were lost", "error", err)
		}
	}, nil
}
