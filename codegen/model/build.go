package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// maxName is the maximum length, in bytes, of tool and argument names that clients accept.
const maxName = 64

// LongTool is the length in bytes up to which a tool name causes no warning.
const LongTool = 40

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Input is the input of [Build].
type Input struct {
	Graph   string
	Schema  *catalog.Schema
	File    string      // path of the schema file
	Sources []gq.Source // in the order of the catalog; names are relative to the module
	Queries []*gq.Query // compiled from Sources
	Strict  bool        // input schemas require every key
}

// Build decides names, schemas and hints. The diagnostics have the codes of [Codes]. If there are
// errors among them, the package is nil.
func Build(in Input) (*Package, diag.List) {
	b := &builder{
		schema: in.Schema,
		pkg: &Package{
			Graph:        in.Graph,
			GoName:       PackageName(in.Graph),
			SchemaDigest: catalog.Digest(in.Schema),
			SourceDigest: sourceDigest(in.Sources),
			Strict:       in.Strict,
		},
		decls: map[string]owner{"Catalog": {name: "the function Catalog of every package"}},
		tools: map[string]owner{},
		enums: map[propKey]*Enum{},
	}
	for _, name := range ReservedTools {
		b.tools[name] = owner{name: "a built-in tool"}
	}
	b.buildEnums(top(in.File))
	b.buildFiles(in.Sources)
	for _, q := range in.Queries {
		b.buildQuery(q)
	}
	b.diags.Sort()
	if b.diags.HasErrors() { // fields with colliding names cannot form a struct
		return nil, b.diags
	}
	b.pkg.Frames = newFrames(in.Strict)
	b.pkg.allSchemas()
	return b.pkg, b.diags
}

// propKey identifies a property of a type.
type propKey struct {
	entity    plan.Entity
	typ, prop string
}

type builder struct {
	schema *catalog.Schema
	pkg    *Package
	decls  map[string]owner // Go name at package level -> the declaration that has it
	tools  map[string]owner // tool name -> the query or built-in that has it
	enums  map[propKey]*Enum
	diags  diag.List
}

// owner is the declaration that has a name, and its position. The position is zero if no source
// contains the declaration.
type owner struct {
	name string
	span diag.Span
}

func (o owner) String() string {
	if o.span.File == "" {
		return o.name
	}
	return o.name + " at " + o.span.String()
}

func (b *builder) fail(code diag.Code, span diag.Span, help, format string, args ...any) {
	b.diags = append(b.diags, diag.Diagnostic{
		Code: code, Severity: diag.Error, Span: span, Message: fmt.Sprintf(format, args...), Help: help,
	})
}

// declare records that the declaration called name takes goName at package level. If goName is
// taken, declare reports the collision and returns false.
func (b *builder) declare(goName, name string, span diag.Span) bool {
	if other, taken := b.decls[goName]; taken {
		b.fail(GoNameTaken, span, "rename one of the two",
			"%s would be declared in Go as %s, which is the name of %s", name, goName, other)
		return false
	}
	b.decls[goName] = owner{name, span}
	return true
}

// buildEnums names a type for every enum property of the schema, even if no query uses it. So the
// types that exist never depend on which queries there are.
func (b *builder) buildEnums(span diag.Span) {
	add := func(entity plan.Entity, typ string, props []*catalog.Property) {
		for _, p := range props {
			if p.Type.Enum == nil {
				continue
			}
			owner := fmt.Sprintf("the enum of %s.%s", typ, p.Name)
			e := &Enum{Entity: entity, Type: typ, Property: p.Name, GoName: GoName(typ) + GoName(p.Name)}
			if _, taken := b.decls[e.GoName]; taken && entity == plan.Edge {
				e.GoName += "Edge" // needed because nodes and edges have separate name spaces
			}
			b.declare(e.GoName, owner, span)
			for _, v := range p.Type.Enum {
				name := e.GoName + strings.TrimPrefix(GoName("x "+v), "X")
				b.declare(name, fmt.Sprintf("the value %s of %s", v, owner), span)
				e.Values = append(e.Values, EnumValue{GoName: name, Value: v})
			}
			b.enums[propKey{entity, typ, p.Name}] = e
			b.pkg.Enums = append(b.pkg.Enums, e)
		}
	}
	for _, n := range b.schema.Nodes {
		add(plan.Node, n.Name, n.Properties)
	}
	for _, e := range b.schema.Edges {
		add(plan.Edge, e.Name, e.Properties)
	}
}

