package rest

import (
	"net/http"
	"net/url"
	"strings"
)

const (
	// exampleGraph is the graph of the examples. It has the schema and the stored queries of
	// queries/code in this module, and in addition a node type Attachment with a Blob property. Its
	// data comes from the Go module example.com/shop.
	exampleGraph = "code"

	// ExampleCommit is the id that examples use for the head of main.
	ExampleCommit = "01K9ZQ6Y3E5V8T1N4K7M2P9RSX"

	// ExampleProposal is the id of the proposal that the examples use.
	ExampleProposal = "01K9ZQ7B4F6W9V2P5M8N3Q1STY"
)

// Example returns a typical request for the route: its path with the query string, its header
// and its body.
func (r *Route) Example() (path string, header http.Header, body string) {
	path, header = r.Path, http.Header{}
	query := url.Values{}
	for i := range r.Params {
		p := &r.Params[i]
		switch v := r.exampleOf(p); p.In {
		case Path:
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(v), 1)
		case Query:
			if v != "" {
				query.Set(p.Name, v)
			}
		case Header:
			if v != "" {
				header.Set(p.Name, v)
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	body = examples[r.Operation].body
	if body != "" {
		header.Set("Content-Type", r.BodyMedia)
	}
	return path, header, body
}

// exampleOf returns the value of a parameter in the example, or "".
func (r *Route) exampleOf(p *Param) string {
	if p.In == Path && p.Name == "id" {
		return exampleGraph
	}
	return examples[r.Operation].params[p.Name]
}

// example is a request of the documentation.
type example struct {
	params map[string]string // the values of parameters by name
	body   string            // empty for none
}

// examples are keyed by operation. A route that needs only the graph has no row.
var examples = map[string]example{
	"get_snapshot": {params: map[string]string{"branch": "main"}},
	"query": {
		body: `{"query": "query lines($path: String) { match { $p: Package { path: $path } } return { $p.lines as lines } }", "params": {"path": "example.com/shop/stock"}}`,
	},
	"read": {
		body: `{"query_source": "query all() { match { $p: Package } return { $p.path as path } }", "branch": "main"}`,
	},
	"mutate": {
		body: `{"query": "query note($slug: String) { insert Note { slug: $slug, text: \"read me\", created: now() } }", "params": {"slug": "first"}, "branch": "trial"}`,
	},
	"mutate_if_graph_commit": {
		params: map[string]string{headerIfCommit: ExampleCommit},
		body:   `{"query": "query forget() { delete Note where slug = \"first\" }"}`,
	},
	"change": {
		body: `{"query_source": "query forget() { delete Note where slug = \"first\" }", "branch": "trial"}`,
	},
	"invoke_query": {
		params: map[string]string{"name": "get_package"},
		body:   `{"params": {"path": "example.com/shop/stock"}}`,
	},
	"describe_query":   {params: map[string]string{"name": "get_package"}},
	"get_node_history": {params: map[string]string{"type": "Package", "id": "example.com/shop/stock"}},
	"explain_access":   {params: map[string]string{"actor": "act-ada", "branch": "main"}},
	"invoke_query_if_graph_commit": {
		params: map[string]string{"name": "add_note", headerIfCommit: ExampleCommit},
		body:   `{"params": {"slug": "second", "symbol": "example.com/shop/stock.Shelf", "text": "read me"}}`,
	},
	"load_ndjson": {
		params: map[string]string{"branch": "trial", "mode": "merge"},
		body:   `{"type": "Package", "data": {"path": "example.com/new", "name": "new", "files": 1, "lines": 20}}`,
	},
	"load": {
		body: `{"data": "{\"type\": \"Package\", \"data\": {\"path\": \"example.com/new\", \"name\": \"new\", \"files\": 1, \"lines\": 20}}\n", "branch": "trial"}`,
	},
	"ingest": {
		body: `{"data": "{\"edge\": \"Imports\", \"from\": \"example.com/new\", \"to\": \"example.com/shop/stock\"}\n", "branch": "trial"}`,
	},
	"export":        {body: `{"branch": "main", "type_names": ["Package"]}`},
	"get_blob":      {params: map[string]string{"entity": "node", "type": "Attachment", "id": "a", "property": "content", "Range": "bytes=0-3"}},
	"apply_schema":  {body: `{"schema_source": "node Person {\n  name: String @key\n}\n", "dry_run": true}`},
	"create_branch": {body: `{"name": "trial", "from": "main"}`},
	"delete_branch": {params: map[string]string{"branch": "trial"}},
	"merge_branches": {
		body: `{"source": "trial", "target": "main"}`,
	},
	"list_commits":          {params: map[string]string{"limit": "10"}},
	"get_commit":            {params: map[string]string{"commit": ExampleCommit}},
	"run_checks":            {params: map[string]string{"branch": "main"}},
	"list_proposals":        {params: map[string]string{"state": "open", "limit": "50"}},
	"open_proposal":         {body: `{"source": "trial", "title": "Add a note", "description": "The note says what to read first."}`},
	"get_proposal":          {params: map[string]string{"proposal": ExampleProposal}},
	"list_proposal_changes": {params: map[string]string{"proposal": ExampleProposal, "limit": "100"}},
	"change_proposal":       {params: map[string]string{"proposal": ExampleProposal}, body: `{"title": "Add the first note"}`},
	"review_proposal":       {params: map[string]string{"proposal": ExampleProposal}, body: `{"decision": "comment", "comment": "Is the slug unique?"}`},
	"merge_proposal":        {params: map[string]string{"proposal": ExampleProposal}, body: `{}`},
	"close_proposal":        {params: map[string]string{"proposal": ExampleProposal}, body: `{"comment": "No longer needed."}`},
	"list_changes":          {params: map[string]string{"commit": ExampleCommit, "limit": "100"}},
	"get_change_feed":       {params: map[string]string{"cursor": ExampleCommit, "limit": "100"}},
	"get_proposal_feed":     {params: map[string]string{"start": "latest", "limit": "100"}},
	"get_change_baseline":   {body: `{"branch": "main", "type": ["Package"]}`},
	"verify":                {body: `{}`},
	"cleanup":               {body: `{"keep_commits": 100, "dry_run": true}`},
}
