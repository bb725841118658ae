package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// half allows everyone to read main and to invoke only find_person.
type half struct{ servedtest.Policy }

func (half) Allowed(_ *access.Actor, g tool.Grant) bool {
	return g.Action == tool.Read || g.Action == tool.InvokeQuery && g.Query == "find_person"
}

func TestPrompts(t *testing.T) {
	ctx := context.Background()
	url := serve(t, config(t), mcp.Options{})
	reader := connect(t, url, servedtest.Reader)
	list, err := reader.ListPrompts(ctx, nil)
	if err != nil || len(list.Prompts) != 2 || list.CacheScope != "private" {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, tt := range []struct {
		file, name string
		args       map[string]string
	}{
		{"write_query", "write_query", map[string]string{"intent": "who knows whom", "types": "Person, Person"}},
		{"write_filter", "write_filter", map[string]string{"type": "Person", "intent": "the old ones"}},
	} {
		res, err := reader.GetPrompt(ctx, &sdk.GetPromptParams{Name: tt.name, Arguments: tt.args})
		if err != nil || len(res.Messages) != 1 || res.Messages[0].Role != "user" {
			t.Fatalf("%s: %+v, %v", tt.name, res, err)
		}
		golden.Check(t, "testdata/prompt-"+tt.file+".md", []byte(res.Messages[0].Content.(*sdk.TextContent).Text))
	}
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"write_query", nil, "intent: the argument is missing"},
		{"write_query", map[string]string{"intent": "x", "types": "Persn"}, "types: the schema has no node type Persn; did you mean Person?"},
		{"write_filter", nil, "type: the argument is missing"},
		{"write_filter", map[string]string{"type": "Knows"}, "type: the schema has no node type Knows"},
		{"nosuch", nil, "unknown prompt"},
	} {
		if _, err := reader.GetPrompt(ctx, &sdk.GetPromptParams{Name: tt.name, Arguments: tt.args}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %s", tt.name, tt.args, err, tt.want)
		}
	}
	// Without a types argument the prompt shows all types.
	res, err := reader.GetPrompt(ctx, &sdk.GetPromptParams{Name: "write_query", Arguments: map[string]string{"intent": "x"}})
	if err != nil || !strings.Contains(res.Messages[0].Content.(*sdk.TextContent).Text, "- $person knows $person2: Knows: Person -> Person") {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestPromptsMasked checks that a prompt that the actor may not get answers like an unknown
// one.
func TestPromptsMasked(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	for _, actor := range []*access.Actor{servedtest.Bot, servedtest.Nobody, servedtest.Drafter} {
		if list, err := connect(t, url, actor).ListPrompts(context.Background(), nil); err != nil || len(list.Prompts) != 0 {
			t.Errorf("%s: %+v, %v", actor.ID, list, err)
		}
		get := func(name string) string {
			_, body := post(t, url, "2025-11-25", actor, message("2025-11-25", "prompts/get", `"name":"`+name+`","arguments":{"intent":"x"}`))
			return strings.ReplaceAll(body, name, "X")
		}
		if denied, absent := get("write_query"), get("write_quart"); denied != absent || !strings.Contains(absent, "unknown prompt") {
			t.Errorf("%s\ndenied: %s\nabsent: %s", actor.ID, denied, absent)
		}
	}
}

// TestNamedQueries checks that the catalog and the prompts name exactly the stored queries that
// tools/list lists.
func TestNamedQueries(t *testing.T) {
	ctx := context.Background()
	c := config(t)
	c.Authorizer = half{}
	s := connect(t, serve(t, c, mcp.Options{}), servedtest.Reader)
	var texts []string
	for _, uri := range []string{"omnigraph://catalog", "omnigraph://gq-reference", "omnigraph://schema", "omnigraph://branches"} {
		res, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, res.Contents[0].Text)
	}
	if !strings.Contains(texts[0], `"tool":"lookup_person"`) || !strings.Contains(texts[0], `"description":"The name."`) {
		t.Errorf("catalog: %s", texts[0])
	}
	prompt, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: "write_query", Arguments: map[string]string{"intent": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	text := prompt.Messages[0].Content.(*sdk.TextContent).Text
	if !strings.Contains(text, "lookup_person") {
		t.Errorf("prompt: %s", text)
	}
	for _, text := range append(texts, text) {
		for _, name := range []string{"everyone", "add_person", "secret", "misfit", "graph_mutate", "graph_load", "branch_create"} {
			if strings.Contains(text, name) {
				t.Errorf("%s is named: %s", name, text)
			}
		}
	}
}

func TestCatalogResource(t *testing.T) {
	s := connect(t, serve(t, config(t), mcp.Options{}), servedtest.Reader)
	res, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "omnigraph://catalog"})
	if err != nil {
		t.Fatal(err)
	}
	var catalog struct {
		Queries []struct {
			Name, Tool string
			Mutation   bool
			Params     []struct {
				Name, Type string
				Optional   bool
			}
		}
	}
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &catalog); err != nil {
		t.Fatal(err)
	}
	q := catalog.Queries
	if len(q) != 3 || q[0].Name != "find_person" || q[0].Tool != "lookup_person" || len(q[0].Params) != 2 || q[0].Params[1].Type != "I32" || !q[0].Params[1].Optional || !q[2].Mutation {
		t.Errorf("%+v", q)
	}
}