func (b *builder) buildFiles(sources []gq.Source) {
	owner := map[string]string{}
	for _, src := range sources {
		f := &File{Source: src.Name, GoFile: goFile(src.Name)}
		if other, taken := owner[f.GoFile]; taken {
			b.fail(FileCollides, top(src.Name), "rename one of the two", "%s would be generated into %s, as %s is", src.Name, f.GoFile, other)
		}
		owner[f.GoFile] = src.Name
		b.pkg.Files = append(b.pkg.Files, f)
	}
}

func (b *builder) buildQuery(src *gq.Query) {
	p := src.Plan
	q := &Query{
		Name: p.Name, GoName: GoName(p.Name), GoLower: LowerGoName(p.Name), File: src.File, Line: src.Span.Start.Line,
		Description: src.Description, Instruction: src.Instruction, Exposed: src.Expose, Plan: p,
	}
	b.declareQuery(q, src.Span)
	b.buildTool(q, src)
	b.buildParams(q, src)
	if p.Read != nil {
		b.buildColumns(q, src)
	}
	i := slices.IndexFunc(b.pkg.Files, func(f *File) bool { return f.Source == src.File })
	if i < 0 {
		panic("codegen: query " + q.Name + " comes from " + src.File + ", which is no source")
	}
	b.pkg.Files[i].Queries = append(b.pkg.Files[i].Queries, q)
}

// declareQuery declares the names of a query. It stops at the first collision, because further
// collisions would have the same cause.
func (b *builder) declareQuery(q *Query, span diag.Span) {
	owner := "query " + q.Name
	ok := b.declare(q.GoName, owner, span) &&
		b.declare(q.GoName+"Params", "the parameters of "+owner, span) &&
		(q.Mutation() || b.declare(q.GoName+"Row", "the rows of "+owner, span))
	_ = ok && b.declare(q.GoLower+"Tool", "the tool of "+owner, span)
}

