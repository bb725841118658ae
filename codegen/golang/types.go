package golang

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// typeExpr is a type, and how many columns it takes.
type typeExpr struct {
	code  jen.Code
	width int
}

func localType(name string) typeExpr { return typeExpr{id(name), width(name)} }

// fieldType returns the type of a field: of an optional or nullable one a pointer,
// but a list is nil when it is null.
func fieldType(t value.Type, enum *model.Enum) typeExpr {
	var typ typeExpr
	switch {
	case t.List:
		elem := scalarType(t.Kind)
		return typeExpr{slice(elem.code), len("[]") + elem.width}
	case t.Kind == value.Vector:
		typ = vectorType(t.Dim)
	case enum != nil:
		typ = localType(enum.GoName)
	default:
		typ = scalarType(t.Kind)
	}
	if t.Nullable {
		return typeExpr{pointer(typ.code), len("*") + typ.width}
	}
	return typ
}

func vectorType(dim int) typeExpr {
	n := strconv.Itoa(dim)
	return typeExpr{tight(subscript(id(n)), scalarType(value.F32).code), len("[]float32") + len(n)}
}

// scalarType returns the type of a scalar. Its code is shared.
func scalarType(k value.Kind) typeExpr {
	if typ, ok := scalarTypes[k]; ok {
		return typ
	}
	panic("codegen: no Go type for " + k.String())
}

var scalarTypes = map[value.Kind]typeExpr{
	value.String:   localType("string"),
	value.Bool:     localType("bool"),
	value.I32:      localType("int32"),
	value.U32:      localType("uint32"),
	value.F32:      localType("float32"),
	value.F64:      localType("float64"),
	value.I64:      qualType("BigInt"),
	value.U64:      qualType("BigUint"),
	value.Date:     qualType("DateValue"),
	value.DateTime: qualType("DateTimeValue"),
	value.Blob:     qualType("BlobValue"),
}

// qualType returns a type of package value.
func qualType(name string) typeExpr {
	return typeExpr{qual(valuePath, name), len("value.") + len(name)}
}
