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
	body = r.example.body
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
	return r.example.params[p.Name]
}

// example is a request of the documentation.
type example struct {
	params map[string]string // the values of parameters by name
	body   string            // empty for none
}
