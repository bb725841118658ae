package enginetest

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// annotate draws annotations for a parameter whose call would have the argument v. It returns the
// argument of the call: v, or null if v becomes the default. A text may fail to match the pattern.
func (d *drawer) annotate(p *plan.Param, v value.Value) value.Value {
	if v.IsNull() || !d.percent(25) {
		return v
	}
	switch {
	case p.Type.List, p.Type.Kind.IsFloat(): // a float may be NaN, which no bounds allow
	case p.Type.Kind.IsNumeric():
		d.bound(p, v)
	case p.Type.Kind == value.String:
		p.Pattern = pick(d, d.patterns())
	}
	if !p.Type.Nullable && d.percent(50) {
		if _, err := p.Check(v); err == nil {
			p.Default, v = v, value.Null
		}
	}
	return v
}

// bound draws bounds of which one is the argument v itself.
func (d *drawer) bound(p *plan.Param, v value.Value) {
	if d.percent(50) {
		p.Bounds.Min = &v
	} else {
		p.Bounds.Max = &v
	}
}

// patterns returns patterns for parameters. Most texts match the first two.
func (d *drawer) patterns() []*value.Pattern {
	var all []*value.Pattern
	for _, text := range []string{"", "^", "[a-m]"} {
		p, err := value.NewPattern(text)
		must(err)
		all = append(all, p)
	}
	return all
}

// drawLimit draws the limit of the read: a number, or a parameter with bounds.
func (r *readDraw) drawLimit() {
	n := r.between(0, 6)
	if r.percent(60) {
		r.limit(int64(n))
		return
	}
	low, high, arg := value.OfI32(int32(r.between(0, n))), value.OfI32(int32(r.between(n, n+3))), value.OfI32(int32(n))
	ref := r.param(fmt.Sprintf("x%d", len(r.q.Params)), value.Of(value.I32))
	p := &r.q.Params[ref.Index]
	p.Bounds = value.Bounds{Min: &low, Max: &high}
	switch {
	case r.percent(40):
		p.Default, arg = arg, value.Null
	case r.percent(5):
		arg = value.OfI32(int32(high.Int()) + 1)
	}
	r.args = append(r.args, arg)
	r.q.Read.Limit, r.q.Read.LimitBy = high.Int(), &ref
}
