package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// elements reads the values of a list in brackets or parentheses. Servers of GraphQL need no commas in it.
func (r *rewriter) elements(p *catalog.Property) (out []string) {
	closing := map[string]string{"[": "]", "(": ")"}[r.next().text]
	refuse(closing == "")
	for !r.accept(closing) {
		if len(out) > 0 {
			r.accept(",")
		}
		out = append(out, r.valueOf(p))
	}
	return out
}

// listOf reads a list of values for a property, or a parameter that holds one.
func (r *rewriter) listOf(p *catalog.Property) string {
	if !r.is("[") && !r.is("(") {
		return r.fitList(p, r.operand())
	}
	return "[" + strings.Join(r.elements(p), ", ") + "]"
}

// isIn reads a list of values, or a parameter that holds one, and writes the condition that a property has one of them.
// Only literals may stand in a list.
func (r *rewriter) isIn(left string, p *catalog.Property) cond {
	if r.is("(", "select") {
		return r.inSelectOf(left)
	}
	if !r.is("[") && !r.is("(") {
		list := r.listOf(p)
		if member := r.propertyOf(list); p == nil && member != nil && member.Type.List {
			left = r.fit(member, left)
		}
		return leaf(left + " in " + r.optional(list))
	}
	start := r.at
	list := r.elements(p)
	if !slices.ContainsFunc(list, func(e string) bool { return strings.HasPrefix(e, "$") }) {
		return leaf(left + " in [" + strings.Join(list, ", ") + "]")
	}
	r.at = start
	refuse(p != nil && p.Type.List)
	c := cond{op: "any"}
	for _, e := range list {
		c.subs = append(c.subs, leaf(left+" = "+e))
	}
	r.skipGroup()
	if len(c.subs) == 1 {
		return c.subs[0]
	}
	return c
}

// containsEach reads a list of values, and writes a condition on a list or a text: all or any of the values are in it.
func (r *rewriter) containsEach(left, op string, p *catalog.Property) cond {
	c := cond{op: op}
	for _, v := range r.elements(p) {
		c.subs = append(c.subs, leaf(left+" contains "+v))
	}
	refuse(len(c.subs) == 0)
	return c
}

// listMember reads any(x IN list WHERE x = value) or none(…) of Cypher.
func (r *rewriter) listMember() cond {
	quantifier := strings.ToLower(r.word())
	r.expect("(")
	name := r.word()
	r.expect("in")
	c := r.memberEqual(name, quantifier)
	r.expect(")")
	if quantifier == "none" {
		return r.negated(c)
	}
	return c
}

// memberEqual reads the rest of any(x IN list WHERE x = value): the list contains the value.
func (r *rewriter) memberEqual(name, quantifier string) cond {
	list := r.operand()
	r.expect("where")
	r.expect(name)
	switch {
	case quantifier == "all":
		panic(giveUp{}) // no member has another value
	case r.accept("in"):
		return r.containsEach(list, "any", r.propertyOf(list))
	}
	r.expect("=")
	return leaf(list + " contains " + r.operand())
}

// fitList is fit for a list of values.
func (r *rewriter) fitList(p *catalog.Property, e string) string {
	if name, ok := strings.CutPrefix(e, "$"); ok && p != nil && wordLen(name) == len(name) && !r.bound(name) {
		r.declare(name, "["+p.Type.Kind.String()+"]")
		r.retype(name, p)
	}
	return e
}
