package golang

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// planVar adds the plan of a query as a composite literal.
func planVar(f *jen.File, q *model.Query) {
	var w literal
	w.literal(reflect.ValueOf(q.Plan), false, 0)
	w.cut()
	f.Add(blank)
	f.Var().Id(q.GoLower + "Plan").Op("=").Add(tight(w.parts...))
}

// literal is the text of a nested composite literal under writing: a tree of statements
// would have a hundred nodes for each clause of a plan. Only the first name of each
// package is a statement, which brings the import.
type literal struct {
	parts []jen.Code
	b     []byte // what follows the parts
	used  []string
}

// cut makes what was written since the last cut a part.
func (w *literal) cut() {
	if len(w.b) > 0 {
		w.parts = append(w.parts, id(string(w.b)))
		w.b = w.b[:0]
	}
}

// qual writes a name of a package.
func (w *literal) qual(path, name string) {
	if slices.Contains(w.used, path) {
		w.text(packageNames[path], ".", name)
		return
	}
	w.used = append(w.used, path)
	w.cut()
	w.parts = append(w.parts, qual(path, name))
}

func (w *literal) text(parts ...string) {
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
}

var (
	valueType = reflect.TypeFor[value.Value]()
	kindType  = reflect.TypeFor[value.Kind]()
	varIDType = reflect.TypeFor[plan.VarID]()
)

// constants spell the values of the enumerations that plans hold.
var constants = map[reflect.Type][]string{
	reflect.TypeFor[plan.Entity]():   {"Node", "Edge"},
	reflect.TypeFor[plan.Op]():       {"Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Contains", "StartsWith"},
	reflect.TypeFor[plan.TextKind](): {"Search", "Phrase", "Fuzzy"},
	reflect.TypeFor[plan.AggFunc]():  {"Count", "Sum", "Avg", "Min", "Max"},
}

// literal writes v as a Go expression on a line that is indented by depth tabs. With
// elided the type of a composite literal is left to its context.
func (w *literal) literal(v reflect.Value, elided bool, depth int) {
	t := v.Type()
	switch {
	case t == valueType:
		w.valueLiteral(v.Interface().(value.Value))
		return
	case t == kindType:
		w.qual(valuePath, value.Kind(v.Uint()).String())
		return
	case t == varIDType && v.Int() == int64(plan.NoVar):
		w.qual(planPath, "NoVar")
		return
	case constants[t] != nil:
		w.qual(planPath, constants[t][v.Uint()])
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if !elided {
			w.text("&")
		}
		w.literal(v.Elem(), elided, depth)
	case reflect.Interface:
		w.literal(v.Elem(), false, depth)
	case reflect.Struct:
		w.structLiteral(v, elided, depth)
	case reflect.Slice:
		w.sliceLiteral(v, depth)
	case reflect.String:
		w.b = strconv.AppendQuote(w.b, v.String())
	case reflect.Bool:
		w.b = strconv.AppendBool(w.b, v.Bool())
	case reflect.Int, reflect.Int64:
		w.b = strconv.AppendInt(w.b, v.Int(), 10)
	default:
		panic(fmt.Sprintf("codegen: a plan holds a %s, which has no literal here", t))
	}
}

// structField is what a literal has to know of a field of a struct type.
type structField struct {
	name     string
	spelled  bool   // written out though it is zero: it says something to whoever reads the plan
	sentinel string // the name in package plan of number, if one has a name
	number   int64
	short    bool // every value fits on the line of what holds it
}

// fieldsOf keeps the fields of the struct types, whose reflection takes longer than
// writing them.
var fieldsOf sync.Map // reflect.Type to []structField

func structFields(t reflect.Type) []structField {
	if fields, ok := fieldsOf.Load(t); ok {
		return fields.([]structField)
	}
	fields := make([]structField, t.NumField())
	for i := range fields {
		f := t.Field(i)
		fields[i] = structField{name: f.Name, spelled: spelledZero(t, f.Type), short: alwaysShort(f.Type)}
		switch {
		case t == compareType && f.Name == "Unless":
			fields[i].sentinel, fields[i].number = "NoParam", plan.NoParam
		case t == readType && f.Name == "Limit":
			fields[i].sentinel, fields[i].number = "NoLimit", plan.NoLimit
		}
	}
	fieldsOf.Store(t, fields)
	return fields
}

// field is a field of a struct that its literal writes.
type field struct {
	*structField
	value reflect.Value
	short bool
}

