package foreign

import (
	"slices"
	"strings"
)

// unwoundMatch reads UNWIND $ids AS id, or FOR id IN $ids, before a match that compares a property with the element: the
// property is in the list.
func (r *rewriter) unwoundMatch() {
	list, name := "", ""
	if r.accept("unwind") {
		list = r.next().text
		r.expect("as")
		name = r.next().text
	} else {
		r.expect("for")
		name = r.next().text
		r.expect("in")
		list = r.next().text
	}
	refuse(r.tokens[r.at-1].kind != word && r.tokens[r.at-1].kind != dollar || !r.is("match") || r.declared(list) && !r.declaredList(list) || len(r.match)+len(r.statements) > 0)
	r.values[name] = "$" + list
	r.expect("match")
	r.matched()
	if r.accept("where") {
		r.wherePart()
	}
	tested := ""
	for i, c := range slices.Clone(r.match) {
		if !mentionsVar(c.render(false), "$"+list) {
			continue
		}
		refuse(tested != "" || c.op != "")
		if left, equal := strings.CutSuffix(c.text, " = $"+list); equal {
			tested = left
			r.match[i] = leaf(left + " in $" + list)
			continue
		}
		head, property, ok := strings.Cut(strings.TrimSuffix(c.text, ": $"+list+" }"), " { ")
		v, _, _ := strings.Cut(head, ":")
		refuse(!ok || wordLen(property) != len(property))
		tested = v + "." + property
		r.match[i] = leaf(head)
		r.match = append(r.match, leaf(tested+" in $"+list))
	}
	refuse(tested == "")
	r.values[name] = tested
	r.params = slices.Clone(r.params)
	for i, p := range r.params {
		if typ, mine := strings.CutPrefix(p, "$"+list+": "); mine && !strings.HasPrefix(typ, "[") {
			r.params[i] = "$" + list + ": [" + typ + "]"
		}
	}
}

// declaredList reports whether the text declares a parameter as a list.
func (r *rewriter) declaredList(name string) bool {
	return slices.ContainsFunc(r.params, func(p string) bool { return strings.HasPrefix(p, "$"+name+": [") })
}
