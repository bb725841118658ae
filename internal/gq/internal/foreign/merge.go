package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// merge reads the rest of MERGE (p:Person {…}) SET … or MERGE (p)-[:KNOWS]->(q) SET ….
func (r *rewriter) merge() {
	n := r.created(false, false)
	if r.IsOne("-", "<-", "~") {
		r.mergeEdge(n)
		return
	}
	refuse.If(n.typ == "")
	key := ""
	if node := r.Schema.Node(n.typ); node != nil && len(node.Key) > 0 {
		key = node.Key[0]
	}
	props := append(n.props, r.merged(n.name, n.typ, key)...)
	statement := "upsert " + n.typ + " { " + strings.Join(props, ", ") + " }"
	if n.name != "" && r.Mentions(n.name) {
		statement = r.insertAs(n.name, n.typ) + " = " + statement
		if len(n.props) == 1 && strings.HasPrefix(n.props[0], key+": ") {
			if r.rebind == nil {
				r.rebind = map[string]string{}
			}
			r.rebind[n.name] = "$" + naming.Lower(n.name) + ": " + n.typ + " { " + n.props[0] + " }"
		}
	}
	r.emit(statement)
}

// mergeEdge reads the rest of MERGE after the first node of an edge.
func (r *rewriter) mergeEdge(from nodeRef) {
	l := r.link()
	to := r.created(false, false)
	if l.left {
		from, to = to, from
	}
	refuse.If(len(l.types) != 1 || l.bounds != "" || l.both || from.typ != "" || to.typ != "")
	e := l.types[0]
	if l.name != "" {
		r.bind(l.name, e.Name)
	}
	if !naming.OnePerPair(e) {
		if r.element != nil && !r.IsOne("on", "set") {
			r.note(againNote)
			r.emit("insert " + e.Name + " { " + strings.Join(append([]string{"from: " + r.endpoint(from, e.From), "to: " + r.endpoint(to, e.To)}, l.props...), ", ") + " }")
			return
		}
		r.insertMissing(from, e, to, l)
		return
	}
	required := "" // a property that every edge has
	for _, p := range e.Properties {
		if !p.Type.Nullable {
			required = p.Name
		}
	}
	props := append([]string{"from: " + r.endpoint(from, e.From), "to: " + r.endpoint(to, e.To)}, l.props...)
	props = append(props, r.merged(l.name, e.Name, required)...)
	r.emit("upsert " + e.Name + " { " + strings.Join(props, ", ") + " }")
}

// settings are the values that the parts of a MERGE give to a property, or "".
type settings struct{ name, create, match string }

// merged reads ON CREATE SET, ON MATCH SET and SET after a MERGE, and returns the assignments of the upsert. The variable v is ""
// for an entity without one. The sign is a property that is null exactly if the upsert inserts, or "" if there is none.
func (r *rewriter) merged(v, typ, sign string) (out []string) {
	var list []settings
	saved, savedVar := r.inWhere, r.whereVar
	if v != "" {
		r.bind(v, typ)
		r.inWhere, r.whereVar = typ, v
	}
	for r.Is("set") || r.Is("on", "create", "set") || r.Is("on", "match", "set") {
		create, match := true, true
		if r.Accept("on") {
			create = r.Is("create")
			match = !create
			r.Next()
		}
		r.Expect("set")
		for more := true; more; more = r.Accept(",") {
			list = r.mergeSet(list, v, typ, create, match)
		}
	}
	r.inWhere, r.whereVar = saved, savedVar
	for _, s := range list {
		out = append(out, s.name+": "+r.mergedValue(s, typ, sign))
	}
	return out
}

