package observe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/admission"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestMetricsPage checks docs/reference/metrics.md against the table; -update writes it.
func TestMetricsPage(t *testing.T) {
	golden.Check(t, "../../../docs/reference/metrics.md", page())
}

func page() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Code generated from internal/server/observe/table.go by make docs; DO NOT EDIT. -->\n\n# Metrics of omnigraph-server\n\n")
	b.WriteString("`GET /metrics` answers in the text format of Prometheus, or in OpenMetrics for clients that ask for it. " +
		"Beside these there are the metrics `go_*` and `process_*` of the Go runtime and of the process. " +
		"Labels have values out of bounded sets: no client can add one, and no actor is named.\n")
	for _, part := range []struct{ title, prefix string }{
		{"The server", ""}, {"Requests", "omnigraph_http_"}, {"Calls", "omnigraph_call"}, {"Graphs", "omnigraph_graph_"}, {"Embedding providers", "omnigraph_embedding_"},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		for _, m := range Metrics {
			if !strings.HasPrefix(m.Name, part.prefix) || part.prefix == "" && elsewhere(m.Name) {
				continue
			}
			fmt.Fprintf(&b, "\n### %s\n\n%s", m.Name, article[m.Kind])
			if len(m.Labels) > 0 {
				fmt.Fprintf(&b, " by `%s`", strings.Join(m.Labels, "`, `"))
			}
			fmt.Fprintf(&b, ". %s\n", m.Help)
			if m.Watch != "" {
				fmt.Fprintf(&b, "\nWatch: %s\n", m.Watch)
			}
		}
	}
	b.WriteString("\n## Values of labels\n\n")
	fmt.Fprintf(&b, "- `outcome` of calls: %s.\n", list(wireerror.Outcomes))
	fmt.Fprintf(&b, "- `reason` of refusals: %s.\n", list(admission.Reasons))
	fmt.Fprintf(&b, "- `class`: %s.\n", list(classes[2:]))
	b.WriteString("- `route`: the patterns of the REST routes, `" + "/graphs/{id}/mcp`, `/metrics`, `none` and `other`.\n")
	b.WriteString("- `graph`: the graphs of cluster.yaml. `tool`: the tools and stored queries of the graph, the REST operations, and `unknown`.\n")
	fmt.Fprintf(&b, "\nBuckets of calls, in seconds: %v. Buckets of requests and of embedding: %v.\n", callBuckets, otherBuckets)
	return b.Bytes()
}

var article = map[Kind]string{Counter: "A counter", Gauge: "A gauge", Histogram: "A histogram in seconds"}

// elsewhere reports whether a metric belongs to a part of the page other than the first.
func elsewhere(name string) bool {
	for _, prefix := range []string{"http_", "call", "graph_", "embedding_"} {
		if strings.HasPrefix(name, "omnigraph_"+prefix) {
			return true
		}
	}
	return false
}

func list[T ~string](values []T) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "`%s`", v)
	}
	return b.String()
}