func (b *builder) buildTool(q *Query, src *gq.Query) {
	t := Tool{Name: src.ToolName, Title: src.Title}
	if t.Name == "" {
		t.Name = q.Name
	}
	if t.Title == "" {
		t.Title = InWords(q.Name)
	}
	if !toolName.MatchString(t.Name) {
		b.fail(BadToolName, src.Span, `set another with @mcp(tool_name: "…")`,
			"the tool name %q is not 1 to %d characters out of A-Z, a-z, 0-9, _ and -", t.Name, maxName)
	} else if other, taken := b.tools[t.Name]; taken {
		b.fail(ToolNameTaken, src.Span, `set another with @mcp(tool_name: "…")`,
			"the tool name %s of query %s belongs to %s", t.Name, q.Name, other)
	}
	if len(t.Name) > LongTool && len(t.Name) <= maxName {
		b.diags = append(b.diags, diag.Diagnostic{
			Code: LongToolName, Severity: diag.Warning, Span: src.Span,
			Message: fmt.Sprintf("the tool name %s has %d characters; clients that put the name of the server before it cut it past %d", t.Name, len(t.Name), LongTool),
			Help:    `set a shorter one with @mcp(tool_name: "…")`,
		})
	}
	b.tools[t.Name] = owner{"query " + q.Name, src.Span}
	t.ReadOnly, t.Destructive, t.Idempotent = hints(q.Plan, b.schema, src.Idempotent)

	var parts []string
	for _, s := range []string{src.Description, src.Instruction, constraintLine(q.Plan, b.schema)} {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	t.Description = strings.Join(parts, "\n\n")
	q.Tool = t
}

func (b *builder) buildParams(q *Query, src *gq.Query) {
	fields := map[string]string{}
	fl := flows(q.Plan)
	for i, p := range q.Plan.Params {
		m := Param{Name: p.Name, GoName: GoName(p.Name), Type: p.Type}
		if i < len(src.ParamDocs) {
			m.OwnDoc = src.ParamDocs[i]
		}
		m.Doc = m.OwnDoc
		b.inherit(&m, fl[i])
		if other, taken := fields[m.GoName]; taken {
			b.fail(ParamCollides, src.Info.Params[i].Span, "rename one of the two",
				"the parameters $%s and $%s of query %s are both %s in Go", other, p.Name, q.Name, m.GoName)
		}
		if len(p.Name) > maxName {
			b.fail(LongParamName, src.Info.Params[i].Span, "shorten it",
				"the name of parameter $%s has %d characters; clients accept %d", p.Name, len(p.Name), maxName)
		}
		fields[m.GoName] = p.Name
		q.Params = append(q.Params, m)
	}
}

func (b *builder) buildColumns(q *Query, src *gq.Query) {
	fields := map[string]string{}
	for _, c := range q.Plan.Read.Columns {
		f := Field{Name: c.Name, GoName: GoName(c.Name), Type: c.Type}
		if other, taken := fields[f.GoName]; taken {
			b.fail(FieldCollides, src.Span, "give one an alias with as",
				"the columns %s and %s of query %s are both %s in Go", other, c.Name, q.Name, f.GoName)
		}
		fields[f.GoName] = c.Name
		if c.Fields != nil {
			f.Node = b.wholeNode(q, src, f.GoName, c)
		} else if prop, ok := columnProp(c.Expr); ok {
			v := q.Plan.Read.Vars[prop.Var]
			if decl := b.property(v.Entity, v.Type, prop.Name); decl != nil {
				f.Doc = decl.Description
			}
			f.Enum = b.enums[propKey{v.Entity, v.Type, prop.Name}]
		}
		q.Columns = append(q.Columns, f)
	}
}

func (b *builder) wholeNode(q *Query, src *gq.Query, column string, c plan.Column) *Struct {
	typ := q.Plan.Read.Vars[c.Expr.(plan.Whole).Var].Type
	s := &Struct{NodeType: typ, GoName: q.GoName + "Row" + column}
	b.declare(s.GoName, fmt.Sprintf("the column %s of query %s", c.Name, q.Name), src.Span)
	fields := map[string]string{}
	for i, pf := range c.Fields {
		f := Field{Name: pf.Name, GoName: GoName(pf.Name), Type: pf.Type}
		if i > 0 || pf.Name != "id" { // the id is not a property
			if decl := b.property(plan.Node, typ, pf.Name); decl != nil {
				f.Doc = decl.Description
			}
			f.Enum = b.enums[propKey{plan.Node, typ, pf.Name}]
		}
		if other, taken := fields[f.GoName]; taken {
			b.fail(FieldCollides, src.Span, "return the properties one by one, with aliases",
				"the properties %s and %s of %s, which query %s returns whole, are both %s in Go",
				other, pf.Name, typ, q.Name, f.GoName)
		}
		fields[f.GoName] = pf.Name
		s.Fields = append(s.Fields, f)
	}
	return s
}

func (b *builder) property(entity plan.Entity, typ, name string) *catalog.Property {
	return property(b.schema, entity, typ, name)
}

func property(s *catalog.Schema, entity plan.Entity, typ, name string) *catalog.Property {
	switch entity {
	case plan.Node:
		if n := s.Node(typ); n != nil {
			return n.Property(name)
		}
	case plan.Edge:
		if e := s.Edge(typ); e != nil {
			return e.Property(name)
		}
	}
	return nil
}

// columnProp returns the property whose unchanged values a column shows, and whether there is one.
func columnProp(e plan.Expr) (plan.Prop, bool) {
	if agg, ok := e.(plan.Agg); ok && agg.Func.Row().Member {
		e = agg.Arg
	}
	p, ok := e.(plan.Prop)
	return p, ok
}

// top returns the position at the start of a file.
func top(file string) diag.Span {
	start := diag.Pos{Line: 1, Column: 1}
	return diag.Span{File: file, Start: start, End: start}
}

// goFile returns the name of the Go file for a source file. The suffix _gq prevents names such as
// x_test and x_linux, which have a meaning for the go command.
func goFile(source string) string {
	stem := strings.TrimSuffix(path.Base(source), ".gq")
	stem = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, stem)
	if stem = strings.Trim(stem, "_"); stem == "" {
		stem = "queries"
	}
	return stem + "_gq.go"
}

func sourceDigest(sources []gq.Source) string {
	h := sha256.New()
	for _, s := range sources {
		fmt.Fprintf(h, "%d %s %d ", len(s.Name), s.Name, len(s.Text))
		io.WriteString(h, s.Text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
