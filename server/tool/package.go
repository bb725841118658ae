package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// Package is the stored queries of a generated package. Its methods are safe for concurrent use.
type Package struct {
	text   string               // the contract as JSON
	decode func() *Catalog      // decodes the text once
	byName map[string]*Compiled // set by decode
}

// NewPackage returns the stored queries of a contract: the text of the file catalog.json, which gq generate
// writes. The first use of the package decodes the text. If another version of gq wrote it and this
// version cannot decode it, the first use panics.
func NewPackage(text string) *Package {
	p := &Package{text: text, byName: map[string]*Compiled{}}
	p.decode = sync.OnceValue(p.catalog)
	return p
}

// Catalog returns the stored queries as tools, in source order.
func (p *Package) Catalog() *Catalog {
	c := *p.decode()
	c.Queries = slices.Clone(c.Queries)
	return &c
}

// Query returns a stored query by its name. It panics if the contract has no such query.
func (p *Package) Query(name string) *Compiled {
	p.decode()
	if q := p.byName[name]; q != nil {
		return q
	}
	panic(fmt.Sprintf("catalog.json has no query %s, which the generated Go calls; run gq generate", name))
}

// catalog decodes the contract, and sets byName.
func (p *Package) catalog() *Catalog {
	out, err := catalogOf([]byte(p.text))
	if err != nil {
		panic(fmt.Sprintf("decode the %s of a generated package: %v", contract.File, err))
	}
	for _, q := range out.Queries {
		p.byName[q.Info().Name] = q.(*Compiled)
	}
	return out
}

// DecodeCatalog returns the stored queries of a contract as tools, in source order. It decodes their plans, too.
// If another version of gq wrote the contract and this version cannot decode it, DecodeCatalog returns an error.
func DecodeCatalog(text []byte) (*Catalog, error) {
	c, err := catalogOf(text)
	if err != nil {
		return nil, err
	}
	for _, q := range c.Queries {
		if err := q.(*Compiled).decode(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// catalogOf decodes a contract, without its plans.
func catalogOf(text []byte) (*Catalog, error) {
	var c contract.Contract
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	out := &Catalog{Graph: c.Graph, SchemaDigest: c.SchemaDigest, SourceDigest: c.SourceDigest}
	for i := range c.Queries {
		out.Queries = append(out.Queries, compiledOf(&c.Queries[i]))
	}
	return out, nil
}

// compiledOf returns a query of a contract.
func compiledOf(q *contract.Query) *Compiled {
	out := &Compiled{
		Query: QueryInfo{
			Name: q.Name, Exposed: q.Exposed, Description: q.Description, Instruction: q.Instruction, Questions: q.Questions,
			MustBeEmpty: q.MustBeEmpty, Mutation: q.Mutation, File: q.File,
		},
		Tool: Descriptor{
			Name: q.Tool, Title: q.Title, Description: q.ToolDescription(), InputSchema: q.InputSchema, OutputSchema: q.OutputSchema,
			ReadOnly: q.ReadOnly, Destructive: q.Destructive, Idempotent: q.Idempotent,
		},
		Encoded: string(q.Plan),
	}
	for i := range q.Params {
		p := &q.Params[i]
		out.Query.ParamDocs = append(out.Query.ParamDocs, p.Description())
		if enum := p.Enum(); enum != nil {
			out.Enums = append(append(out.Enums, make([][]string, i-len(out.Enums))...), enum)
		}
	}
	return out
}
