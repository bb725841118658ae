package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestRedaction(t *testing.T) {
	read := &tool.Descriptor{
		Name: "graph_query", Description: "Reads. To write, use graph_mutate.\n\nAsk for its callers, or run `callers`. Done.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"The text. Not that of \"graph_mutate\"."}}}`),
	}
	write, callers := &tool.Descriptor{Name: "graph_mutate"}, &tool.Descriptor{Name: "callers"}
	r := newRedaction([]*tool.Descriptor{read, write, callers})
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
		got := r.tool(served, namesOf(tt.seen))
		if got.Description != tt.description || string(got.InputSchema.(json.RawMessage)) != tt.schema {
			t.Errorf("%s: %q %s", tt.name, got.Description, got.InputSchema)
		}
	}
	if got := r.text("The text; graph_mutate writes it.", nil); got != "The text." {
		t.Errorf("of one sentence is left %q", got)
	}
	if got := r.text("The callers are many.", nil); got != "The callers are many." {
		t.Errorf("an ordinary word is taken for a name: %q", got)
	}
}

func TestNamesInText(t *testing.T) {
	var tools []*tool.Descriptor
	for _, name := range []string{"get_user", "callers", "by-id", "user-by", "getX", "v2", "-odd-"} {
		tools = append(tools, &tool.Descriptor{Name: name})
	}
	r := newRedaction(tools)
	for text, want := range map[string][]string{
		"":                                      nil,
		"get_user":                              {"get_user"},
		"get_user, get_user.":                   {"get_user"},
		"get_users and forget_user":             nil,
		"get_user-by-id":                        {"by-id", "get_user"},
		"the user-by-id":                        {"by-id", "user-by"},
		"callers of `callers`":                  {"callers"},
		"the callers":                           nil,
		`{"tool":\"callers\"}`:                  {"callers"},
		"`callers of v2":                        {"v2"},
		"égetXé v2":                             {"getX", "v2"},
		"x-odd-y":                               {"-odd-"},
		"-odd-":                                 nil,
		strings.Repeat("get-", 100) + "getX":    {"getX"},
		"run `get_user`; GETX and get-X differ": {"get_user"},
	} {
		if got := r.in(text); !slices.Equal(got, want) {
			t.Errorf("%q names %q, expected %q", text, got, want)
		}
	}
}

// BenchmarkRedaction reads the texts of a thousand tools, as a server does at its start.
func BenchmarkRedaction(b *testing.B) {
	var tools []*tool.Descriptor
	for i := range 1000 {
		tools = append(tools, &tool.Descriptor{
			Name: fmt.Sprintf("get_thing_%d", i), Description: strings.Repeat("Get a thing by its name; see also get_thing_7. ", 8),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"params":{"type":"object","properties":{"name":{"type":"string"}}},"branch":{"type":"string"}}}`),
		})
	}
	for b.Loop() {
		newRedaction(tools)
	}
}
