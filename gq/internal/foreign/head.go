package foreign

import (
	"slices"
	"strconv"
	"strings"
)

// firstAhead reports whether collect(…)[0] comes next, after the opening parenthesis.
func (r *rewriter) firstAhead() (ok bool) {
	start, steps := r.at, r.steps
	r.skipCall()
	ok = r.is("[") && r.peek(1).text == "0" && r.isAt(2, "]")
	r.at, r.steps = start, steps
	return ok
}

// firstListed reads the rest of collect(e)[0] or head(collect(e)): the first row of each group as a record. The
// property of a node makes a field of it, and a node gets the fields that the text reads.
func (r *rewriter) firstListed(head bool) string {
	e := r.alone(r.operand())
	r.expect(")")
	if head {
		r.expect(")")
	} else {
		r.expect("[")
		r.next()
		r.expect("]")
	}
	l := &listing{limit: "1", sort: slices.Clone(r.sort), single: true}
	_, name, property := strings.Cut(e, ".")
	switch {
	case !strings.HasPrefix(e, "$") || r.limit != "" || r.staged || wordLen(name) != len(name):
		panic(giveUp{})
	case property:
		l.value, l.columns = e, []string{e + " as " + name}
	case r.schema.Node(r.typeOf(e[1:])) != nil:
		l.node = e
	default:
		panic(giveUp{})
	}
	r.taken = len(r.sort)
	l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
	r.listings = append(r.listings, l)
	return l.mark
}

// recordOf returns the listing whose first node WITH gives a name, or nil.
func (r *rewriter) recordOf(name string) *listing {
	for _, l := range r.listings {
		if l.alias == name && name != "" {
			return l
		}
	}
	return nil
}

// recordField reads a property after the name of the first node of a group, and returns it as a field of its record.
func (r *rewriter) recordField(l *listing) string {
	r.expect(".")
	name := r.propertyName(r.typeOf(l.node[1:]), r.word())
	if column := l.node + "." + name + " as " + name; !slices.Contains(l.columns, column) {
		l.columns = append(l.columns, column)
	}
	return lower(l.alias) + "." + name
}
