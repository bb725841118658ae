package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// failure returns an error as lines that begin with "! ". They have the parts of the error that the contract
// determines. Without an error it returns nil.
func failure(err error) []string {
	if err == nil {
		return nil
	}
	var lines *engine.LoadErrors
	var conflicts *engine.MergeConflicts
	var texts []string
	switch {
	case errors.As(err, &lines):
		for _, l := range lines.Lines {
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("line %d %s", l.Line, l.Field))+": "+faultText(l.Err))
		}
		if lines.More {
			texts = append(texts, "and more")
		}
	case errors.As(err, &conflicts):
		texts = conflictTexts(conflicts)
	default:
		for _, e := range flatten(err) {
			texts = append(texts, faultText(e))
		}
	}
	for i := range texts {
		texts[i] = "! " + texts[i]
	}
	return texts
}

// faultText returns one error as text.
func faultText(err error) string {
	var violation *engine.ConstraintViolation
	var key *engine.KeyConflict
	var argument *engine.BadArgument
	var missing *engine.NotFound
	var unsupported *engine.UnsupportedMigration
	var loss *engine.DataLoss
	var own engine.Error
	switch {
	case errors.As(err, &argument):
		return "bad argument $" + argument.Param
	case errors.As(err, &violation):
		text := fmt.Sprintf("%s of %s %s", violation.Rule, violation.Entity, violation.Type)
		if violation.Property != "" && violation.Rule != "unique" {
			text += "." + violation.Property
		}
		if violation.ID != "" && violation.Rule != "cardinality" {
			text += " " + violation.ID
		}
		return text
	case errors.As(err, &unsupported):
		return "UnsupportedMigration " + stepCodes(unsupported.Steps)
	case errors.As(err, &loss):
		return "DataLoss " + stepCodes(loss.Steps)
	case errors.As(err, &key):
		text := strings.TrimSpace(fmt.Sprintf("key conflict of %s %s %s", key.Entity, key.Type, key.ID))
		if key.Keyed {
			text += ", by key"
		}
		if key.Moved {
			text += ", moved"
		}
		if key.Line > 0 {
			text += fmt.Sprintf(", line %d", key.Line)
		}
		return text
	case errors.As(err, &missing):
		return fmt.Sprintf("%s %s not found", missing.What, missing.Name)
	case errors.As(err, &own):
		return strings.TrimPrefix(fmt.Sprintf("%T", own), "*engine.")
	}
	return "fault"
}

// stepCodes returns the codes of steps.
func stepCodes(steps []catalog.Step) string {
	var codes []string
	for _, step := range steps {
		codes = append(codes, string(step.Code))
	}
	slices.Sort(codes)
	return strings.Join(codes, " ")
}

// parseArguments reads the arguments of a query: values in JSON, with commas between them.
func parseArguments(params []plan.Param, text string) (engine.Args, error) {
	dec := json.NewDecoder(strings.NewReader("[" + text + "]"))
	dec.UseNumber()
	var list []any
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("the arguments %s are not JSON: %w", text, err)
	}
	if len(list) != len(params) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(list), len(params))
	}
	args := make(engine.Args, len(list))
	for i, x := range list {
		v, err := jsonValue(x, params[i].Type)
		if err != nil {
			return nil, fmt.Errorf("the argument of $%s: %w", params[i].Name, err)
		}
		args[i] = v
	}
	return args, nil
}

// jsonValue returns the value of a type that a value of JSON stands for.
func jsonValue(x any, t value.Type) (value.Value, error) {
	elements, isList := x.([]any)
	members, isObject := x.(map[string]any)
	switch {
	case x == nil:
		return value.Null, nil
	case t.List && isList:
		list := make([]value.Value, len(elements))
		for i, e := range elements {
			v, err := jsonValue(e, t.Elem())
			if err != nil {
				return v, err
			}
			list[i] = v
		}
		if t.Fields != nil {
			records := make([][]value.Value, len(list))
			for i, r := range list {
				records[i] = r.Elems()
			}
			return value.OfRecords(records), nil
		}
		return value.OfList(t.Kind, list), nil
	case t.Fields != nil && isObject:
		fields := make([]value.Value, len(t.Fields))
		for i, f := range t.Fields {
			v, err := jsonValue(members[f.Name], f.Type)
			if err != nil {
				return v, err
			}
			fields[i] = v
		}
		return value.OfRecord(fields), nil
	case t.Kind == value.Vector && isList:
		vector := make([]float32, len(elements))
		for i, e := range elements {
			f, err := strconv.ParseFloat(fmt.Sprint(e), 32)
			if err != nil {
				return value.Null, err
			}
			vector[i] = float32(f)
		}
		return value.OfVector(vector), nil
	case t.List || t.Fields != nil || isList || isObject:
		return value.Null, fmt.Errorf("%v is no %s", x, t)
	}
	return jsonScalar(x, t)
}

// jsonScalar returns the scalar of a type that a value of JSON stands for.
func jsonScalar(x any, t value.Type) (value.Value, error) {
	kind := t.Kind
	switch x := x.(type) {
	case bool:
		return value.OfBool(x), nil
	case string:
		if kind == value.Decimal {
			return value.ParseDecimal(x, t)
		}
		if kind.HasText() {
			return kind.Parse(x)
		}
		return value.OfString(x), nil
	case json.Number:
		switch {
		case !kind.IsNumeric():
		case kind == value.F32:
			f, err := strconv.ParseFloat(x.String(), 32)
			return value.OfF32(float32(f)), err
		case kind == value.F64:
			f, err := x.Float64()
			return value.OfF64(f), err
		case kind == value.U64 || kind == value.U32:
			n, err := strconv.ParseUint(x.String(), 10, 64)
			return value.OfBits(kind, n), err
		default:
			n, err := x.Int64()
			return value.OfBits(kind, uint64(n)), err
		}
	}
	return value.Null, fmt.Errorf("%v is no %s", x, kind)
}
