package observe

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// The environment variables that turn traces on.
const (
	endpointVar       = "OTEL_EXPORTER_OTLP_ENDPOINT"        // URL of the collector
	tracesEndpointVar = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" // the same, for traces only
)

// flushTimeout is the time limit for sending the remaining spans at shutdown.
const flushTimeout = 5 * time.Second

// Tracing exports spans over HTTP, as the OTEL_* environment variables say. The provider is nil if
// no variable names an endpoint. The function `stop` sends the remaining spans and shuts the
// provider down. A collector that fails causes log lines only; it never makes a request fail.
func Tracing(ctx context.Context, version string, getenv func(string) string, log *slog.Logger) (p oteltrace.TracerProvider, stop func(), err error) {
	if getenv(endpointVar) == "" && getenv(tracesEndpointVar) == "" {
		return nil, func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is set, but the export of traces cannot start: %w", endpointVar, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "omnigraph-server"), attribute.String("service.version", version)),
		// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the attributes above.
		resource.WithFromEnv(),
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, nil, fmt.Errorf("describing this server for traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("the server could not export traces", "error", err) }))
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	return provider, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Warn("the server could not export the last traces", "error", err)
		}
	}, nil
}
