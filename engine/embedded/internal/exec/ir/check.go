package ir

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// CheckUses checks that the types and properties that a query uses exist in a schema, with
// the same types. The error is a *engine.SchemaMismatch.
func CheckUses(q *plan.Query, s *schema.Schema) error {
	for _, u := range q.Uses {
		t := s.Type(u.Entity, u.Type)
		if u.Entity == plan.Interface {
			t = s.InterfaceType(u.Type)
		}
		switch {
		case t == nil && u.Entity == plan.Interface:
			return Mismatch("there is no interface %s", u.Type)
		case t == nil:
			return Mismatch("there is no %s type %s", u.Entity, u.Type)
		}
		if u.Property == "" {
			if u.Entity == plan.Edge && (u.From != "" && s.EndName(t, false) != u.From || u.To != "" && s.EndName(t, true) != u.To) {
				return Mismatch("edge %s leads from %s to %s, expected %s to %s", t.Name, s.EndName(t, false), s.EndName(t, true), u.From, u.To)
			}
			continue
		}
		i, ok := t.Prop(u.Property)
		if !ok {
			return Mismatch("%s %s has no property %s", u.Entity, u.Type, u.Property)
		}
		has := t.Props[i].Type
		if has.Kind != u.Value.Kind || has.List != u.Value.List || has.Dim != u.Value.Dim || has.Nullable && !u.Value.Nullable {
			return Mismatch("property %s of %s %s is of type %s, expected %s", u.Property, u.Entity, u.Type, has, u.Value)
		}
	}
	return nil
}

// CheckArgs checks that the arguments fit the parameters. It returns the arguments; a null argument
// is replaced by the default of its parameter. The error is a *engine.BadArgument.
func CheckArgs(params []plan.Param, args engine.Args) (engine.Args, error) {
	if len(args) != len(params) {
		if caller := params[len(plan.Declared(params)):]; len(caller) > 0 && len(args) == len(params)-len(caller) {
			return nil, &engine.BadArgument{Param: caller[0].Name, Detail: "the call does not say who the caller is; in a Go program, pass a context of tool.WithCaller"}
		}
		name := ""
		if len(args) < len(params) {
			name = params[len(args)].Name
		}
		return nil, &engine.BadArgument{Param: name, Detail: fmt.Sprintf("found %d arguments, expected %d", len(args), len(params))}
	}
	args = plan.WithDefaults(params, args)
	for i := range params {
		if isPlainText(&params[i], &args[i]) {
			continue
		}
		if err := checkArg(&params[i], &args[i]); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// isPlainText reports whether an argument is a correct text for a parameter without a pattern. It
// decides the most frequent case of checkArg without copying a value.
func isPlainText(p *plan.Param, v *value.Value) bool {
	return v.Kind() == value.String && !v.IsList() && p.Type.Kind == value.String && !p.Type.List && p.Pattern == nil &&
		p.Interface == "" && utf8.ValidString(v.Str())
}

// checkRecords checks a list of records. The error is an *engine.BadArgument.
func checkRecords(p *plan.Param, v value.Value) error {
	bad := func(format string, args ...any) error {
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf(format, args...)}
	}
	if !v.IsList() {
		return bad("found a value of type %s, expected %s", v.Type(), p.Type)
	}
	for i, e := range v.Elems() {
		if !e.IsList() || len(e.Elems()) != len(p.Type.Fields) {
			return bad("element %d is not a record of type %s", i, p.Type.Elem())
		}
		for j, f := range p.Type.Fields {
			field := plan.Param{Name: p.Name, Type: f.Type}
			if err := checkArg(&field, &e.Elems()[j]); err != nil {
				var arg *engine.BadArgument
				if errors.As(err, &arg) {
					return bad("element %d, field %s: %s", i, f.Name, arg.Detail)
				}
				return err
			}
		}
	}
	return nil
}

// checkNode checks an argument that is a node of an interface. The error is an *engine.BadArgument.
func checkNode(p *plan.Param, v value.Value) error {
	if !v.IsList() || len(v.Elems()) != len(p.Type.Fields) {
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a value of type %s, expected %s", typeName(v), p.Type)}
	}
	for i, f := range p.Type.Fields {
		e := v.Elems()[i]
		field := plan.Param{Name: p.Name, Type: f.Type}
		if err := checkArg(&field, &e); err != nil {
			var arg *engine.BadArgument
			if errors.As(err, &arg) {
				arg.Detail = "field " + f.Name + ": " + arg.Detail
			}
			return err
		}
		if f.Type.Enum != nil && !slices.Contains(f.Type.Enum, e.Str()) {
			return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("the type %q does not implement %s; the types that do are %s", e.Str(), p.Interface, strings.Join(f.Type.Enum, ", "))}
		}
	}
	return nil
}

// checkArg checks that one argument fits its parameter.
func checkArg(p *plan.Param, v *value.Value) error {
	switch {
	case v.IsNull():
		if !p.Type.Nullable {
			return &engine.BadArgument{Param: p.Name, Detail: "the value must not be null; give one of type " + p.Type.String()}
		}
	case p.Interface != "":
		return checkNode(p, *v)
	case p.Type.Fields != nil:
		return checkRecords(p, *v)
	case v.Kind() != p.Type.Kind || v.IsList() != p.Type.List:
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a value of type %s, expected %s", v.Type(), p.Type)}
	case v.IsList():
		for i, e := range v.Elems() {
			if e.Kind() != p.Type.Kind || e.IsList() {
				return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("element %d is of type %s, expected %s", i, typeName(e), p.Type.Elem())}
			}
			if e.Kind() == value.String && !utf8.ValidString(e.Str()) {
				return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("element %d is not valid UTF-8", i)}
			}
			if e.Kind() == value.Decimal {
				if err := p.Type.CheckDecimal(e); err != nil {
					return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("element %d: %v", i, err)}
				}
			}
		}
	case v.Kind() == value.String && !utf8.ValidString(v.Str()):
		return &engine.BadArgument{Param: p.Name, Detail: "the value is not valid UTF-8"}
	case v.Kind() == value.Decimal:
		if err := p.Type.CheckDecimal(*v); err != nil {
			return &engine.BadArgument{Param: p.Name, Detail: err.Error()}
		}
	case v.Kind() == value.Vector && p.Type.Dim != 0 && len(v.Vector()) != p.Type.Dim:
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a vector of length %d, expected %d", len(v.Vector()), p.Type.Dim)}
	}
	if at, err := p.Check(*v); err != nil {
		detail := err.Error()
		if at >= 0 {
			detail = fmt.Sprintf("element %d: %s", at, detail)
		}
		return &engine.BadArgument{Param: p.Name, Detail: detail}
	}
	return nil
}

// typeName returns the name of a value's type, or "null".
func typeName(v value.Value) string {
	if v.IsNull() {
		return "null"
	}
	return v.Type().String()
}
