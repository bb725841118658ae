package mcp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The entries that a surface can have in addition to the tools of its graph. A caller sees an entry
// only if the caller has every grant in the gates of the entry. A gate without a branch is checked
// on main. For all other callers the entry does not exist. An entry without gates is for everyone.
//
// The handlers have the SDK's types. Their requests have params but no session, because the
// server is stateless: a handler cannot send anything to the client or ask it for input.
type (
	// Tool is a tool with a handler of its own; its results need not be the JSON of a graph.
	Tool struct {
		Info  *mcp.Tool       // what clients see
		Gates []tool.Grant    // permissions that a caller needs to see and call the tool
		Call  mcp.ToolHandler // runs the tool

		// Present reports whether the tool exists at the moment. If it is nil, the tool always exists.
		Present func() bool
	}

	// Resource is a resource with a fixed URI.
	Resource struct {
		Info  *mcp.Resource       // what clients see
		Gates []tool.Grant        // permissions that a caller needs to see and read the resource
		Read  mcp.ResourceHandler // returns the content
	}

	// Template is a template of URIs with one handler for all resources that match it.
	Template struct {
		Info  *mcp.ResourceTemplate // what clients see
		Gates []tool.Grant          // permissions that a caller needs to see and use the template
		Read  mcp.ResourceHandler   // returns the content of one resource

		complete map[string]completer // of the variables of the template that have names of the graph
	}

	// Prompt is a prompt with its handler.
	Prompt struct {
		Info  *mcp.Prompt       // what clients see
		Gates []tool.Grant      // permissions that a caller needs to see and get the prompt
		Get   mcp.PromptHandler // returns the messages of the prompt

		complete map[string]completer // of the arguments that have names of the graph
	}
)

// template is a Template with its compiled pattern.
type template struct {
	*Template
	pattern *regexp.Regexp // matches the URIs of the template
}

// index is a list of entries in the order of their names, and the entries by name.
type index[E any] struct {
	all   []*E          // by name, ascending
	named map[string]*E // the entries by name
}

// indexed returns an index of entries. It panics if two have the same name.
func indexed[E any](kind string, entries []E, name func(*E) string) index[E] {
	ix := index[E]{named: make(map[string]*E, len(entries))}
	for i := range entries {
		e := &entries[i]
		if ix.named[name(e)] != nil {
			panic("mcp: two " + kind + " are called " + name(e))
		}
		ix.all, ix.named[name(e)] = append(ix.all, e), e
	}
	slices.SortFunc(ix.all, func(a, b *E) int { return strings.Compare(name(a), name(b)) })
	return ix
}

// register adds the entries from the options and the graph's own resources and prompts.
func (s *surface) register(opts Options) {
	s.own = indexed("tools", slices.Clone(opts.Tools), func(t *Tool) string { return t.Info.Name })
	for _, t := range s.own.all {
		if s.names[t.Info.Name] {
			panic("mcp: two tools are called " + t.Info.Name)
		}
		s.encode(t.Info)
	}
	s.resources = indexed("resources", append(s.graphResources(), opts.Resources...), func(r *Resource) string { return r.Info.URI })
	all := append(s.graphTemplates(), opts.Templates...)
	templates := make([]template, len(all))
	for i := range all {
		t := &all[i]
		pattern, err := uritemplate.New(t.Info.URITemplate)
		if err != nil {
			panic("mcp: the URI template " + t.Info.URITemplate + ": " + err.Error())
		}
		templates[i] = template{t, pattern.Regexp()}
	}
	s.templates = indexed("URI templates", templates, func(t *template) string { return t.Info.URITemplate })
	s.prompts = indexed("prompts", append(s.graphPrompts(), opts.Prompts...), func(p *Prompt) string { return p.Info.Name })
}

// resourceAt returns the gates, handler and media type for a URI. They come from the resource with
// that URI, or otherwise from the first template that matches.
func (s *surface) resourceAt(uri string) (gates []tool.Grant, read mcp.ResourceHandler, mimeType string, ok bool) {
	if r := s.resources.named[uri]; r != nil {
		return r.Gates, r.Read, r.Info.MIMEType, true
	}
	for _, t := range s.templates.all {
		if t.pattern.MatchString(uri) {
			return t.Gates, t.Read, t.Info.MIMEType, true
		}
	}
	return nil, nil, "", false
}

// offers reports whether a tool from the options exists for the caller.
func (s *surface) offers(ctx context.Context, t *Tool) bool {
	return (t.Present == nil || t.Present()) && s.granted(ctx, t.Gates)
}

// granted reports whether the policy allows the caller each of the gates. It does not look at scopes.
func (s *surface) granted(ctx context.Context, gates []tool.Grant) bool {
	actor := access.ActorFrom(ctx)
	for _, g := range gates {
		if !s.graph.Permitted(actor, g) {
			return false
		}
	}
	return true
}
