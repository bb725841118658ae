package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/contract"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
)

// maxName is the maximum length, in bytes, of tool and argument names that clients accept.
const maxName = 64

// LongTool is a length in bytes. A longer tool name causes a warning.
const LongTool = 40

// toolName matches the tool names that MCP clients accept.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Input is the input of [Build].
type Input struct {
	Graph   string           // the graph's name
	Schema  *catalog.Schema  // compiled from Source
	Source  compile.Source   // of Schema; diagnostics about the schema take their places from it
	Sources []compile.Source // in the order of the catalog; names are relative to the module
	Queries []*compile.Query // compiled from Sources
	Strict  bool             // input schemas require every key

	// Selected, if not nil, maps the names of the stored queries to the names of their sources.
	// Build ignores other queries. SelectedAt maps the same names to their places in cluster.yaml.
	Selected   map[string]string
	SelectedAt map[string]diag.Span // query name -> place in cluster.yaml

	// NoProvider is true if cluster.yaml sets no embedding provider for the graph. Compile then
	// warns about the queries that need one.
	NoProvider bool

	// Claims are the claims of callers that the queries may use.
	Claims plan.Claims

	// ReservedTools allows tools with the names of built-in ones; see [ReservedTools].
	ReservedTools bool
}

// Compile compiles Source and Sources, stores the results in Schema and Queries, and calls [Build].
// It rejects the same sources as gq generate. If there are errors, the package is nil.
func Compile(in Input) (*Package, *catalog.Schema, diag.List) {
	schema, diags := compile.Schema(in.Source)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	queries, more := compile.Options{Claims: in.Claims}.CompileQueries(schema, in.Sources...)
	if diags = append(diags, more...); diags.HasErrors() {
		return nil, nil, diags
	}
	in.Schema, in.Queries = schema, queries
	if in.NoProvider {
		for _, q := range queries {
			if in.Selected != nil && in.Selected[q.Plan.Name] != q.File {
				continue
			}
			if d, ok := lint.CheckProvider(in.Graph, schema, q.Plan, q.Places.Name); ok {
				diags = append(diags, d)
			}
		}
	}
	pkg, more := Build(in)
	return pkg, schema, append(diags, more...)
}

// OnePackage reports graphs if their generated packages would have the same name. The function `at`
// returns the place of a graph in cluster.yaml.
func OnePackage(graphs []string, at func(graph string) diag.Span) diag.List {
	var diags diag.List
	first := map[string]string{}
	for _, graph := range graphs {
		name := PackageName(graph)
		if other, taken := first[name]; taken {
			diags = append(diags, diag.Diagnostic{
				Code: PackageCollides, Severity: diag.Error, Span: at(graph), Help: "rename one of them",
				Message: fmt.Sprintf("graph %s would be generated into the package %s, which is the package of graph %s at %s", graph, name, other, at(other)),
			})
			continue
		}
		first[name] = graph
	}
	return diags
}

