package syntax

import (
	"slices"
	"strings"
)

// ParamAnnotation is @description, @check, @range, @default or @example of a parameter. Exactly one
// of Text, Ends and Value is set.
type ParamAnnotation struct {
	Range
	Text  *Token  `parser:"'@' ( ('description' | 'check') '(' @String ')'"`
	Ends  *Ends   `parser:"| 'range' '(' @@ ')'"`                   // the ends of @range
	Value Operand `parser:"| ('default' | 'example') '(' @@ ')' )"` // a *Literal, once the parser has checked it
}

// Name returns the name of the annotation, without @.
func (a *ParamAnnotation) Name() Token { return a.Tokens[1] }

// Ends are the ends of a range min..max. Both are inclusive. An end that the source leaves out is
// nil.
type Ends struct {
	Range
	Min *Token `parser:"@(Int|Float)? '..'"`
	Max *Token `parser:"@(Int|Float)?"`
}

// The annotations that the grammar allows on parameters and on queries.
var (
	paramAnnotations = []string{"@description", "@range", "@check", "@default", "@example"}
	queryAnnotations = []string{"@description", "@instruction", "@question", "@must_be_empty", "@mcp"}
)

// annotationsIn returns the annotations that the grammar allows in a setting, such as inParams.
func annotationsIn(setting string) []string {
	if setting == inParams {
		return paramAnnotations
	}
	return queryAnnotations
}

// namesNode reports whether the type of a parameter is a name that may be a node type. The checker
// decides, because the parser does not know the schema. A name that is a scalar type of this or of
// another language, in upper or lower case, is never a node type here.
func (t *Type) namesNode() bool {
	if t.List != nil || t.Record != nil || t.EnumEnd != nil || t.Dim != nil || t.Name.Value == "Vector" || t.Name.Value == "Decimal" {
		return false
	}
	_, foreign := foreignScalars[strings.ToLower(t.Name.Value)]
	scalar := slices.ContainsFunc(scalarNames, func(name string) bool { return strings.EqualFold(name, t.Name.Value) })
	return !scalar && !foreign
}

// NodeName returns the name token of a type that is neither a scalar nor a list nor an enum. It reports
// false for any other type.
func (t *Type) NodeName() (Token, bool) { return t.Name, t.namesNode() }

// ScalarHelp returns the help for a word that is not a scalar type.
func ScalarHelp(word string) string { return scalarHelp(word) }

// recordField checks the type of a field of a record.
func (p *parser) recordField(f *TypeField) {
	t := f.Type
	if t.List != nil || t.Record != nil || t.EnumEnd != nil || t.Name.Value == "Vector" || t.Name.Value == "Blob" {
		p.fault(UnknownScalar, t.Span(), "use a scalar type, such as String or I32?", "the field %s of a record is not a scalar", f.Name.Value)
		return
	}
	if t.Name.Value == "Decimal" {
		p.checkDecimal(t, t.Dim, t.Scale)
		return
	}
	if t.Dim != nil {
		p.fault(UnknownScalar, t.Span(), "only Decimal takes numbers", "%s with numbers", t.Name.Value)
		return
	}
	p.checkScalar(t.Name)
}

// param checks the rules for a parameter that the grammar does not express.
func (p *parser) param(prm *Param) {
	if prm.Type.EnumEnd != nil {
		p.fault(UnknownScalar, prm.Type.Span(), "use String", "a parameter cannot be an enum")
		return
	}
	switch {
	case prm.Type.Record != nil:
		for _, f := range prm.Type.Record {
			p.meter.Step(1)
			p.recordField(f)
		}
	case !prm.Type.namesNode():
		p.checkType(prm.Type)
	}
	for _, a := range prm.Annotations {
		p.meter.Step(1)
		if _, ok := a.Value.(*Literal); a.Value != nil && !ok {
			p.reportUnexpected(a.Value, "a literal", inParamValue)
		}
	}
}
