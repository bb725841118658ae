package breaking

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// widenings maps a type to the types that accept all of its arguments.
var widenings = map[string][]string{
	"I32": {"I64", "F64"},
	"U32": {"I64", "U64", "F64"},
	"F32": {"F64"},
}

// wider reports whether a parameter of the type `is` accepts every argument that a parameter of the
// type `was` accepts. Types are spelled as in a contract.
func wider(was, is string) bool {
	a, listA := element(was)
	b, listB := element(is)
	if listA != listB {
		return false
	}
	if _, enum := values(a); enum {
		return b == "String"
	}
	return slices.Contains(widenings[a], b)
}

// element returns the type of the elements and true if t is a list type, and otherwise t and false.
func element(t string) (elem string, list bool) {
	if strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") {
		return t[1 : len(t)-1], true
	}
	return t, false
}

// recordFields returns the fields of the records in p, and whether p is a list of records. The name of
// a field begins with that of the parameter: met.age. A field that may be null is optional.
func recordFields(p *contract.Param) ([]contract.Param, bool) {
	elem, list := element(p.Type)
	inner, ok := strings.CutPrefix(elem, "{ ")
	if !list || !ok {
		return nil, false
	}
	var fields []contract.Param
	for _, field := range strings.Split(strings.TrimSuffix(inner, " }"), ", ") { // the types are scalars, without commas
		name, typ, _ := strings.Cut(field, ": ")
		typ, optional := strings.CutSuffix(typ, "?")
		fields = append(fields, contract.Param{Name: p.Name + "." + name, Type: typ, Optional: optional})
	}
	return fields, true
}

// values returns the values of an enum, and whether t is an enum.
func values(t string) ([]string, bool) {
	inner, ok := strings.CutPrefix(t, "enum(")
	if !ok {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(inner, ")"), ", "), true
}

// enumChange returns the values that an enum lost and gained, and whether both types are enums or
// lists of enums.
func enumChange(was, is string) (gone, came []string, both bool) {
	a, listA := element(was)
	b, listB := element(is)
	before, okA := values(a)
	after, okB := values(b)
	if !okA || !okB || listA != listB {
		return nil, nil, false
	}
	for _, v := range before {
		if !slices.Contains(after, v) {
			gone = append(gone, v)
		}
	}
	for _, v := range after {
		if !slices.Contains(before, v) {
			came = append(came, v)
		}
	}
	return gone, came, true
}
