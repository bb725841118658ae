package metatools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/toolsearch"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The numbers of queries on a page. A model reads the whole page.
const (
	linesPerPage = 200 // of the list of all queries, which has a line for each
	foundPerPage = 5   // of those that match words
)

// listArgs are the arguments of stored_query_list.
type listArgs struct {
	Filter *string `json:"filter,omitempty" jsonschema_description:"What you look for, in your own words; the best five in full. Default: all, a line each."`
	Kind   *string `json:"kind,omitempty" jsonschema:"enum=read,enum=mutation" jsonschema_description:"Only queries of this kind."`
	Page   *int32  `json:"page,omitempty" jsonschema:"minimum=1" jsonschema_description:"Default 1."`
}

// QueryListAnswer is the answer of stored_query_list.
type QueryListAnswer struct {
	Lines   []string      `json:"lines,omitempty" jsonschema_description:"Without filter: name(params): description; * if it changes data."`
	Queries []QueryAnswer `json:"queries" jsonschema_description:"With filter, the best match first."`
	Total   int           `json:"total" jsonschema_description:"How many queries match, on all pages."`
	Page    int           `json:"page"`  // number of this page, from 1
	Pages   int           `json:"pages"` // number of pages
	Nearest []string      `json:"nearest,omitempty" jsonschema_description:"When no query matches: the names of queries whose letters come nearest to filter."`
}

// QueryAnswer is a stored query in the list.
type QueryAnswer struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Kind        string          `json:"kind" jsonschema:"enum=read,enum=mutation"`
	Destructive bool            `json:"destructive,omitempty" jsonschema_description:"It may overwrite or delete data."`
	Params      json.RawMessage `json:"params" jsonschema_description:"The JSON Schema of its parameters."`
	Columns     []string        `json:"columns,omitempty" jsonschema_description:"Of a read, the columns of its rows."`
}

// lister is the meta tool that finds stored queries.
type lister struct{ *Tools }

func (t *lister) Descriptor() *tool.Descriptor                                  { return t.list }
func (t *lister) Gates() []tool.Grant                                           { return nil }
func (t *lister) DescriptorFor(context.Context, *access.Actor) *tool.Descriptor { return t.list }

// Decode gets no caller, so it decodes for a nil actor. Therefore the returned call finds nothing.
func (t *lister) Decode(args json.RawMessage) (tool.Call, error) {
	return t.DecodeFor(context.Background(), nil, args)
}

// DecodeFor reads the filter, the kind and the page.
func (t *lister) DecodeFor(_ context.Context, actor *access.Actor, args json.RawMessage) (tool.Call, error) {
	o := arguments.Members(args)
	c := &listing{Tools: t.Tools, actor: actor, page: 1}
	if filter := o.OptString("filter"); filter != nil {
		c.filter = *filter
	}
	if kind := o.OptEnum("kind", kindRead, kindMutation); kind != nil {
		c.kind = *kind
	}
	if page := o.OptI32("page"); page != nil {
		if c.page = int(*page); c.page < 1 {
			o.Fail("page", "found "+strconv.Itoa(c.page)+", expected 1 or more", "")
		}
	}
	return c, o.Done()
}

const (
	// The kinds of stored queries.
	kindRead     = "read"
	kindMutation = "mutation"
)

// listing is a call of the meta tool that finds stored queries.
type listing struct {
	*Tools
	actor  *access.Actor // the caller; nil for none
	filter string        // the words to search for; empty for all
	kind   string        // empty for all
	page   int           // number of the page, from 1
}

// Needs returns no permissions, because the list contains only queries that the actor may
// invoke.
func (c *listing) Needs() []tool.Need { return nil }

