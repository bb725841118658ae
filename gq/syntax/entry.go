//go:build !gq_noparse

package syntax

import "github.com/omnigraph-go/omnigraph/gq/diag"

// ParseSchema parses a .pg text. It reports every declaration that does not follow
// the grammar, and returns the others.
func ParseSchema(file, text string) (*Schema, diag.List) {
	s := scan(file, text)
	schema := &Schema{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "interface", "node", "edge")
	for _, decl := range p.declarations() {
		var d Decl
		ok := false
		switch decl.tokens[0].Value {
		case "interface":
			d, ok = parseOne(p, interfaceParser(), decl)
		case "node":
			d, ok = parseOne(p, nodeParser(), decl)
		case "edge":
			d, ok = parseOne(p, edgeParser(), decl)
		}
		if ok && p.checkDecl(d) {
			schema.Decls = append(schema.Decls, d)
		} else if toks := decl.tokens; len(toks) > 1 && toks[1].Type == TypeName {
			schema.Broken = append(schema.Broken, toks[1].Value)
		}
	}
	return schema, p.result()
}

// ParseQueries parses a .gq text. It reports every query that does not follow the
// grammar, and returns the others.
func ParseQueries(file, text string) (*File, diag.List) {
	s := scan(file, text)
	f := &File{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "query")
	for _, decl := range p.declarations() {
		if q, ok := parseOne(p, queryParser(), decl); ok && p.checkQuery(q) {
			f.Queries = append(f.Queries, q)
		}
	}
	return f, p.result()
}