// TestReferenceResource checks that the reference uses the names of the graph.
func TestReferenceResource(t *testing.T) {
	s := connect(t, serve(t, config(t), mcp.Options{}), servedtest.Reader)
	res, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "omnigraph://gq-reference"})
	if err != nil {
		t.Fatal(err)
	}
	schema, _ := gq.CompileSchema(gq.Source{Name: "s", Text: servedtest.Source})
	if want := guide.Reference(schema); res.Contents[0].Text != want {
		t.Errorf("got %s", res.Contents[0].Text)
	}
}

// TestLargestPrompts checks that prompts and resources stay within max_bytes, and that their
// arguments stay within the limit of texts. If a list is too large, it must be truncated, and the
// answer must say so. Everything else must be refused with an error that suggests a smaller
// request.
func TestLargestPrompts(t *testing.T) {
	ctx := context.Background()
	c := config(t)
	c.Limits = servedgraph.Limits{MaxBytes: 400}
	small := connect(t, serve(t, c, mcp.Options{}), servedtest.Writer)
	for _, name := range []string{"write_query", "write_filter"} {
		_, err := small.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"intent": "who knows whom", "type": "Person"}})
		if want := "expected at most 400; shorten the intent, or name fewer types"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
	list, err := small.ListResources(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{"omnigraph://gq-reference": "ask gq_reference for one topic"}
	for _, r := range list.Resources {
		if strings.HasPrefix(r.URI, "skill://") {
			continue // a client compares the whole file with a digest, so the limit does not apply
		}
		res, err := small.ReadResource(ctx, &sdk.ReadResourceParams{URI: r.URI})
		if want, ok := refused[r.URI]; ok {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, expected %s", r.URI, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", r.URI, err)
			continue
		}
		text := res.Contents[0].Text
		if len(text) > 400 {
			t.Errorf("%s: %d bytes", r.URI, len(text))
		}
		if r.MIMEType == "application/json" {
			var answer struct {
				Truncated   bool   `json:"truncated"`
				TruncatedBy string `json:"truncated_by"`
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Truncated != (r.URI == "omnigraph://catalog") || answer.Truncated && answer.TruncatedBy != "bytes" {
				t.Errorf("%s: %v, %s", r.URI, err, text)
			}
		}
	}
	whole := connect(t, serve(t, config(t), mcp.Options{}), servedtest.Writer)
	for name, test := range map[string]struct{ intent, types, want string }{
		"a long intent": {strings.Repeat("x", textlimit.Max+1), "", "bytes of intent and types: 1048577 is more than the limit of 1048576"},
		"many types":    {"x", strings.Repeat("Person,", 61), "found more than 60 names, expected at most 60"},
	} {
		_, err := whole.GetPrompt(ctx, &sdk.GetPromptParams{Name: "write_query", Arguments: map[string]string{"intent": test.intent, "types": test.types}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.300v, expected %s", name, err, test.want)
		}
	}
}
