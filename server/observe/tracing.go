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

// The variables of the environment that turn traces on.
const (
	endpointVar       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVar = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// flushTimeout is how long the spans that are left may take to be sent at the end.
const flushTimeout = 5 * time.Second

// Tracing exports spans as the variables OTEL_* of the environment say, over HTTP. The
// provider is nil when none of them names an endpoint. stop sends what is left, and
// ends it; a collector that does not take spans costs lines of log, and never a request.
func Tracing(ctx context.Context, version string, getenv func(string) string, log *slog.Logger) (p oteltrace.TracerProvider, stop func(), err error) {
	if getenv(endpointVar) == "" && getenv(tracesEndpointVar) == "" {
		return nil, func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("traces, which %s asks for: %w", endpointVar, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "omnigraph-server"), attribute.String("service.version", version)),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, nil, fmt.Errorf("the resource of traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be exported", "error", err) }))
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	return provider, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Warn("the last traces could not be exported", "error", err)
		}
	}, nil
}
