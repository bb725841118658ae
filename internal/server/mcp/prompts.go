package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// graphPrompts returns the prompts of every graph. A caller needs the right to read main.
func (s *surface) graphPrompts() []Prompt {
	return []Prompt{
		{Gates: readMain(), Get: s.writeQuery, complete: map[string]completer{"types": s.completeTypes}, Info: &mcp.Prompt{
			Name: "write_query", Title: "Write a query",
			Description: "Helps you write a GQ query for what you want to know, with the types, edges, stored queries and rules that it needs.",
			Arguments: []*mcp.PromptArgument{
				{Name: "intent", Title: "Intent", Description: "What you want to know, in your own words.", Required: true},
				{Name: "types", Title: "Types", Description: "The node types that the question is about, separated by commas; the default is all types."},
			},
		}},
		{Gates: readMain(), Get: s.writeFilter, complete: map[string]completer{"type": s.completeType}, Info: &mcp.Prompt{
			Name: "write_filter", Title: "Write a filter",
			Description: "Helps you write the conditions of a match on one type, with its properties and the operators of each.",
			Arguments: []*mcp.PromptArgument{
				{Name: "type", Title: "Type", Description: "The node type to filter.", Required: true},
				{Name: "intent", Title: "Intent", Description: "Which nodes you want, in your own words."},
			},
		}},
	}
}

const (
	// The limits of a prompt for a large schema, which shows only the first types and queries.
	maxPromptTypes   = 60
	maxPromptQueries = 30 // stored queries
	maxPromptPaths   = 3  // paths between two types
	maxPromptHops    = 4  // edges in one path
)

// writeQuery returns the prompt write_query.
func (s *surface) writeQuery(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	intent := strings.TrimSpace(req.Params.Arguments["intent"])
	if intent == "" {
		return nil, badPrompt("intent: the argument is missing; say what you want to know")
	}
	listed := req.Params.Arguments["types"]
	if err := textlimit.Check("intent and types", len(intent)+len(listed)); err != nil {
		return nil, err
	}
	var res *mcp.GetPromptResult
	err := s.graph.Render(ctx, access.ActorFrom(ctx), "intent and types", intent+listed, func(ctx context.Context) (err error) {
		res, err = s.queryGuide(ctx, intent, listed)
		return err
	})
	return res, err
}

// queryGuide returns a guide to a query about some types. The argument `listed` contains the names
// of the types, separated by commas. If it is empty, the guide covers all types.
func (s *surface) queryGuide(ctx context.Context, intent, listed string) (*mcp.GetPromptResult, error) {
	schema, queries, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	var types []string
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(listed, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if schema.Node(name) == nil {
			return nil, noType("types", name, schema)
		}
		if len(types) == maxPromptTypes {
			return nil, badPrompt(fmt.Sprintf("types: found more than %d names, expected at most %d; name the types that the question is about", maxPromptTypes, maxPromptTypes))
		}
		wanted[name], types = true, append(types, name)
	}
	w := &prompt{}
	w.line("Write a GQ query for this graph. The question: " + intent)
	w.types(schema, wanted)
	if err := w.paths(ctx, schema, types); err != nil {
		return nil, err
	}
	s.listQueries(w, schema, queries, wanted)
	w.section("The language")
	w.line(guide.Explain(schema, "overview").Own().String())
	w.section("Then")
	w.line("Give values as parameters and set a limit. Check the text with query_validate, and fix the errors that it reports. " +
		"Run it with graph_query if it reads. gq_reference explains traversals, filters, aggregates and the rest, by topic.")
	return w.result("A guide to a query", s.graph.ForModel().MaxBytes)
}

// writeFilter returns the prompt write_filter.
func (s *surface) writeFilter(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	name, intent := strings.TrimSpace(req.Params.Arguments["type"]), strings.TrimSpace(req.Params.Arguments["intent"])
	if err := textlimit.Check("intent and type", len(intent)+len(name)); err != nil {
		return nil, err
	}
	var res *mcp.GetPromptResult
	err := s.graph.Render(ctx, access.ActorFrom(ctx), "intent and type", intent+name, func(ctx context.Context) (err error) {
		res, err = s.filterGuide(ctx, intent, name)
		return err
	})
	return res, err
}

// filterGuide returns a guide to conditions on the node type called name.
func (s *surface) filterGuide(ctx context.Context, intent, name string) (*mcp.GetPromptResult, error) {
	schema, _, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	n := schema.Node(name)
	switch {
	case name == "":
		return nil, badPrompt("type: the argument is missing; give the name of a node type")
	case n == nil:
		return nil, noType("type", name, schema)
	}
	w := &prompt{}
	wanted := ""
	if intent != "" {
		wanted = " The question: " + intent
	}
	w.line("Write the conditions of a GQ match on " + n.Name + "." + wanted)
	w.section("The type")
	w.line(guide.NodeLine(n))
	for _, rule := range n.Rules() {
		w.line(rule)
	}
	w.section("What you can write about each property")
	v := guide.NodeVariable(n)
	for _, p := range n.Properties {
		ops := guide.Operators(p.Type)
		if len(ops) == 0 {
			w.line("- " + p.Name + ": " + p.Type.String() + ", no condition")
			continue
		}
		cond, param := guide.Filter(v, p, guide.Usual(p.Type))
		w.line("- " + p.Name + ": " + p.Type.String() + "; " + strings.Join(ops, " ") + "; such as " + cond + " with the parameter " + param)
	}
	w.section("The rules")
	w.line(guide.Explain(schema, "filters").Own().String())
	w.section("Then")
	w.line("Put the conditions next to the binding " + v + ": " + n.Name + " in the match. Check the whole query with query_validate.")
	return w.result("A guide to conditions on "+n.Name, s.graph.ForModel().MaxBytes)
}

