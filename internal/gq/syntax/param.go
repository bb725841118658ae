package syntax

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
	queryAnnotations = []string{"@description", "@instruction", "@question", "@mcp"}
)

// annotationsIn returns the annotations that the grammar allows in a setting, such as inParams.
func annotationsIn(setting string) []string {
	if setting == inParams {
		return paramAnnotations
	}
	return queryAnnotations
}

// param checks the rules for a parameter that the grammar does not express.
func (p *parser) param(prm *Param) {
	if prm.Type.EnumEnd != nil {
		p.fault(UnknownScalar, prm.Type.Span(), "use String", "a parameter cannot be an enum")
		return
	}
	p.checkType(prm.Type)
	for _, a := range prm.Annotations {
		p.meter.Step(1)
		if _, ok := a.Value.(*Literal); a.Value != nil && !ok {
			p.reportUnexpected(a.Value, "a literal", inParamValue)
		}
	}
}
