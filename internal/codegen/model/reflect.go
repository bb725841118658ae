package model

import (
	"encoding/json"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
)

// allSchemas fills in the schemas of the queries. It uses all processors because reflection takes
// most of the time of [Build].
func (p *Package) allSchemas() {
	queries := p.Queries()
	var work sync.WaitGroup
	share := len(queries)/runtime.GOMAXPROCS(0) + 1
	for some := range slices.Chunk(queries, share) {
		work.Go(func() {
			for _, q := range some {
				fillSchemas(q, p.Strict)
			}
		})
	}
	work.Wait()
}

// fillSchemas computes the schemas of a query by reflection. It builds types equal to those that
// will be generated, because the generated ones do not exist yet.
func fillSchemas(q *Query, strict bool) {
	q.Tool.InputSchema = inputSchema(paramsType(q.Params), q.Mutation(), strict)
	switch {
	case q.Mutation() && q.Returns():
		q.Tool.OutputSchema = jsonschema.MutationRowOutput(rowType(q.Columns))
	case q.Mutation():
		q.Tool.OutputSchema = mutationOutput()
	default:
		q.Tool.OutputSchema = jsonschema.ReadOutput(rowType(q.Columns))
	}
}

// inputSchema returns the input schema of a tool. The fields of the struct type are the tool's
// parameters.
func inputSchema(params reflect.Type, mutation, strict bool) json.RawMessage {
	reflected := jsonschema.ReadInput
	if mutation {
		reflected = jsonschema.MutationInput
	}
	if strict {
		return jsonschema.Strict(reflected(params))
	}
	return reflected(params)
}

// mutationOutput returns the output schema that all mutations share.
var mutationOutput = sync.OnceValue(jsonschema.MutationOutput)

// Tags returns the struct tags of the parameter's field, by key.
func (p *Param) Tags() map[string]string {
	name := p.Name
	switch {
	case p.Type.List && p.Default != "":
		name += ",omitzero" // a call must be able to pass an empty list, because nil stands for the default
	case p.Type.Nullable:
		name += ",omitempty"
	}
	var keywords []string
	for _, v := range p.Type.Enum {
		keywords = append(keywords, "enum="+v)
	}
	if p.Minimum != "" {
		keywords = append(keywords, "minimum="+p.Minimum)
	}
	if p.Maximum != "" {
		keywords = append(keywords, "maximum="+p.Maximum)
	}
	m := map[string]string{}
	switch {
	case p.Pattern == "":
	case p.Type.List: // the library does not read an equals sign in the pattern of a list
		m[jsonschema.ItemsPatternTag] = p.Pattern
	default:
		keywords = append(keywords, "pattern="+strings.ReplaceAll(p.Pattern, ",", `\,`))
	}
	maps.Copy(m, tags(name, keywords, p.Doc))
	if p.Default != "" {
		m[jsonschema.DefaultTag] = p.Default
	}
	if p.Examples != nil {
		m[jsonschema.ExamplesTag] = "[" + strings.Join(p.Examples, ",") + "]"
	}
	return m
}

// Tags returns the struct tags of the field, by key.
func (f *Field) Tags() map[string]string {
	var keywords []string
	for _, v := range f.Type.Enum {
		keywords = append(keywords, "enum="+v)
	}
	if f.Type.List && f.Type.Nullable {
		keywords = append(keywords, "nullable")
	}
	return tags(f.Name, keywords, "")
}

// ParamTags returns the struct tags of a field of a record in a parameter, by key. A call may leave out a
// nullable one.
func (f *Field) ParamTags() map[string]string {
	name := f.Name
	if f.Type.Nullable {
		name += ",omitempty"
	}
	var keywords []string
	for _, v := range f.Type.Enum {
		keywords = append(keywords, "enum="+v)
	}
	return tags(name, keywords, "")
}

// DescriptionTag is the key of the struct tag with the description of a field in a schema.
const DescriptionTag = "jsonschema_description"

// tags returns the tags of a struct field, by key.
func tags(name string, keywords []string, doc string) map[string]string {
	m := map[string]string{"json": name}
	if len(keywords) > 0 {
		m["jsonschema"] = strings.Join(keywords, ",")
	}
	if doc != "" {
		m[DescriptionTag] = doc
	}
	return m
}

// tag formats tags as a struct tag, sorted by key.
func tag(tags map[string]string) reflect.StructTag {
	var s string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if s != "" {
			s += " "
		}
		s += key + ":" + strconv.Quote(tags[key])
	}
	return reflect.StructTag(s)
}

// paramsType returns a struct type with a field for each parameter.
func paramsType(params []Param) reflect.Type {
	fields := make([]reflect.StructField, len(params))
	for i, p := range params {
		t := goType(p.Type)
		switch {
		case p.Record == nil:
		case p.Type.List:
			t = reflect.SliceOf(recordType(p.Record.Fields))
		default:
			t = pointerIf(p.Type.Nullable, recordType(p.Record.Fields))
		}
		fields[i] = reflect.StructField{Name: p.GoName, Type: t, Tag: tag(p.Tags())}
	}
	return reflect.StructOf(fields)
}

// recordType returns a struct type for the records of a parameter.
func recordType(list []Field) reflect.Type {
	fields := make([]reflect.StructField, len(list))
	for i, f := range list {
		fields[i] = reflect.StructField{Name: f.GoName, Type: goType(f.Type), Tag: tag(f.ParamTags())}
	}
	return reflect.StructOf(fields)
}

// rowType returns a struct type with a field for each column.
func rowType(columns []Field) reflect.Type {
	fields := make([]reflect.StructField, len(columns))
	for i, f := range columns {
		var t reflect.Type
		switch {
		case f.Record != nil && f.Type.List:
			t = reflect.SliceOf(rowType(f.Record.Fields))
		case f.Record != nil:
			t = pointerIf(f.Type.Nullable, rowType(f.Record.Fields))
		default:
			t = goType(f.Type)
		}
		fields[i] = reflect.StructField{Name: f.GoName, Type: t, Tag: tag(f.Tags())}
	}
	return reflect.StructOf(fields)
}

// goType returns the Go type of a parameter or column. An optional or nullable one is a pointer,
// except that a list is nil when it is null.
func goType(t value.Type) reflect.Type {
	switch {
	case t.List:
		return reflect.SliceOf(scalarType(t.Kind))
	case t.Kind == value.Vector:
		return pointerIf(t.Nullable, reflect.ArrayOf(t.Dim, reflect.TypeFor[float32]()))
	}
	return pointerIf(t.Nullable, scalarType(t.Kind))
}

// pointerIf returns the type *t if nullable is true, and t otherwise.
func pointerIf(nullable bool, t reflect.Type) reflect.Type {
	if nullable {
		return reflect.PointerTo(t)
	}
	return t
}

// scalarType returns the Go type of a kind. A whole node has no kind; it has a type of its own.
func scalarType(k value.Kind) reflect.Type {
	if k == value.Invalid {
		return reflect.TypeFor[string]()
	}
	return k.GoType()
}
