package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxCompletions is the maximum number of values in a completion, which the protocol fixes.
const maxCompletions = 100

// A completer returns the values that an argument of a prompt or of a URI template can have. Every value begins with the text that the
// user has typed, or with that part of it which a value replaces. The policy decides which names the caller gets.
type completer func(ctx context.Context, typed string) ([]string, error)

// complete answers completion/complete. For a prompt or a template that the caller may not see, the answer is the same as if it did not
// exist. An argument without a completer has no values.
func (s *surface) complete(ctx context.Context, p *mcp.CompleteParams) (mcp.Result, error) {
	if p.Ref == nil {
		return nil, invalidParams("params.ref: the member is missing; name a prompt or the template of a resource")
	}
	var completers map[string]completer
	var gates []tool.Grant
	unknown := invalidParams(fmt.Sprintf("unknown prompt %q", p.Ref.Name))
	prompt, template := s.prompts.named[p.Ref.Name], s.templates.named[p.Ref.URI]
	switch {
	case p.Ref.Type == "ref/prompt" && prompt != nil:
		completers, gates = prompt.complete, prompt.Gates
	case p.Ref.Type == "ref/prompt":
		return nil, unknown
	case template != nil:
		completers, gates = template.complete, template.Gates
		unknown = invalidParams(fmt.Sprintf("unknown URI template %q", p.Ref.URI))
	default:
		return nil, invalidParams(fmt.Sprintf("unknown URI template %q", p.Ref.URI))
	}
	if !s.granted(ctx, gates) {
		return nil, s.withheld(ctx, gates, unknown)
	}
	if err := s.graph.CheckScopes(access.ActorFrom(ctx), gates); err != nil {
		return nil, err
	}
	return s.completion(ctx, completers[p.Argument.Name], p.Argument.Value)
}

// completion returns the values of a completer, which may be nil.
func (s *surface) completion(ctx context.Context, of completer, typed string) (mcp.Result, error) {
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if of == nil {
		return res, nil
	}
	values, err := of(ctx, typed)
	if err != nil {
		return nil, err
	}
	d := &res.Completion
	d.Total, d.HasMore = len(values), len(values) > maxCompletions
	d.Values = append(d.Values, values[:min(len(values), maxCompletions)]...)
	return res, nil
}

// completeType completes the name of a node type.
func (s *surface) completeType(ctx context.Context, typed string) ([]string, error) {
	schema, err := s.graph.Schema(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range schema.Catalog.Nodes {
		names = append(names, n.Name)
	}
	return beginning(names, typed), nil
}

// completeTypes completes the last of several names of node types with commas between them. A value has the earlier names too.
func (s *surface) completeTypes(ctx context.Context, typed string) ([]string, error) {
	at := strings.LastIndexByte(typed, ',') + 1
	last := strings.TrimLeft(typed[at:], " ")
	earlier := strings.TrimSuffix(typed, last)
	names, err := s.completeType(ctx, last)
	for i := range names {
		names[i] = earlier + names[i]
	}
	return names, err
}

// completeBranch completes the name of a branch. A caller who may list no branches gets none.
func (s *surface) completeBranch(ctx context.Context, typed string) ([]string, error) {
	branches, err := s.graph.Branches(ctx, access.ActorFrom(ctx))
	var forbidden *wireerror.Forbidden
	if errors.As(err, &forbidden) {
		return nil, nil
	}
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = b.Name
	}
	return beginning(names, typed), err
}

// beginning returns the names that begin with a text, in any case, sorted.
func beginning(names []string, text string) []string {
	var found []string
	for _, name := range names {
		if len(name) >= len(text) && strings.EqualFold(name[:len(text)], text) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
