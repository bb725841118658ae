package server_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// TestTraces checks the spans of a traced read, from the request to the operators, and that
// they do not contain its arguments.
func TestTraces(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	defer provider.Shutdown(context.Background())
	log, with := logTo(t, "info")
	ts := newServer(t, with, func(o *server.Options) { o.Tracer = provider })
	const parent, secret = "4bf92f3577b34da6a3ce929d0e0e4736", "shelf"
	ts.ask(t, "POST", "/graphs/code/mcp", toolCall("find_symbols", `{"params":{"words":"`+secret+`"}}`),
		"Traceparent", "00-"+parent+"-00f067aa0ba902b7-01", "X-Request-Id", "traced-1")
	const session = "5cf92f3577b34da6a3ce929d0e0e4737" // the trace of a client whose transport has another one
	inMeta := func(name, meta string) {
		ts.ask(t, "POST", "/graphs/code/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{},"_meta":{"traceparent":`+meta+`}}}`,
			"Traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	}
	inMeta("branch_list", `"00-`+session+`-11f067aa0ba902b7-01"`)
	inMeta("made-up", `"00-`+session+`-bad"`)
	inMeta("graph_query", `7`)
	ts.ask(t, "POST", "/graphs/code/query", `{"query":"query q() { match { $s: Symbol { name: \"Find\" } } return { $s.path } }"}`,
		"Traceparent", "00-"+strings.ToUpper(parent)+"-bad")
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	all := spans.GetSpans()
	byName := map[string]tracetest.SpanStub{}
	for _, s := range all {
		if s.SpanContext.TraceID().String() == parent {
			byName[s.Name] = s
		}
		for _, a := range s.Attributes {
			if strings.Contains(a.Value.String(), secret) || strings.Contains(a.Value.String(), "Find") || strings.Contains(a.Value.String(), "token") {
				t.Errorf("span %s tells %s", s.Name, a.Value.String())
			}
		}
	}
	message, call, read := byName["tools/call find_symbols"], byName["call find_symbols"], byName["read"]
	var request tracetest.SpanStub // of the first request
	for _, s := range all {
		if s.SpanContext.SpanID() == message.Parent.SpanID() {
			request = s
		}
	}
	if request.Name != "POST /graphs/{id}/mcp" || request.Parent.SpanID().String() != "00f067aa0ba902b7" || call.Parent.SpanID() != message.SpanContext.SpanID() || read.Parent.SpanID() != call.SpanContext.SpanID() {
		t.Fatalf("the spans of the trace are %v", slices.Collect(maps.Keys(byName)))
	}
	root := byName["return"]
	if root.Parent.SpanID() != read.SpanContext.SpanID() {
		t.Errorf("the operator that yields the result hangs under %s", root.Parent.SpanID())
	}
	operators := 0
	for _, s := range byName {
		for _, a := range s.Attributes {
			if a.Key == "omnigraph.operator.rows" {
				operators++
				if s.StartTime.Before(read.StartTime) || s.EndTime.After(read.EndTime) || s.EndTime.Before(s.StartTime) {
					t.Errorf("operator %s lasts from %v to %v, the read from %v to %v", s.Name, s.StartTime, s.EndTime, read.StartTime, read.EndTime)
				}
			}
		}
	}
	if operators < 3 {
		t.Errorf("%d operators have rows", operators)
	}
	for name, want := range map[string]string{
		"tools/call find_symbols": "gen_ai.operation.name=execute_tool gen_ai.tool.name=find_symbols mcp.method.name=tools/call",
		"tools/call branch_list":  "gen_ai.operation.name=execute_tool gen_ai.tool.name=branch_list mcp.method.name=tools/call",
		"tools/call graph_query":  "error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=graph_query mcp.method.name=tools/call",
		"tools/call":              "error.type=-32602 mcp.method.name=tools/call rpc.response.status_code=-32602",
	} {
		i := slices.IndexFunc(all, func(s tracetest.SpanStub) bool { return s.Name == name })
		if i < 0 {
			t.Errorf("there is no span %s", name)
			continue
		}
		var about []string
		for _, a := range all[i].Attributes {
			if a.Key != "mcp.protocol.version" {
				about = append(about, string(a.Key)+"="+a.Value.AsString())
			}
		}
		slices.Sort(about)
		if got := strings.Join(about, " "); got != want {
			t.Errorf("the span %s has %s, want %s", name, got, want)
		}
		inSession := name == "tools/call branch_list"
		if s := all[i]; (s.SpanContext.TraceID().String() == session) != inSession || (s.Parent.SpanID().String() == "11f067aa0ba902b7") != inSession || (len(s.Links) == 1) != inSession {
			t.Errorf("the span %s is in the trace %s, with %d links", name, s.SpanContext.TraceID(), len(s.Links))
		}
	}
	other := slices.IndexFunc(all, func(s tracetest.SpanStub) bool { return s.Name == "POST /graphs/{id}/query" })
	if other < 0 || all[other].Parent.IsValid() || all[other].SpanContext.TraceID().String() == parent {
		t.Error("a malformed traceparent was taken")
	}
	if lines := log.lines(t, "request"); len(lines) != 5 || lines[0]["trace"] != parent {
		t.Errorf("the lines of requests are %v", lines)
	}
}