func (w *literal) structLiteral(v reflect.Value, elided bool, depth int) {
	t := v.Type()
	if !elided {
		w.typeName(t)
	}
	var room [12]field
	fields, long := room[:0], false
	all := structFields(t)
	for i := range all {
		f, fv := &all[i], v.Field(i)
		if fv.IsZero() && !f.spelled {
			continue
		}
		fits := f.short || short(fv)
		fields = append(fields, field{f, fv, fits})
		long = long || !fits
	}
	w.text("{")
	if !long {
		for i, f := range fields {
			if i > 0 {
				w.text(", ")
			}
			w.text(f.name, ": ")
			w.namedConstant(f, depth)
		}
		w.text("}")
		return
	}
	w.text("\n")
	keys := 0
	for i, f := range fields {
		// Neighbours of one line each stand in columns.
		if i == 0 || !f.short || !fields[i-1].short {
			keys = width(f.name)
			for _, next := range fields[i:] {
				if !f.short || !next.short {
					break
				}
				keys = max(keys, width(next.name))
			}
		}
		w.indent(depth + 1)
		w.text(f.name, ":", spaces[:keys+1-width(f.name)])
		w.namedConstant(f, depth+1)
		w.text(",\n")
	}
	w.indent(depth)
	w.text("}")
}

// spelledZero reports whether a zero field of type t is written out: enumerations and
// indexes are.
func spelledZero(in, t reflect.Type) bool {
	return t == varIDType || constants[t] != nil || in.PkgPath() == planPath && t.Kind() == reflect.Int
}

var (
	compareType = reflect.TypeFor[plan.Compare]()
	readType    = reflect.TypeFor[plan.Read]()
)

// namedConstant writes the value of a field, by the name of its sentinel if it is one.
func (w *literal) namedConstant(f field, depth int) {
	if f.sentinel != "" && f.value.Int() == f.number {
		w.qual(planPath, f.sentinel)
		return
	}
	w.literal(f.value, false, depth)
}

func (w *literal) sliceLiteral(v reflect.Value, depth int) {
	elem := v.Type().Elem()
	w.text("[]")
	switch {
	case elem.PkgPath() != "":
		w.typeName(elem)
	case elem.Kind() == reflect.Pointer:
		w.text("*")
		w.typeName(elem.Elem())
	default:
		w.text(elem.Name())
	}
	w.text("{")
	if short(v) {
		for i := range v.Len() {
			if i > 0 {
				w.text(", ")
			}
			w.literal(v.Index(i), true, depth)
		}
		w.text("}")
		return
	}
	w.text("\n")
	for i := range v.Len() {
		w.indent(depth + 1)
		w.literal(v.Index(i), true, depth+1)
		w.text(",\n")
	}
	w.indent(depth)
	w.text("}")
}

// typeName writes the name of a type of package plan or value.
func (w *literal) typeName(t reflect.Type) {
	if packageNames[t.PkgPath()] == "" {
		panic("codegen: a plan holds a " + t.String() + ", whose package is not imported")
	}
	w.qual(t.PkgPath(), t.Name())
}

// spaces are as many as columns of a plan can need.
const spaces = "                                "

func (w *literal) indent(depth int) {
	for range depth {
		w.b = append(w.b, '\t')
	}
}

// short reports whether the literal of v fits on the line of what holds it: a list of
// structs does not.
func short(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || short(v.Elem())
	case reflect.Slice:
		return v.Len() == 0 || alwaysShort(v.Type())
	case reflect.Struct:
		if v.Type() == valueType {
			return true
		}
		for i, f := range structFields(v.Type()) {
			if !f.short && !short(v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// alwaysShort reports whether all values of type t are short, as far as their type tells.
func alwaysShort(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return false
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Struct, reflect.Interface, reflect.Pointer:
			return false
		}
	case reflect.Struct:
		if t == valueType {
			return true
		}
		for _, f := range structFields(t) {
			if !f.short {
				return false
			}
		}
	}
	return true
}

func (w *literal) valueLiteral(v value.Value) {
	if v.IsNull() {
		w.qual(valuePath, "Null")
		return
	}
	if v.IsList() {
		w.qual(valuePath, "OfList")
		w.text("(")
		w.qual(valuePath, v.Kind().String())
		w.text(", []")
		w.qual(valuePath, "Value")
		w.text("{")
		for i, e := range v.Elems() {
			if i > 0 {
				w.text(", ")
			}
			w.valueLiteral(e)
		}
		w.text("})")
		return
	}
	w.qual(valuePath, "Of"+v.Kind().String())
	w.text("(", goValue(v), ")")
}

// goValue returns the Go value of a scalar or vector as a literal.
func goValue(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return strconv.Quote(v.Str())
	case value.Bool:
		return strconv.FormatBool(v.Bool())
	case value.I32, value.I64, value.Date, value.DateTime:
		return strconv.FormatInt(v.Int(), 10)
	case value.U32, value.U64:
		return strconv.FormatUint(v.Uint(), 10)
	case value.F32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case value.F64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case value.Blob:
		return "[]byte(" + strconv.Quote(string(v.Bytes())) + ")"
	case value.Vector:
		elems := make([]string, len(v.Vector()))
		for i, f := range v.Vector() {
			elems[i] = strconv.FormatFloat(float64(f), 'g', -1, 32)
		}
		return "[]float32{" + strings.Join(elems, ", ") + "}"
	}
	panic("codegen: no literal for a value of type " + v.Type().String())
}