// mergeSet reads p.name = 1 or p += { name: 1 }, and notes the values.
func (r *rewriter) mergeSet(list []settings, v, typ string, create, match bool) []settings {
	refuse.If(v == "" || r.Next().Text != v)
	set := func() {
		name, value := r.setting("", typ)
		i := slices.IndexFunc(list, func(s settings) bool { return s.name == name })
		if i < 0 {
			i = len(list)
			list = append(list, settings{name: name})
		}
		if create {
			list[i].create = value
		}
		if match {
			list[i].match = value
		}
	}
	if r.Accept(".") {
		set()
		return list
	}
	r.Expect("+", "=", "{")
	for r.More("}") {
		set()
	}
	return list
}

// mergedValue writes the value that an upsert assigns to a property. In it, the name of a property stands for the
// value before, which is null if the upsert inserts.
func (r *rewriter) mergedValue(s settings, typ, sign string) string {
	p := r.Property(typ, s.name)
	switch {
	case s.create == s.match:
		return s.create
	case p == nil, sign == "":
		panic(refuse.GiveUp{})
	case s.match == "" && !p.Type.Nullable:
		return "coalesce(" + p.Name + ", " + s.create + ")"
	case s.match == "":
		return "if(" + sign + " is null, " + s.create + ", " + p.Name + ")"
	case s.create == "":
		return "if(" + sign + " is not null, " + s.match + ")"
	}
	return "if(" + sign + " is null, " + s.create + ", " + s.match + ")"
}

// insertMissing writes the insert of an edge between two nodes of the match that have none.
func (r *rewriter) insertMissing(from nodeRef, e *catalog.Edge, to nodeRef, l link) {
	if len(r.match) == 0 {
		r.beginBlock()
	}
	for _, n := range []nodeRef{from, to} {
		r.matchMerged(n.name)
	}
	refuse.If(len(r.match) == 0 || len(r.statements) > 0 || len(l.props) > 0 || !r.known(from.name) || !r.known(to.name))
	var props []string
	for r.Is("on", "create", "set") {
		r.Expect("on", "create", "set")
		for more := true; more; more = r.Accept(",") {
			refuse.If(r.Next().Text != l.name)
			r.Expect(".")
			name, value := r.setting("", e.Name)
			props = append(props, ", "+name+": "+value)
		}
	}
	refuse.If(r.IsOne("set", "on")) // it concerns an edge that exists
	a, b := "$"+naming.Lower(from.name), "$"+naming.Lower(to.name)
	r.match = append(r.match, cond{op: "not", subs: []cond{leaf(a + " " + naming.Lower(e.Name) + " " + b)}})
	r.emit("insert " + e.Name + " { from: " + a + ", to: " + b + strings.Join(props, "") + " }")
}

// beginBlock makes the statements so far stand before the block of a match that comes after them.
func (r *rewriter) beginBlock() {
	if len(r.statements) == 0 {
		return
	}
	if len(r.match) > 0 && len(r.before) == 0 && !slices.ContainsFunc(r.statements, func(s string) bool {
		return !strings.HasPrefix(s, "update ") && !strings.HasPrefix(s, "delete ")
	}) {
		r.note("one block has one match: it changes nothing if the second match finds nothing")
		return
	}
	for _, s := range r.statements {
		// The match after an update or a delete has rows only if the match before it has some.
		refuse.If(!strings.HasPrefix(s, "insert ") && !strings.HasPrefix(s, "upsert ") && !strings.HasPrefix(s, "$"))
	}
	refuse.If(len(r.before) > 0 || len(r.match) > 0)
	r.before, r.statements = r.statements, nil
}

// matchMerged makes the match find a node by the key by which a statement before it upserts the node.
func (r *rewriter) matchMerged(v string) {
	binding := r.rebind[v]
	if binding == "" {
		return
	}
	r.rebind = maps.Clone(r.rebind) // try restores the map
	delete(r.rebind, v)
	for i, s := range r.before {
		r.before[i] = strings.TrimPrefix(s, "$"+naming.Lower(v)+" = ")
	}
	r.match = append([]cond{leaf(binding)}, r.match...)
}
