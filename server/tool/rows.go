package tool

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Graph is the graph that the functions of a generated package use. It is an [engine.Graph], or a
// graph on a server; the method Typed of client.Graph returns the latter.
type Graph interface {
	Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error)
	Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error)
}

// Rows runs a query for a Go program, and returns its rows. The argument `params` is a struct with one
// field per parameter, and R is a struct with one field per column. The fields of both structs have the types of
// [value.Kind.GoType] and are in the order of the plan. Rows copies the rows out of the engine's memory. It returns no rows with an error.
func Rows[R any](ctx context.Context, g Graph, q *Compiled, params any, opts ...ReadOption) ([]R, error) {
	var rows []R
	err := scan(ctx, g, q, params, opts, func(row R) bool {
		rows = append(rows, row)
		return true
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// OneRow does the same as [Rows] for a query with at most one row, and returns this row. Without one, the
// error is an *[engine.NotFound].
func OneRow[R any](ctx context.Context, g Graph, q *Compiled, params any, opts ...ReadOption) (R, error) {
	var first, none R
	found := false
	err := scan(ctx, g, q, params, opts, func(row R) bool {
		first, found = row, true
		return false
	})
	switch {
	case err != nil:
		return none, err
	case !found:
		return none, &engine.NotFound{What: "row of the query", Name: q.Query.Name}
	}
	return first, nil
}

// scan runs a query, and calls visit with each row until visit returns false.
func scan[R any](ctx context.Context, g Graph, q *Compiled, params any, opts []ReadOption, visit func(R) bool) (err error) {
	var at engine.Target
	for _, o := range opts {
		o.read(&at)
	}
	p := q.Plan()
	args, err := arguments(p.Declared(), params)
	if err != nil {
		return err
	}
	res, err := g.Query(ctx, p, withCaller(ctx, p.Params, args), at)
	if err != nil {
		return err
	}
	defer func() {
		if closing := res.Close(); err == nil {
			err = closing
		}
	}()
	for {
		b, err := res.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		for i := range b.Len {
			var row R
			scanRow(reflect.ValueOf(&row).Elem(), b.Columns, i)
			if !visit(row) {
				return nil
			}
		}
	}
}

// Write runs a mutation for a Go program. The argument `params` has the same form as in [Rows].
func Write(ctx context.Context, g Graph, q *Compiled, params any, opts ...WriteOption) (engine.Change, error) {
	var with engine.WriteOptions
	for _, o := range opts {
		o.write(&with)
	}
	p := q.Plan()
	args, err := arguments(p.Declared(), params)
	if err != nil {
		return engine.Change{}, err
	}
	return g.Mutate(ctx, p, withCaller(ctx, p.Params, args), with)
}

// WriteRow does the same as [Write] for a mutation that returns a row, and returns the row too. R has the same
// form as in [Rows].
func WriteRow[R any](ctx context.Context, g Graph, q *Compiled, params any, opts ...WriteOption) (R, engine.Change, error) {
	var row, none R
	change, err := Write(ctx, g, q, params, opts...)
	if err != nil || change.Row == nil {
		return none, change, err
	}
	res := engine.RowOf(q.Plan().Mutation.Returns, &change)
	b, err := res.Next(ctx)
	if err != nil {
		return none, change, err
	}
	scanRow(reflect.ValueOf(&row).Elem(), b.Columns, 0)
	return row, change, res.Close()
}

// arguments returns the fields of a struct of parameters as engine arguments. The arguments share no
// memory with the struct. The error is an *[engine.BadArgument].
func arguments(params []plan.Param, s any) (engine.Args, error) {
	fields := reflect.ValueOf(s)
	args := make(engine.Args, len(params))
	for i := range params {
		p := &params[i]
		var err error
		if args[i], err = argument(p, fields.Field(i)); err != nil {
			return nil, &engine.BadArgument{Param: p.Name, Detail: err.Error()}
		}
	}
	return args, nil
}

// argument returns the value of a parameter. A nil pointer is null, and the engine puts the default in its place.
func argument(p *plan.Param, f reflect.Value) (value.Value, error) {
	if p.Optional() && f.IsNil() {
		return value.Null, nil
	}
	if f.Kind() == reflect.Pointer {
		f = f.Elem()
	}
	switch {
	case p.Interface != "":
		return record(p.Type.Fields, f)
	case p.Type.Fields != nil:
		return records(p.Type.Fields, f)
	case p.Type.List:
		elems := make([]value.Value, f.Len())
		for i := range elems {
			var err error
			if elems[i], err = scalar(p.Type, f.Index(i)); err != nil {
				return value.Null, err
			}
		}
		return value.OfList(p.Type.Kind, elems), nil
	case p.Type.Kind == value.Vector:
		vector := make([]float32, f.Len())
		reflect.Copy(reflect.ValueOf(vector), f)
		return value.OfVector(vector), nil
	}
	return scalar(p.Type, f)
}

// records returns a slice of structs as a list of records.
func records(fields []value.Field, list reflect.Value) (value.Value, error) {
	out := make([][]value.Value, list.Len())
	for i := range out {
		r, err := record(fields, list.Index(i))
		if err != nil {
			return value.Null, err
		}
		out[i] = r.Elems()
	}
	return value.OfRecords(out), nil
}

// record returns a struct as a record. A nil pointer is null.
func record(fields []value.Field, s reflect.Value) (value.Value, error) {
	out := make([]value.Value, len(fields))
	for i, field := range fields {
		f := s.Field(i)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		}
		var err error
		if out[i], err = scalar(field.Type, f); err != nil {
			return value.Null, fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return value.OfRecord(out), nil
}

// scalar returns a Go scalar as a value of a type, or as an element of a list of the type. The error is for an instant that
// a DateTime cannot hold, and for a text that is no Decimal of the type.
func scalar(of value.Type, v reflect.Value) (value.Value, error) {
	switch of.Kind {
	case value.DateTime:
		t, err := value.DateTimeFrom(v.Interface().(time.Time))
		return value.OfDateTime(t), err
	case value.Decimal:
		return value.ParseDecimal(v.String(), of)
	}
	switch k := of.Kind; k.Storage() {
	case value.InText:
		return value.OfString(v.String()), nil
	case value.InBytes:
		return value.OfBlob(v.Bytes()), nil
	case value.InBits:
		return value.OfBool(v.Bool()), nil
	case value.InInt32, value.InInt64:
		return value.OfBits(k, uint64(v.Int())), nil
	case value.InUint32, value.InUint64:
		return value.OfBits(k, v.Uint()), nil
	case value.InFloat32, value.InFloat64:
		return value.OfBits(k, math.Float64bits(v.Float())), nil
	case value.InNone, value.InVector:
	}
	panic(fmt.Sprintf("tool: an argument cannot have the kind %s", of.Kind))
}

// scanRow fills a struct from row i of the columns. A column that holds records fills a nested struct,
// or a slice of structs.
func scanRow(row reflect.Value, columns []engine.Column, i int) {
	for n := range columns {
		col, field := &columns[n], row.Field(n)
		if col.IsNull(i) {
			continue // the field stays nil
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		if col.Offsets != nil {
			first, n := int(col.Offsets[i]), int(col.Offsets[i+1]-col.Offsets[i])
			field.Set(reflect.MakeSlice(field.Type(), n, n))
			for k := range n {
				scanRow(field.Index(k), col.Fields, first+k)
			}
			continue
		}
		if col.Fields != nil {
			scanRow(field, col.Fields, i)
			continue
		}
		if !col.Type.List {
			scanCell(field, col, i)
			continue
		}
		elems := col.Lists[i].Elems()
		field.Set(reflect.MakeSlice(field.Type(), len(elems), len(elems)))
		for j, e := range elems {
			scanElem(field.Index(j), e)
		}
	}
}

// scanCell sets a scalar or a vector from row i of a column.
func scanCell(to reflect.Value, col *engine.Column, i int) {
	k := col.Type.Kind
	if k == value.DateTime {
		to.Set(reflect.ValueOf(value.DateTimeValue(col.Ints[i]).Time()))
		return
	}
	if k == value.Decimal {
		to.SetString(value.Text(col.Value(i)))
		return
	}
	switch k.Storage() {
	case value.InText:
		to.SetString(strings.Clone(col.Strings[i]))
	case value.InBits:
		to.SetBool(col.Ints[i] != 0)
	case value.InInt32, value.InInt64:
		to.SetInt(col.Ints[i])
	case value.InUint32, value.InUint64:
		to.SetUint(uint64(col.Ints[i]))
	case value.InFloat32, value.InFloat64:
		to.SetFloat(col.Floats[i])
	case value.InBytes:
		to.SetBytes([]byte(col.Strings[i]))
	case value.InVector:
		reflect.Copy(to, reflect.ValueOf(col.Vectors[i]))
	default:
		panic(fmt.Sprintf("tool: a column cannot have the kind %s", k))
	}
}

// scanElem sets one element of a list.
func scanElem(to reflect.Value, e value.Value) {
	k := e.Kind()
	if k == value.DateTime {
		to.Set(reflect.ValueOf(value.DateTimeValue(e.Int()).Time()))
		return
	}
	if k == value.Decimal {
		to.SetString(value.Text(e))
		return
	}
	switch k.Storage() {
	case value.InText:
		to.SetString(strings.Clone(e.Str()))
	case value.InBits:
		to.SetBool(e.Bool())
	case value.InInt32, value.InInt64:
		to.SetInt(e.Int())
	case value.InUint32, value.InUint64:
		to.SetUint(e.Uint())
	case value.InFloat32, value.InFloat64:
		to.SetFloat(e.Float())
	case value.InBytes:
		to.SetBytes(e.Bytes())
	default:
		panic(fmt.Sprintf("tool: a list cannot hold %s", k))
	}
}
