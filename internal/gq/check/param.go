package check

import (
	"errors"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// annotate checks the annotations of a parameter, and adds them to the parameter's plan.
func (c *checker) annotate(p *plan.Param, tree *syntax.Param) {
	seen := map[string]diag.Span{}
	var values []*syntax.ParamAnnotation // @default and @example; their values must satisfy @range and @check
	for _, a := range tree.Annotations {
		c.step(1)
		name := a.Name().Value
		first, again := seen[name]
		switch {
		case again && name != "example" && name != "description":
			c.fault(BadParam, syntax.SpanOf(a.Name()), "remove one of them", "@%s occurs twice on $%s, first at %s", name, p.Name, first)
			continue
		case !again:
			seen[name] = syntax.SpanOf(a.Name())
		}
		switch name {
		case "range":
			c.paramRange(p, a)
		case "check":
			c.paramCheck(p, a)
		case "default", "example":
			values = append(values, a)
		}
	}
	for _, a := range values {
		c.paramValue(p, a)
	}
	if !p.Default.IsNull() {
		p.Type.Nullable = false // the default replaces null before the body of the query runs
	}
}

// hasDefault reports whether an expression is a parameter that has a default.
func (c *checker) hasDefault(e plan.Expr) bool {
	ref, ok := e.(plan.ParamRef)
	return ok && !c.plan.Params[ref.Index].Default.IsNull()
}

// reportRule reports a faulty @range or @check. Schemas have these annotations too, and report
// their faults under another code.
func (c *checker) reportRule(d *diag.Diagnostic) {
	c.fault(BadParam, d.Span, d.Help, "%s", d.Message)
}

// paramRange checks @range, and adds it to a parameter.
func (c *checker) paramRange(p *plan.Param, a *syntax.ParamAnnotation) {
	if !p.Type.Kind.IsNumeric() && p.Type.Kind != value.Decimal {
		c.fault(BadParam, a.Span(), "", "@range needs a number or a list of numbers, but $%s is %s", p.Name, p.Type.Required())
		return
	}
	bounds, fault := syntax.BoundsOf(a.Ends.Min, a.Ends.Max, a.Span(), p.Type)
	if fault != nil {
		c.reportRule(fault)
		return
	}
	p.Bounds = bounds
}

// paramCheck checks @check, and adds it to a parameter.
func (c *checker) paramCheck(p *plan.Param, a *syntax.ParamAnnotation) {
	if p.Type.Kind != value.String {
		c.fault(BadParam, a.Span(), "", "@check needs a String or a list of Strings, but $%s is %s", p.Name, p.Type.Required())
		return
	}
	pattern, fault := syntax.PatternOf(*a.Text)
	if fault != nil {
		c.reportRule(fault)
		return
	}
	p.Pattern = pattern
}

// paramValue checks the literal of @default or @example, and adds its value to a parameter. A
// default has the type of the parameter. If the parameter is a list, each example is one element.
func (c *checker) paramValue(p *plan.Param, a *syntax.ParamAnnotation) {
	name, lit := a.Name().Value, a.Value.(*syntax.Literal)
	c.step(1 + len(lit.Elems))
	if p.Interface != "" {
		c.fault(BadParam, a.Span(), "remove it; to let a call leave the node out, write ? after the type", "a node of an interface has no @%s", name)
		return
	}
	if p.Type.Fields != nil {
		c.fault(BadParam, a.Span(), "remove it; to let a call leave the list out, write ? after the type", "a list of records has no @%s", name)
		return
	}
	t := p.Type.Required()
	if name == "example" && t.List {
		t = t.Elem()
	}
	v, err := convert(lit, t)
	var mm *mismatchError
	switch {
	case err == errFraction:
		c.fault(BadParam, lit.Span(), "remove the fraction", "the @%s of $%s is a decimal, want %s", name, p.Name, t)
		return
	case errors.As(err, &mm):
		c.fault(BadParam, lit.Span(), literalHelp(lit, t), "found %s as the @%s of $%s, want %s", describe(mm.lit), name, p.Name, t)
		return
	case err != nil:
		c.fault(BadParam, lit.Span(), "", "bad @%s of $%s: %v", name, p.Name, err)
		return
	}
	if _, err := p.Check(v); err != nil {
		c.fault(BadParam, lit.Span(), "change the value, or the @range or @check of the parameter", "the @%s of $%s is not allowed: %v", name, p.Name, err)
		return
	}
	if name == "default" {
		p.Default = v
		return
	}
	p.Examples = append(p.Examples, v)
}

// limitBy resolves the parameter in the limit of a read.
func (c *checker) limitBy(t syntax.Token) {
	at := syntax.SpanOf(t)
	const small = "I32 @range(1..100) @default(20)"
	var found typed
	var ok bool
	if c.wanting(small, func() { found, ok = c.param(t) }); !ok {
		return
	}
	ref := found.expr.(plan.ParamRef)
	p := &c.plan.Params[ref.Index]
	if c.badParams[ref.Index] {
		return // the faults of its annotations are already reported
	}
	form := "declare it as $" + p.Name + ": " + small
	switch {
	case p.Type.Kind != value.I32 || p.Type.List:
		c.fault(BadLimit, at, form, "the limit $%s is %s, want I32", p.Name, p.Type)
	case p.Type.Nullable:
		c.fault(BadLimit, at, form, "a call may leave out the limit $%s, which has no default", p.Name)
	case p.Bounds.Min == nil || p.Bounds.Max == nil:
		c.fault(BadLimit, at, form, "the limit $%s needs a @range with both ends", p.Name)
	case p.Bounds.Min.Int() < 0 || p.Bounds.Max.Int() > plan.MaxLimitBy:
		c.fault(BadLimit, at, form, "the @range %s of the limit $%s is not within 0..%d", p.Bounds, p.Name, plan.MaxLimitBy)
	default:
		c.read.Limit, c.read.LimitBy = p.Bounds.Max.Int(), &ref
	}
}

// questions checks the texts of @question on a query.
func (c *checker) questions(as []*syntax.QueryAnnotation) {
	seen := map[string]diag.Span{}
	for _, a := range as {
		if a.Name.Value != "question" {
			continue
		}
		c.step(1)
		text, at := syntax.Text(a.Text), syntax.SpanOf(a.Text)
		first, again := seen[text]
		switch {
		case text == "":
			c.fault(BadQuestion, at, "write a question that the query answers, or remove it", "the question is empty")
		case again:
			c.fault(BadQuestion, at, "remove one of them", "the question occurs twice, first at %s", first)
		}
		seen[text] = at
	}
}
