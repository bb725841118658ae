package mcp

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestNaming(t *testing.T) {
	read := &tool.Descriptor{
		Name: "graph_query", Description: "Reads. To write, use graph_mutate.\n\nAsk for its callers, or run `callers`. Done.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"The text. Not that of \"graph_mutate\"."}}}`),
	}
	write, callers := &tool.Descriptor{Name: "graph_mutate"}, &tool.Descriptor{Name: "callers"}
	n := newNaming([]*tool.Descriptor{read, write, callers})
	served := &sdk.Tool{Name: "graph_query", Description: read.Description, InputSchema: read.InputSchema}
	for _, tt := range []struct {
		name                string
		seen                []*tool.Descriptor
		description, schema string
	}{
		{"everything", []*tool.Descriptor{read, write, callers}, read.Description, string(read.InputSchema)},
		{"no writing", []*tool.Descriptor{read, callers}, "Reads. Ask for its callers, or run `callers`. Done.",
			`{"type":"object","properties":{"query":{"type":"string","description":"The text."}}}`},
		{"no query", []*tool.Descriptor{read, write}, "Reads. To write, use graph_mutate.\n\nDone.", string(read.InputSchema)},
	} {
		got := n.tool(served, tt.seen)
		if got.Description != tt.description || string(got.InputSchema.(json.RawMessage)) != tt.schema {
			t.Errorf("%s: %q %s", tt.name, got.Description, got.InputSchema)
		}
	}
	if got := n.text("The text; graph_mutate writes it.", nil); got != "The text." {
		t.Errorf("of one sentence is left %q", got)
	}
	if got := n.text("The callers are many.", nil); got != "The callers are many." {
		t.Errorf("an ordinary word is taken for a name: %q", got)
	}
}