// Build decides names, schemas and hints. The diagnostics have the codes of [Codes]. If there are
// errors among them, the package is nil.
func Build(in Input) (*Package, diag.List) {
	b := &builder{
		schema: in.Schema,
		source: in.Source,
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
		ids:   map[propKey]*ID{},
	}
	if !in.ReservedTools {
		for _, name := range ReservedTools() {
			b.tools[name] = owner{name: "a built-in tool"}
		}
	}
	b.buildEnums()
	b.buildIDs()
	b.buildFiles(in.Sources)
	missing := maps.Clone(in.Selected)
	for _, q := range in.Queries {
		if name := q.Plan.Name; in.Selected == nil || in.Selected[name] == q.File {
			b.buildQuery(q)
			delete(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		at, ok := in.SelectedAt[name]
		if !ok {
			at = startOfFile(missing[name])
		}
		b.fail(NoSuchQuery, at, "correct the name, or add the query", "%s has no query %s", missing[name], name)
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
	entity    plan.Entity // whether typ is a node type or an edge type
	typ, prop string      // names of the type and the property
}

// builder builds a Package and collects the diagnostics.
type builder struct {
	schema *catalog.Schema       // the compiled schema
	source compile.Source        // of schema
	places *compile.SchemaPlaces // nil until a diagnostic needs it
	pkg    *Package              // the result
	decls  map[string]owner      // Go name at package level -> the declaration that has it
	tools  map[string]owner      // tool name -> the query or built-in that has it
	enums  map[propKey]*Enum     // types of the enum properties
	ids    map[propKey]*ID       // types of the ids of node types and interfaces; no prop
	diags  diag.List             // errors and warnings
}

// owner is a declaration that has taken a name. The function `at` returns the place of the
// declaration; it is nil if no source contains the declaration.
type owner struct {
	name string // text for messages, such as "query find_user"
	at   func() diag.Span
}

func (o owner) String() string {
	if o.at == nil {
		return o.name
	}
	return o.name + " at " + o.at().String()
}

// constantPlace returns a function that always returns the place `at`.
func constantPlace(at diag.Span) func() diag.Span { return func() diag.Span { return at } }

// schemaPlaces parses the source of the schema when it is called for the first time.
func (b *builder) schemaPlaces() *compile.SchemaPlaces {
	if b.places == nil {
		b.places = compile.PlacesOf(b.source, b.schema)
	}
	return b.places
}

// fail adds an error to the diagnostics.
func (b *builder) fail(code diag.Code, span diag.Span, help, format string, args ...any) {
	b.diags = append(b.diags, diag.Diagnostic{
		Code: code, Severity: diag.Error, Span: span, Message: fmt.Sprintf(format, args...), Help: help,
	})
}

// declare records that a declaration takes goName at package level. If goName is taken, declare
// reports the collision and returns false.
func (b *builder) declare(goName string, o owner) bool {
	if other, taken := b.decls[goName]; taken {
		b.fail(GoNameTaken, o.at(), "rename one of them",
			"%s would be declared in Go as %s, which is the name of %s", o.name, goName, other)
		return false
	}
	b.decls[goName] = o
	return true
}

// buildFiles names the Go file of each source.
func (b *builder) buildFiles(sources []compile.Source) {
	owner := map[string]string{}
	for _, src := range sources {
		f := &File{Source: src.Name, GoFile: goFile(src.Name)}
		if other, taken := owner[f.GoFile]; taken {
			b.fail(FileCollides, startOfFile(src.Name), "rename one of them", "%s would be generated into %s, which is the Go file of %s", src.Name, f.GoFile, other)
		}
		owner[f.GoFile] = src.Name
		b.pkg.Files = append(b.pkg.Files, f)
	}
}

// buildQuery adds one query to the package.
func (b *builder) buildQuery(src *compile.Query) {
	p := src.Plan
	q := &Query{
		Name: p.Name, GoName: GoName(p.Name), File: src.File, Line: src.Span.Start.Line,
		Description: src.Description, Instruction: src.Instruction, Questions: src.Questions, MustBeEmpty: src.MustBeEmpty,
		Exposed: src.Expose, Plan: p,
		One: p.Read != nil && (p.Read.Limit == 1 || lint.OneRow(b.schema, p.Read, src.Info)),
	}
	b.declareQuery(q, constantPlace(src.Places.Name))
	b.buildTool(q, src)
	b.buildParams(q, src)
	b.buildColumns(q, src)
	q.Interfaces = b.interfaces(p)
	i := slices.IndexFunc(b.pkg.Files, func(f *File) bool { return f.Source == src.File })
	if i < 0 {
		panic("codegen: query " + q.Name + " comes from " + src.File + ", which is not a source")
	}
	b.pkg.Files[i].Queries = append(b.pkg.Files[i].Queries, q)
}

// interfaces lists the interfaces over which the variables of a query range.
func (b *builder) interfaces(p *plan.Query) []Interface {
	var list []Interface
	for _, u := range p.Uses {
		if u.Entity != plan.Interface || u.Property != "" {
			continue
		}
		i := Interface{Name: u.Type}
		for _, n := range b.schema.Implementers(u.Type) {
			i.Types = append(i.Types, n.Name)
		}
		list = append(list, i)
	}
	return list
}

// declareQuery declares the names of a query. It stops at the first collision, because further
// collisions would have the same cause.
func (b *builder) declareQuery(q *Query, at func() diag.Span) {
	name := "query " + q.Name
	_ = b.declare(q.GoName, owner{name, at}) &&
		(!q.One || b.declare(q.OneName(), owner{"the function for the only row of " + name, at})) &&
		b.declare(q.GoName+"Params", owner{"the parameters of " + name, at}) &&
		(!q.Returns() || b.declare(q.GoName+"Row", owner{"the rows of " + name, at}))
}

// buildTool names the tool of a query, and checks the name.
func (b *builder) buildTool(q *Query, src *compile.Query) {
	t := Tool{Name: src.ToolName, Title: src.Title}
	if t.Name == "" {
		t.Name = q.Name
	}
	if t.Title == "" {
		t.Title = InWords(q.Name)
	}
	if !toolName.MatchString(t.Name) {
		b.fail(BadToolName, src.Places.ToolName, `set another name with @mcp(tool_name: "…")`,
			"the tool name is %q, but it must have 1 to %d characters of A-Z, a-z, 0-9, _ and -", t.Name, maxName)
	} else if other, taken := b.tools[t.Name]; taken {
		b.fail(ToolNameTaken, src.Places.ToolName, `set another name with @mcp(tool_name: "…")`,
			"the tool name %s of query %s is already the name of %s", t.Name, q.Name, other)
	}
	if len(t.Name) > LongTool && len(t.Name) <= maxName {
		b.diags = append(b.diags, diag.Diagnostic{
			Code: LongToolName, Severity: diag.Warning, Span: src.Places.ToolName,
			Message: fmt.Sprintf("the tool name %s has %d characters; clients that add the name of the server in front cut tool names longer than %d characters", t.Name, len(t.Name), LongTool),
			Help:    `set a shorter name with @mcp(tool_name: "…")`,
		})
	}
	b.tools[t.Name] = owner{"query " + q.Name, constantPlace(src.Places.ToolName)}
	t.ReadOnly, t.Destructive, t.Idempotent = hints(q.Plan, b.schema, src.Idempotent)

	t.Constraints = constraintLine(q.Plan, b.schema)
	t.Description = contract.Paragraphs(src.Description, src.Instruction, t.Constraints, contract.ForCaller(q.Plan.Members()))
	q.Tool = t
}

// buildParams adds the parameters of a query, and checks their names.
func (b *builder) buildParams(q *Query, src *compile.Query) {
	fields := map[string]string{}
	places := map[string]diag.Span{}
	fl := flows(q.Plan)
	for i, p := range q.Plan.Declared() {
		m := Param{Name: p.Name, GoName: GoName(p.Name), Type: p.Type, Interface: p.Interface, ID: b.ids[propKey{plan.Node, p.Node, ""}]}
		m.Type.Nullable = p.Optional()
		switch {
		case p.Interface != "":
			m.Record = b.ids[propKey{plan.Interface, p.Interface, ""}].Record
		case p.Type.Fields != nil:
			m.Record = b.paramRecord(q, &m, src.Info.Params[i].Span)
		}
		if i < len(src.ParamDocs) {
			m.OwnDoc = src.ParamDocs[i]
		}
		m.Doc = m.OwnDoc
		if r := q.Plan.Read; r != nil && r.LimitBy != nil && r.LimitBy.Index == i && m.Doc == "" {
			m.Doc = "The maximum number of rows."
		}
		bounds := b.inherit(&m, &p, fl[i])
		b.annotate(&m, &p, bounds, src.Info.Params[i].Span)
		if end := periodEnd(q.Plan, i); end != "" && m.Examples == nil && m.Default == "" {
			m.Examples = []string{end}
		}
		if other, taken := fields[m.GoName]; taken {
			b.fail(ParamCollides, src.Info.Params[i].Span, "rename one of them",
				"parameter $%s of query %s would become the Go field %s, but $%s at %s already has that field name", p.Name, q.Name, m.GoName, other, places[m.GoName])
		}
		if len(p.Name) > maxName {
			b.fail(LongParamName, src.Info.Params[i].Span, "shorten it",
				"the name of parameter $%s has %d characters; clients accept at most %d", p.Name, len(p.Name), maxName)
		}
		fields[m.GoName], places[m.GoName] = p.Name, src.Info.Params[i].Span
		q.Params = append(q.Params, m)
	}
}

// paramRecord returns the type of the records in a parameter, and checks the names of its fields.
func (b *builder) paramRecord(q *Query, p *Param, at diag.Span) *Struct {
	s := &Struct{GoName: q.GoName + "Params" + p.GoName}
	if one := GoName(singular(p.Name)); p.Type.List && !slices.ContainsFunc(q.Plan.Params, func(o plan.Param) bool { return GoName(o.Name) == one }) {
		s.GoName = q.GoName + "Params" + one
	}
	b.declare(s.GoName, owner{"the records of the parameter $" + p.Name + " of the query " + q.Name, func() diag.Span { return at }})
	names := map[string]string{}
	for _, f := range p.Type.Fields {
		m := Field{Name: f.Name, GoName: GoName(f.Name), Type: f.Type}
		if other, taken := names[m.GoName]; taken {
			b.fail(ParamCollides, at, "rename one of them",
				"the field %s of parameter $%s of query %s would become the Go field %s, but the field %s already has that name", f.Name, p.Name, q.Name, m.GoName, other)
		}
		if len(f.Name) > maxName {
			b.fail(LongParamName, at, "shorten it", "the field %s of parameter $%s has %d characters; clients accept at most %d", f.Name, p.Name, len(f.Name), maxName)
		}
		names[m.GoName] = f.Name
		s.Fields = append(s.Fields, m)
	}
	return s
}

// columnsOf returns the columns of a query, and the variables that they use.
func columnsOf(q *plan.Query) ([]plan.Column, []plan.Var) {
	if q.Mutation != nil {
		return q.Mutation.Returns, q.Mutation.Vars
	}
	return q.Read.Columns, q.Read.Vars
}

// buildColumns adds the columns of a query, and checks their names.
func (b *builder) buildColumns(q *Query, src *compile.Query) {
	columns, _ := columnsOf(q.Plan)
	places := src.Places.Columns
	q.Columns = b.fields(q, q.GoName+"Row", "column", columns, func(i int) diag.Span { return places[i] })
}

// fields returns the fields of the struct with the given Go name, one for each column. The argument `what` is
// the word for a column in messages, and `at` returns the place of a column.
func (b *builder) fields(q *Query, goName, what string, columns []plan.Column, at func(i int) diag.Span) []Field {
	var list []Field
	names := map[string]string{}
	places := map[string]diag.Span{}
	for i, c := range columns {
		f := Field{Name: c.Name, GoName: GoName(c.Name), Type: c.Type}
		if other, taken := names[f.GoName]; taken {
			b.fail(FieldCollides, at(i), "rename one of them with `as`",
				"%s %s of query %s would become the Go field %s, but %s at %s already has that field name", what, c.Name, q.Name, f.GoName, other, places[f.GoName])
		}
		names[f.GoName], places[f.GoName] = c.Name, at(i)
		record := goName + f.GoName // the type of a record in the column
		if one := GoName(singular(c.Name)); c.Type.List && !slices.ContainsFunc(columns, func(o plan.Column) bool { return GoName(o.Name) == one }) {
			record = goName + one
		}
		switch e := c.Expr.(type) {
		case plan.Whole:
			f.Record = b.wholeNode(q, at(i), record, c, e)
		case plan.Agg:
			switch nodes, _ := e.CollectedNodes(); of := nodes.(type) {
			case plan.Whole:
				f.Record = b.wholeNode(q, at(i), record, c, of)
			case plan.EndNode:
				f.Record = b.nodeAtEnd(q, at(i), what, record, c, of)
			default:
				b.describe(q, &f, e)
			}
		case plan.EndNode:
			f.Record = b.nodeAtEnd(q, at(i), what, record, c, e)
		case plan.BlockRows:
			f.Record = &Struct{GoName: record}
			b.declare(f.Record.GoName, owner{fmt.Sprintf("the %s %s of query %s", what, c.Name, q.Name), constantPlace(at(i))})
			f.Record.Fields = b.fields(q, f.Record.GoName, "field", e.Columns, func(int) diag.Span { return at(i) })
		default:
			b.describe(q, &f, c.Expr)
		}
		list = append(list, f)
	}
	return list
}

// describe sets the comment and the enum of a field that shows the values of a property, and the ID of a field that
// shows ids of nodes.
func (b *builder) describe(q *Query, f *Field, e plan.Expr) {
	_, vars := columnsOf(q.Plan)
	e = member(e)
	switch e := e.(type) {
	case plan.ID:
		if v := vars[e.Var]; v.Entity == plan.Node {
			f.ID = b.ids[propKey{plan.Node, v.Type, ""}]
		}
	case plan.Endpoint:
		edge := b.schema.Edge(vars[e.Var].Type)
		end := edge.From
		if e.To {
			end = edge.To
		}
		f.ID = b.ids[propKey{plan.Node, end, ""}]
	}
	prop, ok := e.(plan.Prop)
	if !ok {
		return
	}
	v := vars[prop.Var]
	if decl := b.property(v.Entity, v.Type, prop.Name); decl != nil {
		f.Doc = decl.Description
	}
	f.Enum = b.enums[propKey{v.Entity, v.Type, prop.Name}]
}

// nodeAtEnd returns the struct type for the node at an end of an edge in a column, or in a column of lists.
func (b *builder) nodeAtEnd(q *Query, at diag.Span, what, goName string, c plan.Column, e plan.EndNode) *Struct {
	s := &Struct{GoName: goName, EndOf: e.Interface}
	b.declare(s.GoName, owner{fmt.Sprintf("the %s %s of query %s", what, c.Name, q.Name), constantPlace(at)})
	for _, pf := range c.Fields { // the type is any String, like that of a whole node, so that a new type breaks no caller
		pf.Type.Enum = nil
		s.Fields = append(s.Fields, Field{Name: pf.Name, GoName: GoName(pf.Name), Type: pf.Type})
	}
	return s
}

// wholeNode returns the struct type for a whole node in a column, or in a column of lists.
func (b *builder) wholeNode(q *Query, at diag.Span, goName string, c plan.Column, w plan.Whole) *Struct {
	_, vars := columnsOf(q.Plan)
	v := vars[w.Var]
	typ := v.Type
	s := &Struct{NodeType: typ, GoName: goName}
	b.declare(s.GoName, owner{fmt.Sprintf("the column %s of query %s", c.Name, q.Name), constantPlace(at)})
	fields := map[string]string{}
	for i, pf := range c.Fields {
		f := Field{Name: pf.Name, GoName: GoName(pf.Name), Type: pf.Type}
		if i > 0 || pf.Name != "id" { // the id is not a property
			if decl := b.property(v.Entity, typ, pf.Name); decl != nil {
				f.Doc = decl.Description
			}
			f.Enum = b.enums[propKey{v.Entity, typ, pf.Name}]
		} else if v.Entity == plan.Node {
			f.ID = b.ids[propKey{plan.Node, typ, ""}]
		}
		if other, taken := fields[f.GoName]; taken {
			b.fail(FieldCollides, at, "return the properties one by one and name them with `as`",
				"the properties %s and %s of the node %s, which query %s returns whole, would both be the field %s in Go",
				other, pf.Name, typ, q.Name, f.GoName)
		}
		fields[f.GoName] = pf.Name
		s.Fields = append(s.Fields, f)
	}
	return s
}

// property returns a property of the schema, or nil if there is none.
func (b *builder) property(entity plan.Entity, typ, name string) *catalog.Property {
	return property(b.schema, entity, typ, name)
}

// property returns a property of a schema, or nil if there is none.
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
	case plan.Interface:
		if i := s.Interface(typ); i != nil {
			return i.Property(name)
		}
	case plan.Walk: // a walk has no properties
	}
	return nil
}

// member returns the argument of an aggregate whose results are among its arguments, and any other expression as it
// is.
func member(e plan.Expr) plan.Expr {
	switch agg := e.(type) {
	case plan.Agg:
		if agg.Func.Row().Member {
			return agg.Arg
		}
	case plan.BlockAgg:
		if agg.Func.Row().Member {
			return agg.Arg
		}
	}
	return e
}

// startOfFile returns the position at the start of a file.
func startOfFile(file string) diag.Span {
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

// sourceDigest returns a digest of the names and texts of the sources.
func sourceDigest(sources []compile.Source) string {
	h := sha256.New()
	for _, s := range sources {
		fmt.Fprintf(h, "%d %s %d ", len(s.Name), s.Name, len(s.Text))
		io.WriteString(h, s.Text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
