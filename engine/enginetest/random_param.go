package enginetest

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// annotate draws annotations for a parameter that would get the argument v. It returns the argument
// that the call must use: v, or null if v has become the default of the parameter.
func (d *drawer) annotate(p *plan.Param, v value.Value) value.Value {
	if d = d.params; v.IsNull() || !d.percent(25) {
		return v
	}
	switch {
	case p.Type.List, p.Type.Kind.IsFloat(): // a float may be NaN, which no bounds allow
	case p.Type.Kind.IsNumeric():
		d.bound(p, v)
	case p.Type.Kind == value.String:
		if pattern := pick(d, patterns); pattern.Check(v) == nil {
			p.Pattern = pattern
		}
	}
	if !p.Type.Nullable && d.percent(50) {
		p.Default, v = v, value.Null
	}
	return v
}

// bound draws a minimum or a maximum for a parameter. The bound equals the argument v.
func (d *drawer) bound(p *plan.Param, v value.Value) {
	if d.percent(50) {
		p.Bounds.Min = &v
	} else {
		p.Bounds.Max = &v
	}
}

// patterns are the patterns that annotate draws for parameters.
var patterns = func() (all []*value.Pattern) {
	for _, text := range []string{"^", "[a-m]", "^[^z]*$"} {
		p, err := value.NewPattern(text)
		must(err)
		all = append(all, p)
	}
	return all
}()

// drawLimit draws the limit of the read: a number, or a parameter with bounds.
func (r *readDraw) drawLimit() {
	n, d := r.between(0, 6), r.drawer.params
	if d.percent(60) {
		r.limit(int64(n))
		return
	}
	low, high, arg := value.OfI32(int32(d.between(0, n))), value.OfI32(int32(d.between(n, n+3))), value.OfI32(int32(n))
	ref := r.param(fmt.Sprintf("x%d", len(r.q.Params)), value.Of(value.I32))
	p := &r.q.Params[ref.Index]
	p.Bounds = value.Bounds{Min: &low, Max: &high}
	if d.percent(40) {
		p.Default, arg = arg, value.Null
	}
	r.args = append(r.args, arg)
	r.q.Read.Limit, r.q.Read.LimitBy = high.Int(), &ref
}

// nameCaller makes a member of actor() of the last parameter of some plans, if a claim can have its type: a claim, actor().id or
// actor().groups. It draws no random numbers, so that the statements of a seed do not depend on it.
func nameCaller(q *plan.Query, args engine.Args) (*plan.Query, engine.Args) {
	n := len(q.Params)
	if n == 0 || len(q.Uses)%2 == 1 {
		return q, args
	}
	p := &q.Params[n-1]
	limit := q.Read != nil && q.Read.LimitBy != nil && q.Read.LimitBy.Index == n-1
	claims := plan.Claims{}
	if limit || claims.Declare("claim", p.Type.Required().String()) != nil || p.Node+p.Interface != "" || !p.Default.IsNull() || p.Bounds != (value.Bounds{}) || p.Pattern != nil {
		return q, args
	}
	p.Caller = "claim"
	for _, member := range claims.Members() {
		if t, _ := claims.TypeOf(member); t.Equal(p.Type) {
			p.Caller = member
		}
	}
	p.Name = plan.CallerName(p.Caller)
	return q, args
}
