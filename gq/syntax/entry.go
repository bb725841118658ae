package syntax

import (
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/work"
)

// ParseSchema parses a .pg text. It reports every declaration that does not follow the grammar
// and returns the others.
func ParseSchema(file, text string) (*Schema, diag.List) {
	return ParseSchemaWithin(nil, file, text)
}

// ParseSchemaWithin is ParseSchema on one goroutine with a meter, which may panic to end it.
func ParseSchemaWithin(m *work.Meter, file, text string) (*Schema, diag.List) {
	schema, p := parseSchema(m, file, text)
	return schema, p.result()
}

func parseSchema(m *work.Meter, file, text string) (*Schema, *parser) {
	s := scan(m, file, text)
	schema := &Schema{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "interface", "node", "edge")
	decls := p.declarations()
	for i, d := range eachOf(p, decls, parseDecl) {
		if d != nil {
			schema.Decls = append(schema.Decls, d)
		} else if toks := decls[i].tokens; len(toks) > 1 && toks[1].Type == TypeName {
			schema.Broken = append(schema.Broken, toks[1].Value)
		}
	}
	return schema, p
}

// ParseQueries parses a .gq text. It reports every query that does not follow the grammar and
// returns the others.
func ParseQueries(file, text string) (*File, diag.List) {
	return ParseQueriesWithin(nil, file, text)
}

// ParseQueriesWithin is ParseQueries on one goroutine with a meter, which may panic to end it.
func ParseQueriesWithin(m *work.Meter, file, text string) (*File, diag.List) {
	f, p := parseQueries(m, file, text)
	return f, p.result()
}

func parseQueries(m *work.Meter, file, text string) (*File, *parser) {
	s := scan(m, file, text)
	f := &File{Name: file, Text: text, Comments: s.comments}
	p := newParser(s, "query")
	decls := p.declarations()
	m.Queries(len(decls))
	for _, q := range eachOf(p, decls, parseQuery) {
		if q != nil {
			f.Queries = append(f.Queries, q)
		}
	}
	return f, p
}

// parseDecl parses a declaration. It returns nil if the declaration has an error.
func parseDecl(p *parser, decl *declaration) Decl {
	var d Decl
	ok := false
	switch decl.tokens[0].Value {
	case "interface":
		d, ok = parseOne(p, interfaceOf, decl)
	case "node":
		d, ok = parseOne(p, nodeOf, decl)
	case "edge":
		d, ok = parseOne(p, edgeOf, decl)
	}
	if ok && p.checkDecl(d) {
		return d
	}
	return nil
}

// parseQuery parses a query. It returns nil if the query has an error.
func parseQuery(p *parser, decl *declaration) *Query {
	if q, ok := parseOne(p, queryOf, decl); ok && p.checkQuery(q) {
		return q
	}
	return nil
}