// known returns the schema of main and the stored queries that the caller may see.
func (s *surface) known(ctx context.Context) (*catalog.Schema, []tool.StoredQuery, error) {
	actor := access.ActorFrom(ctx)
	schema, err := s.graph.Schema(ctx, actor)
	if err != nil {
		return nil, nil, err
	}
	queries, err := s.graph.Queries(ctx, actor)
	if err != nil {
		return nil, nil, err
	}
	return schema.Catalog, queries, nil
}

// badPrompt returns the error for invalid arguments of a prompt.
func badPrompt(message string) error {
	return &jsonrpc.Error{Code: codeInvalidParams, Message: message}
}

// noType returns the error for an argument that names an unknown node type.
func noType(argument, name string, s *catalog.Schema) error {
	names := make([]string, len(s.Nodes))
	for i, n := range s.Nodes {
		names[i] = n.Name
	}
	message := argument + ": the schema has no node type " + name
	if help := diag.DidYouMean(name, names); help != "" {
		message += "; " + help
	}
	return badPrompt(message)
}

// prompt collects the text of a prompt.
type prompt struct{ b strings.Builder }

// line adds a line to the prompt.
func (w *prompt) line(s string) {
	w.b.WriteString(strings.TrimRight(s, "\n"))
	w.b.WriteByte('\n')
}

// section starts a section.
func (w *prompt) section(title string) { w.b.WriteString("\n## " + title + "\n\n") }

// types lists the node types in `names`, or all if `names` is empty, and the edges at these types.
func (w *prompt) types(s *catalog.Schema, names map[string]bool) {
	of := func(name string) bool { return len(names) == 0 || names[name] }
	w.section("Node types")
	shown := 0
	for _, n := range s.Nodes {
		if of(n.Name) && shown < maxPromptTypes {
			w.line("- " + guide.NodeLine(n))
			shown++
		}
	}
	if shown == maxPromptTypes {
		w.line("There may be more node types: type_describe lists all.")
	}
	w.section("Edge types")
	shown = 0
	for _, e := range s.Edges {
		at := func(to bool) bool {
			return slices.ContainsFunc(s.EndsAt(e, to), func(n *catalog.Node) bool { return of(n.Name) })
		}
		if (at(false) || at(true)) && shown < maxPromptTypes {
			w.line("- " + guide.Clause(e) + ": " + guide.EdgeLine(e))
			shown++
		}
	}
	if shown == 0 {
		w.line("None.")
	}
}

// paths shows the paths from the first of the types to each of the others.
func (w *prompt) paths(ctx context.Context, s *catalog.Schema, types []string) error {
	if len(types) < 2 {
		return nil
	}
	w.section("How they are connected")
	for _, to := range types[1:] {
		paths, _, err := guide.PathsWithin(ctx, s, types[0], to, maxPromptHops, maxPromptPaths)
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			w.line("- " + types[0] + " to " + to + ": there is no short path")
		}
		for _, p := range paths {
			w.line("- " + types[0] + " to " + to + ": " + strings.ReplaceAll(p.Match, "\n", "  "))
		}
	}
	return nil
}

// listQueries writes how to call the stored queries that use one of the node types in `types`, or
// all stored queries if `types` is empty.
func (s *surface) listQueries(w *prompt, schema *catalog.Schema, queries []tool.StoredQuery, types map[string]bool) {
	shown := 0
	for _, q := range queries {
		if len(types) > 0 && !uses(q.Plan(), schema, types) {
			continue
		}
		if shown == 0 {
			w.section("Stored queries: prefer one that fits")
			w.line("Each with its tool and arguments; a type such as <String> stands for a value.")
			w.line("")
		}
		if shown++; shown > maxPromptQueries {
			w.line("There are more.")
			return
		}
		line, _, _ := strings.Cut(q.Info().Description, "\n")
		_, call := s.graph.HowToCall(q)
		w.line("- " + call + ": " + line)
	}
}

// uses reports whether a query uses one of the node types.
func uses(q *plan.Query, s *catalog.Schema, types map[string]bool) bool {
	for _, u := range q.Uses {
		if u.Entity == plan.Node && types[u.Type] {
			return true
		}
		if u.Entity == plan.Interface && slices.ContainsFunc(s.Implementers(u.Type), func(n *catalog.Node) bool { return types[n.Name] }) {
			return true
		}
	}
	return false
}

// result returns the prompt. The error is a *wireerror.Oversize if the text has more bytes than the
// limit `most`.
func (w *prompt) result(description string, most int) (*mcp.GetPromptResult, error) {
	if n := w.b.Len(); n > most {
		return nil, &wireerror.Oversize{Bytes: int64(n), MaxBytes: most, Advice: "shorten the intent, or name fewer types"}
	}
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: w.b.String()}}},
	}, nil
}
