package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	schemaURI    = "omnigraph://schema"
	branchesURI  = "omnigraph://branches"
	referenceURI = "omnigraph://gq-reference"
	catalogURI   = "omnigraph://catalog"
	proposalsURI = "omnigraph://proposals"
)

// readMain returns the gates of everything that shows the schema or the data of main.
func readMain() []tool.Grant { return []tool.Grant{{Action: tool.Read, Via: tool.AdHoc}} }

// graphResources returns the resources of every graph. A caller needs the right to read main.
func (s *surface) graphResources() []Resource {
	gates := readMain()
	return []Resource{
		{Gates: gates, Read: s.readSchema, Info: &mcp.Resource{
			URI: schemaURI, Name: "schema", Title: "Schema", MIMEType: "text/plain",
			Description: "The source of the graph's schema on main: node and edge types, properties, constraints.",
		}},
		{Gates: gates, Read: s.readBranches, Info: &mcp.Resource{
			URI: branchesURI, Name: "branches", Title: "Branches", MIMEType: "application/json",
			Description: "The names of the graph's branches that you may read.",
		}},
		{Gates: gates, Read: s.readReference, Info: &mcp.Resource{
			URI: referenceURI, Name: "gq-reference", Title: "Query language reference", MIMEType: "text/markdown",
			Description: "The query language GQ, all topics, with examples in this graph's own names.",
		}},
		{Gates: gates, Read: s.readCatalog, Info: &mcp.Resource{
			URI: catalogURI, Name: "catalog", Title: "Stored queries", MIMEType: "application/json",
			Description: "The graph's stored queries that you may run, with their parameters and how to call each.",
		}},
		{Gates: gates, Read: s.readProposals, Info: &mcp.Resource{
			URI: proposalsURI, Name: "proposals", Title: "Proposals", MIMEType: "application/json",
			Description: "The newest proposals that you may read. You can subscribe to it.",
		}},
	}
}

// graphTemplates returns the templates of every graph. Each branch has its own permissions, so the
// template has no gates.
func (s *surface) graphTemplates() []Template {
	return []Template{s.watchTemplate(), {Read: s.readBranch, complete: map[string]completer{"name": s.completeBranch}, Info: &mcp.ResourceTemplate{
		URITemplate: branchesURI + "/{+name}", Name: "branch", Title: "Branch", MIMEType: "application/json",
		Description: "A branch and the commit at its head. You can subscribe to it.",
	}}}
}

// readSchema reads the resource omnigraph://schema: the source of the schema on main.
func (s *surface) readSchema(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	schema, err := s.graph.Schema(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	source, err := restricted.Source(schema, "the text of the schema")
	if err != nil {
		return nil, err
	}
	return s.text(source, "describe one type at a time with type_describe")
}

// readBranches reads the resource omnigraph://branches: the names of the branches.
func (s *surface) readBranches(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	branches, err := s.graph.Branches(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = b.Name
	}
	return list(s, "branches", names)
}

// readReference reads the resource omnigraph://gq-reference: all topics of the query language.
func (s *surface) readReference(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	schema, err := s.graph.Schema(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	return s.text(guide.Reference(schema.Catalog), "ask gq_reference for one topic")
}

// catalogQuery is a stored query in the catalog.
type catalogQuery struct {
	Name        string         `json:"name"` // of the query
	Tool        string         `json:"tool"` // runs the query
	Call        string         `json:"call"` // the tool and its arguments
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Instruction string         `json:"instruction,omitempty"` // text of @instruction
	Questions   []string       `json:"questions,omitempty"`   // example questions that it answers
	Mutation    bool           `json:"mutation"`              // it writes; otherwise it reads
	Params      []catalogParam `json:"params"`
}

// catalogParam is a parameter of a stored query in the catalog.
type catalogParam struct {
	Name        string `json:"name"`
	Type        string `json:"type"`     // the type as the language writes it
	Optional    bool   `json:"optional"` // a call may leave it out
	Description string `json:"description,omitempty"`

	Default json.RawMessage `json:"default,omitempty"` // replaces an argument that a call leaves out
	Range   string          `json:"range,omitempty"`   // least and greatest value as the language writes them: 1..100
}

// readCatalog reads the resource omnigraph://catalog: the stored queries that the caller may run.
func (s *surface) readCatalog(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	queries, err := s.graph.Queries(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	entries := make([]catalogQuery, len(queries))
	for i, q := range queries {
		info, d := q.Info(), q.Descriptor()
		name, call := s.graph.HowToCall(q)
		entries[i] = catalogQuery{
			Name: info.Name, Tool: name, Call: call, Title: d.Title, Description: info.Description, Instruction: info.Instruction, Questions: info.Questions,
			Mutation: info.Mutation, Params: paramsOf(q),
		}
	}
	return list(s, "queries", entries)
}

// paramsOf describes the parameters of a stored query.
func paramsOf(q tool.StoredQuery) []catalogParam {
	docs := q.Info().ParamDocs
	params := []catalogParam{}
	for i, p := range q.Plan().Params {
		c := catalogParam{Name: p.Name, Type: strings.TrimSuffix(p.TypeText(), "?"), Optional: p.Optional()}
		if i < len(docs) {
			c.Description = docs[i]
		}
		if !p.Default.IsNull() {
			c.Default = encoding.ValueJSON(p.Default, encoding.Options{SafeIntegers: true})
		}
		if p.Bounds != (value.Bounds{}) {
			c.Range = p.Bounds.String()
		}
		params = append(params, c)
	}
	return params
}

// text returns a whole resource. If the resource has more bytes than an answer may have, the error
// is a *wireerror.Oversize. The argument `less` is the error's advice on how to make a smaller
// request.
func (s *surface) text(text, less string) (*mcp.ReadResourceResult, error) {
	if most := s.graph.ForModel().MaxBytes; len(text) > most {
		return nil, &wireerror.Oversize{Bytes: int64(len(text)), MaxBytes: most, Advice: less}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil
}

// list returns a resource that is a JSON object. The list is the member with the given name. It
// includes as many entries as an answer has room for. If some are missing, the object says so.
func list[E any](s *surface, name string, entries []E) (*mcp.ReadResourceResult, error) {
	const cut = `],"truncated":true,"truncated_by":"bytes"}`
	most := s.graph.ForModel().MaxBytes - len(cut)
	b := []byte(`{"` + name + `":[`)
	for i, entry := range entries {
		one, err := encoding.JSON(entry)
		if err != nil {
			return nil, err
		}
		if len(b)+len(one)+1 > most {
			return s.text(string(b)+cut, "")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, one...)
	}
	return s.text(string(b)+"]}", "")
}

// masked replaces a Forbidden error with the error for a resource that does not exist.
func (s *surface) masked(ctx context.Context, uri string, err error) error {
	var forbidden *wireerror.Forbidden
	if !errors.As(err, &forbidden) {
		return err
	}
	denied := tool.Grant{Action: forbidden.Action, Via: tool.AdHoc}
	if forbidden.Branch != nil {
		denied.Branch = *forbidden.Branch
	}
	return s.withheld(ctx, []tool.Grant{denied}, mcp.ResourceNotFoundError(uri))
}
