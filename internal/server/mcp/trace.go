package mcp

import (
	"bytes"
	"context"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the instrumentation scope of the spans of calls.
const tracerName = "github.com/omnigraph-go/omnigraph/server"

// traced starts the span of a call, with the names of OpenTelemetry for MCP and GenAI, if the request is traced. The span continues the
// trace in the call's _meta (SEP-414) if there is one, and then links to the span of the request; otherwise it is below that span. The
// function `end` ends the span. A name that a client made up is in no span.
func (s *surface) traced(ctx context.Context, version string, m *message) (_ context.Context, end func(mcp.Result, error)) {
	request := trace.SpanFromContext(ctx)
	if !request.IsRecording() {
		return ctx, func(mcp.Result, error) {}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	if carrier := traceOf(m); carrier != nil {
		if ctx = (propagation.TraceContext{}).Extract(ctx, carrier); trace.SpanContextFromContext(ctx).SpanID() != request.SpanContext().SpanID() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: request.SpanContext()}))
		}
	}
	name, about := s.spanOf(m)
	about = append(about, attribute.String("mcp.method.name", m.method), attribute.String("mcp.protocol.version", version))
	ctx, span := request.TracerProvider().Tracer(tracerName).Start(ctx, name, append(options, trace.WithAttributes(about...))...)
	return ctx, func(res mcp.Result, err error) {
		if err != nil {
			code := strconv.FormatInt(wireError(err).Code, 10)
			span.SetAttributes(attribute.String("rpc.response.status_code", code), attribute.String("error.type", code))
			span.SetStatus(codes.Error, "") // the error's text may contain values
		}
		if r, ok := res.(*mcp.CallToolResult); ok && r.IsError {
			span.SetAttributes(attribute.String("error.type", "tool_error"))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// traceOf returns the trace context in a call's _meta, or nil.
func traceOf(m *message) propagation.TextMapCarrier {
	if !bytes.Contains(m.meta, []byte("traceparent")) {
		return nil
	}
	carrier := propagation.MapCarrier{}
	meta := anyMeta(m)
	for _, key := range (propagation.TraceContext{}).Fields() {
		if v, ok := meta[key].(string); ok {
			carrier[key] = v
		}
	}
	return carrier
}

// spanOf returns the name of a call's span, and attributes that say what the call is about.
func (s *surface) spanOf(m *message) (name string, about []attribute.KeyValue) {
	subject := ""
	if len(m.name) > 0 && m.name[0] == '"' {
		subject = unquoted(m.name)
	}
	switch {
	case m.method == "tools/call" && (s.names[subject] || s.own.named[subject] != nil):
		return m.method + " " + subject, []attribute.KeyValue{attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", subject)}
	case m.method == "prompts/get" && s.prompts.named[subject] != nil:
		return m.method + " " + subject, []attribute.KeyValue{attribute.String("gen_ai.prompt.name", subject)}
	}
	return m.method, nil
}
