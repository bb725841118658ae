package golang

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// planVar writes the plan of a query as a composite literal.
func planVar(f *jen.File, q *model.Query) {
	f.Line()
	f.Var().Id(q.GoLower + "Plan").Op("=").Add(literal(reflect.ValueOf(q.Plan), false))
}

var (
	valueType = reflect.TypeFor[value.Value]()
	varIDType = reflect.TypeFor[plan.VarID]()
)

// constants spell the values of the enumerations that plans hold.
var constants = map[reflect.Type][]string{
	reflect.TypeFor[plan.Entity]():   {"Node", "Edge"},
	reflect.TypeFor[plan.Op]():       {"Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Contains", "StartsWith"},
	reflect.TypeFor[plan.TextKind](): {"Search", "Phrase", "Fuzzy"},
	reflect.TypeFor[plan.AggFunc]():  {"Count", "Sum", "Avg", "Min", "Max"},
}

// literal returns v as a Go expression. With elided the type of a composite literal
// is left to its context.
func literal(v reflect.Value, elided bool) *jen.Statement {
	t := v.Type()
	switch {
	case t == valueType:
		return valueLiteral(v.Interface().(value.Value))
	case t == reflect.TypeFor[value.Kind]():
		return jen.Qual(valuePath, v.Interface().(value.Kind).String())
	case t == varIDType && v.Int() == int64(plan.NoVar):
		return jen.Qual(planPath, "NoVar")
	case constants[t] != nil:
		return jen.Qual(planPath, constants[t][v.Uint()])
	}
	switch t.Kind() {
	case reflect.Pointer:
		if elided {
			return literal(v.Elem(), true)
		}
		return jen.Op("&").Add(literal(v.Elem(), false))
	case reflect.Interface:
		return literal(v.Elem(), false)
	case reflect.Struct:
		return structLiteral(v, elided)
	case reflect.Slice:
		return sliceLiteral(v)
	case reflect.String:
		return jen.Lit(v.String())
	case reflect.Bool:
		return jen.Lit(v.Bool())
	case reflect.Int, reflect.Int64:
		return jen.Op(strconv.FormatInt(v.Int(), 10))
	}
	panic(fmt.Sprintf("codegen: a plan holds a %s, which has no literal here", t))
}

func structLiteral(v reflect.Value, elided bool) *jen.Statement {
	t := v.Type()
	var items []jen.Code
	long := false
	for f, fv := range v.Fields() {
		if fv.IsZero() && !spelledZero(t, f.Type) {
			continue
		}
		long = long || !short(fv)
		items = append(items, key(f.Name, namedConstant(t, f.Name, fv)))
	}
	body := jen.Values(items...)
	if long {
		body = multi(items...)
	}
	if elided {
		return body
	}
	return jen.Qual(t.PkgPath(), t.Name()).Add(body)
}

// spelledZero reports whether a zero field of type t is written out: the zero of an
// enumeration or an index says something to whoever reads the plan.
func spelledZero(in, t reflect.Type) bool {
	return t == varIDType || constants[t] != nil || in.PkgPath() == planPath && t.Kind() == reflect.Int
}

// namedConstant returns the value of a field, by the name of its sentinel if it is one.
func namedConstant(t reflect.Type, field string, v reflect.Value) *jen.Statement {
	switch {
	case t == reflect.TypeFor[plan.Compare]() && field == "Unless" && v.Int() == plan.NoParam:
		return jen.Qual(planPath, "NoParam")
	case t == reflect.TypeFor[plan.Read]() && field == "Limit" && v.Int() == plan.NoLimit:
		return jen.Qual(planPath, "NoLimit")
	}
	return literal(v, false)
}

func sliceLiteral(v reflect.Value) *jen.Statement {
	elem := v.Type().Elem()
	items := make([]jen.Code, v.Len())
	for i := range items {
		items[i] = literal(v.Index(i), true)
	}
	body := jen.Values(items...)
	if !short(v) {
		body = multi(items...)
	}
	t := jen.Index()
	switch {
	case elem.PkgPath() != "":
		t = t.Qual(elem.PkgPath(), elem.Name())
	case elem.Kind() == reflect.Pointer:
		t = t.Op("*").Qual(elem.Elem().PkgPath(), elem.Elem().Name())
	default:
		t = t.Id(elem.Name())
	}
	return t.Add(body)
}

// short reports whether the literal of v fits on the line of what holds it.
func short(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || short(v.Elem())
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Interface, reflect.Pointer:
			return v.Len() == 0
		}
		return true
	case reflect.Struct:
		if v.Type() == valueType {
			return true
		}
		for _, fv := range v.Fields() {
			if !short(fv) {
				return false
			}
		}
	}
	return true
}

func valueLiteral(v value.Value) *jen.Statement {
	of := func(arg *jen.Statement) *jen.Statement {
		return jen.Qual(valuePath, "Of"+v.Kind().String()).Call(arg)
	}
	switch {
	case v.IsNull():
		return jen.Qual(valuePath, "Null")
	case v.IsList():
		elems := jen.Index().Qual(valuePath, "Value").ValuesFunc(func(g *jen.Group) {
			for _, e := range v.Elems() {
				g.Add(valueLiteral(e))
			}
		})
		return jen.Qual(valuePath, "OfList").Call(jen.Qual(valuePath, v.Kind().String()), elems)
	}
	switch v.Kind() {
	case value.String:
		return of(jen.Lit(v.Str()))
	case value.Bool:
		return of(jen.Lit(v.Bool()))
	case value.I32, value.I64, value.Date, value.DateTime:
		return of(jen.Op(strconv.FormatInt(v.Int(), 10)))
	case value.U32, value.U64:
		return of(jen.Op(strconv.FormatUint(v.Uint(), 10)))
	case value.F32:
		return of(jen.Op(strconv.FormatFloat(v.Float(), 'g', -1, 32)))
	case value.F64:
		return of(jen.Op(strconv.FormatFloat(v.Float(), 'g', -1, 64)))
	case value.Blob:
		return of(jen.Index().Byte().Parens(jen.Lit(string(v.Bytes()))))
	case value.Vector:
		return of(jen.Index().Float32().ValuesFunc(func(g *jen.Group) {
			for _, f := range v.Vector() {
				g.Op(strconv.FormatFloat(float64(f), 'g', -1, 32))
			}
		}))
	}
	panic("codegen: no literal for a value of type " + v.Type().String())
}