// Run returns one page of the queries that match the filter and that the actor may invoke.
func (c *listing) Run(ctx context.Context, _ *tool.Env) (*tool.Outcome, error) {
	allowed := c.allowed(ctx, c.actor)
	var visible []int // indexes in Queries
	for i, q := range c.Queries {
		if (c.kind == "" || c.kind == kindOf(q)) && allowed(q) {
			visible = append(visible, i)
		}
	}
	order, perPage := visible, linesPerPage
	if c.filter != "" {
		order, perPage = c.index().Search(c.filter, visible), foundPerPage
	}
	answer := &QueryListAnswer{Queries: []QueryAnswer{}, Total: len(order), Page: c.page, Pages: max(1, (len(order)+perPage-1)/perPage)}
	if c.page > answer.Pages {
		return nil, &tool.ArgumentError{Path: "page", Detail: fmt.Sprintf("page %d does not exist; there are %d pages", c.page, answer.Pages), Help: "start with page 1"}
	}
	from := (c.page - 1) * perPage
	for _, i := range order[from:min(from+perPage, len(order))] {
		if c.filter == "" {
			answer.Lines = append(answer.Lines, line(c.Queries[i]))
		} else {
			answer.Queries = append(answer.Queries, listed(c.Queries[i]))
		}
	}
	if len(order) == 0 && c.filter != "" {
		for _, i := range c.index().Closest(c.filter, visible, maxNearest) {
			answer.Nearest = append(answer.Nearest, c.Queries[i].Descriptor().Name)
		}
	}
	return &tool.Outcome{Value: answer, Less: "narrow it down with filter or kind"}, nil
}

// maxNearest is the maximum number of names in an answer without queries.
const maxNearest = 5

// newIndex returns an index of all queries. It indexes the texts that the list shows for a query. A
// search states which queries the caller may see.
func (p *Tools) newIndex() *toolsearch.Index {
	entries := make([]toolsearch.Entry, len(p.Queries))
	for i, q := range p.Queries {
		d := q.Descriptor()
		e := toolsearch.Entry{
			Name: d.Name, Title: d.Title, Description: d.Description, ParamDocs: q.Info().ParamDocs, Mutation: q.Info().Mutation,
			Questions: q.Info().Questions, Nameless: true,
		}
		for _, param := range q.Plan().Declared() {
			e.Params = append(e.Params, param.Name)
			e.Nameless = e.Nameless && param.Type.Kind != value.String
		}
		e.Columns = columnsOf(q)
		entries[i] = e
	}
	return toolsearch.NewIndex(entries)
}

// Resembling returns the names of at most n of the queries that match a text best, the best match first.
func Resembling(text string, queries []tool.StoredQuery, n int) []string {
	p := &Tools{Queries: queries}
	all := make([]int, len(queries))
	for i := range all {
		all[i] = i
	}
	names := []string{}
	for _, i := range p.newIndex().Search(text, all) {
		if len(names) < n {
			names = append(names, queries[i].Info().Name)
		}
	}
	return names
}

// listed returns a query in the form that it has in the list.
func listed(q tool.StoredQuery) QueryAnswer {
	d := q.Descriptor()
	return QueryAnswer{Name: d.Name, Title: d.Title, Description: d.Description, Kind: kindOf(q), Destructive: d.Destructive, Params: paramsSchema(d), Columns: columnsOf(q)}
}

// line returns a query as one line, such as
//
//	find_person(name: String, team: String?): Finds a person by name.
//
// A mutation has a star before its name.
func line(q tool.StoredQuery) string {
	var b strings.Builder
	if q.Info().Mutation {
		b.WriteByte('*')
	}
	b.WriteString(q.Descriptor().Name + "(")
	params := q.Plan().Declared()
	for i := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(params[i].Name + ": " + params[i].TypeText())
	}
	first, _, _ := strings.Cut(q.Descriptor().Description, "\n")
	return b.String() + "): " + first
}

// columnsOf returns the names of the columns of a read, and nil for a mutation.
func columnsOf(q tool.StoredQuery) []string {
	r := q.Plan().Read
	if r == nil {
		return nil
	}
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	return names
}

// kindOf returns the kind of a query.
func kindOf(q tool.StoredQuery) string {
	if q.Info().Mutation {
		return kindMutation
	}
	return kindRead
}

// paramsSchema returns the part of an input schema that describes the query's own
// parameters.
func paramsSchema(d *tool.Descriptor) json.RawMessage {
	var schema struct {
		Properties struct{ Params json.RawMessage }
	}
	if err := json.Unmarshal(d.InputSchema, &schema); err != nil || schema.Properties.Params == nil {
		return json.RawMessage(`{"properties":{},"additionalProperties":false,"type":"object","required":[]}`)
	}
	return schema.Properties.Params
}

// quoted quotes a name that a caller gave, shortened if it is long.
func quoted(name string) string {
	const most = 60
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.Quote(name)
}

// orList joins names with commas, and the last one with "or".
func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
