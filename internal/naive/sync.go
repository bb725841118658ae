package naive

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// claims is the membership of an entity as a set. Its members are "created", "source NAME", "owns NAME PROPERTY" and
// "edited PROPERTY".
type claims map[string]bool

// sources lists the sources that claim the entity.
func (c claims) sources() (names []string) {
	for m := range c {
		if name, ok := strings.CutPrefix(m, "source "); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// owned lists the properties that a source owns.
func (c claims) owned(source string) (props []string) {
	for m := range c {
		if prop, ok := strings.CutPrefix(m, "owns "+source+" "); ok {
			props = append(props, prop)
		}
	}
	slices.Sort(props)
	return props
}

// owners lists the sources that own a property.
func (c claims) owners(prop string) (names []string) {
	for _, s := range c.sources() {
		if c["owns "+s+" "+prop] {
			names = append(names, s)
		}
	}
	return names
}

// renamed returns the claims of an entity after a schema change. The new names of properties map to the old ones.
func (c claims) renamed(old *catalog.Schema, e *entity, olds map[string]string) claims {
	now := map[string]string{}
	for name, was := range olds {
		now[was] = name
	}
	typ, _ := shapeOf(old, e.kind, e.typ)
	if !slices.ContainsFunc(typ.props, func(p *catalog.Property) bool { return now[p.Name] != p.Name }) {
		return c
	}
	out := claims{}
	for m := range c {
		switch words := strings.Fields(m); {
		case words[0] == "owns" && now[words[2]] != "":
			out["owns "+words[1]+" "+now[words[2]]] = true
		case words[0] == "edited" && now[words[1]] != "":
			out["edited "+now[words[1]]] = true
		case words[0] != "owns" && words[0] != "edited":
			out[m] = true
		}
	}
	return out.pruned()
}

// without returns a copy without a source.
func (c claims) without(source string) claims {
	out := claims{}
	for m := range c {
		if m != "source "+source && !strings.HasPrefix(m, "owns "+source+" ") {
			out[m] = true
		}
	}
	return out
}

// pruned removes what belongs to a source that does not claim the entity, and the marks of properties without an owner.
func (c claims) pruned() claims {
	for m := range c {
		words := strings.Fields(m)
		if words[0] == "owns" && !c["source "+words[1]] {
			delete(c, m)
		}
	}
	for m := range c {
		if prop, ok := strings.CutPrefix(m, "edited "); ok && len(c.owners(prop)) == 0 {
			delete(c, m)
		}
	}
	return c
}

// text returns the claims in the form of an export.
func (c claims) text() string {
	text := ""
	if c["created"] {
		text = "+"
	}
	var parts, edited []string
	for _, s := range c.sources() {
		parts = append(parts, s+":"+strings.Join(c.owned(s), ","))
	}
	for m := range c {
		if prop, ok := strings.CutPrefix(m, "edited "); ok {
			edited = append(edited, prop)
		}
	}
	slices.Sort(edited)
	text += strings.Join(parts, ";")
	if len(edited) > 0 {
		text += "!" + strings.Join(edited, ",")
	}
	return text
}

// claimsForm is the form of the text.
var claimsForm = regexp.MustCompile(`^\+?([\w.-]{1,64}:[^!+:; \t\n"]*(;[\w.-]{1,64}:[^!+:; \t\n"]*)*)?(![^!+:; \t\n"]+)?$`)

// parseClaims is the inverse of text.
func parseClaims(text string) (claims, error) {
	if !claimsForm.MatchString(text) {
		return nil, errors.New("the sources have another form")
	}
	c := claims{}
	rest, edited, _ := strings.Cut(text, "!")
	if strings.HasPrefix(rest, "+") {
		c["created"] = true
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "+"), ";") {
		name, props, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		c["source "+name] = true
		for p := range strings.SplitSeq(props, ",") {
			if p != "" {
				c["owns "+name+" "+p] = true
			}
		}
	}
	for p := range strings.SplitSeq(edited, ",") {
		if p != "" {
			c["edited "+p] = true
		}
	}
	if c.text() != text {
		return nil, errors.New("the sources are not in order")
	}
	return c, nil
}

// kept returns the claims of an entity after a write that is no sync.
func (t *tx) kept(old, e *entity) claims {
	if t.g.fault == ClaimsForgotten {
		return nil
	}
	out := maps.Clone(old.claims)
	for _, s := range old.claims.sources() {
		for _, p := range old.claims.owned(s) {
			if !value.Equal(old.props[p], e.props[p]) && t.g.fault != EditsUncounted {
				out["edited "+p] = true
			}
		}
	}
	return out
}

// mergeClaims merges the claims of two branches, member by member.
func mergeClaims(was, is, have claims) claims {
	out := claims{}
	for _, c := range []claims{was, is, have} {
		for m := range c {
			if is[m] != was[m] && is[m] || is[m] == was[m] && have[m] {
				out[m] = true
			}
		}
	}
	return out.pruned()
}

// identifies reports whether a property is part of what identifies an entity.
func (l *load) identifies(kind plan.Entity, typ, prop string) bool {
	if kind == plan.Node {
		return slices.Contains(l.after.schema.Node(typ).Key, prop)
	}
	return slices.ContainsFunc(l.after.schema.Edge(typ).Unique, func(u []string) bool {
		return slices.Contains(u, "src") && slices.Contains(u, "dst") && slices.Contains(u, prop)
	})
}

// adds reports whether the load claims its lines for a source that keeps what a line leaves out.
func (l *load) adds() bool { return l.opts.Sync.Source != "" && l.opts.Mode != engine.Sync }

// claim returns the properties of a line that a source claims, and sets the claims of the line. The entity `old` is nil for a
// new one.
func (l *load) claim(it *item, old *entity) map[string]value.Value {
	kind, typ, source := it.typeKey.kind, it.typeKey.name, l.opts.Sync.Source
	was := claims{"created": true}
	var props map[string]value.Value
	if old != nil {
		was, props = old.claims, maps.Clone(old.props)
	} else {
		props = l.filled(&item{typeKey: it.typeKey})
	}
	if it.claims = was.without(source); l.adds() {
		it.claims = claims{}
		maps.Copy(it.claims, was)
	}
	it.claims["source "+source] = true
	faulty := false
	for _, p := range l.properties(kind, typ) {
		v, has := it.props[p.Name]
		if !has && !it.cleared[p.Name] {
			continue
		}
		if !l.identifies(kind, typ, p.Name) {
			others := slices.DeleteFunc(was.owners(p.Name), func(s string) bool { return s == source })
			switch yields := l.yields(kind, typ, p.Name); {
			case len(others) > 0 && yields && l.g.fault != YieldIgnored:
				it.yielded = append(it.yielded, p.Name)
				continue
			case len(others) > 0 && !yields && !faulty:
				faulty = true
				l.lacking = append(l.lacking, &engine.LineError{Line: it.line, Field: "data." + p.Name, Err: &engine.ConstraintViolation{
					Entity: kind.String(), Type: typ, ID: it.id, Property: p.Name, Rule: "source", Detail: "another source owns it; yield " + typ + "." + p.Name}})
			}
			it.claims["owns "+source+" "+p.Name] = true
			if was["edited "+p.Name] && !value.Equal(props[p.Name], v) && l.synced != nil {
				l.synced.Overwritten++
			}
			delete(it.claims, "edited "+p.Name)
		}
		if delete(props, p.Name); has {
			props[p.Name] = v
		}
	}
	if l.g.fault != LetGoKeeps && !l.adds() {
		l.release(kind, typ, props, was, it.claims)
	}
	it.claims.pruned()
	return props
}

// yields reports whether the source yields a property to others.
func (l *load) yields(kind plan.Entity, typ, prop string) bool {
	return slices.ContainsFunc(l.opts.Sync.Yield, func(name string) bool {
		t, p, _ := strings.Cut(name, ".")
		return p == prop && (kind == plan.Node && t == typ || kind == plan.Edge && strings.EqualFold(t, typ))
	})
}

// release nulls the properties that the source owned and that no source owns now.
func (l *load) release(kind plan.Entity, typ string, props map[string]value.Value, was, is claims) {
	for _, p := range l.properties(kind, typ) {
		if was["owns "+l.opts.Sync.Source+" "+p.Name] && p.Type.Nullable && len(is.owners(p.Name)) == 0 && !l.identifies(kind, typ, p.Name) {
			delete(props, p.Name)
		}
	}
}

// letGo lets go of the entities that the source claimed and that are in no line.
func (l *load) letGo() error {
	claimed, deleted := map[string]int64{}, map[string]int64{} // numbers of entities by type
	l.deleteNodes(l.letGoClaimed(claimed, deleted), deleted)
	l.cutKept()
	return l.guard(claimed, deleted)
}

// letGoClaimed counts the entities that the source claimed, and lets go of those that are in no line: it releases an entity that stays,
// deletes an edge, and returns the nodes to delete.
func (l *load) letGoClaimed(claimed, deleted map[string]int64) (nodes []*entity) {
	source := l.opts.Sync.Source
	for _, typ := range shapes(l.after.schema) {
		if !slices.ContainsFunc(l.opts.Sync.Types, func(name string) bool {
			return name == typ.name || typ.kind == plan.Edge && strings.EqualFold(name, typ.name)
		}) {
			continue
		}
		for _, old := range l.before.sorted(typ.kind, typ.name) {
			// A source created an orphan, and none claims it any more, as after a merge of branches in each of which one let it go.
			orphan := old.claims["created"] && len(old.claims.sources()) == 0
			if !old.claims["source "+source] && !orphan {
				continue
			}
			claimed[typ.name]++
			if l.loaded[typeKey{typ.kind, typ.name}][old.id] {
				continue
			}
			e := l.after.of(typ.kind, typ.name)[old.id]
			left := old.claims.without(source).pruned()
			others := len(left.sources()) > 0 && l.g.fault != OtherSourcesIgnored
			switch {
			case l.g.fault == LostStays:
			case others || !left["created"] && l.g.fault != SyncDeletesAll:
				stays := *e
				stays.props, stays.claims = maps.Clone(e.props), left
				l.release(typ.kind, typ.name, stays.props, old.claims, left)
				l.put(&stays)
				l.synced.Released++
			case typ.kind == plan.Node:
				nodes = append(nodes, e)
			default:
				l.drop(e)
				deleted[typ.name]++
				l.synced.Deleted++
			}
		}
	}
	return nodes
}

// drop deletes an entity alone, where remove deletes a node with its edges.
func (l *load) drop(e *entity) {
	l.touch(e)
	delete(l.after.of(e.kind, e.typ), e.id)
}

// deleteNodes deletes nodes that the source lets go, with their edges if the sync cascades. A node with an edge that stays is kept. The
// edges that the sync has deleted already keep no node.
func (l *load) deleteNodes(nodes []*entity, deleted map[string]int64) {
	for _, n := range nodes {
		var at []*entity
		keep := false
		for _, typ := range l.after.schema.Edges {
			for _, e := range l.after.sorted(plan.Edge, typ.Name) {
				if l.endsAtRemoved(e, false, n) || l.endsAtRemoved(e, true, n) {
					at = append(at, e)
					keep = keep || !l.opts.Sync.Cascade && l.g.fault != SyncCascades || l.loaded[typeKey{plan.Edge, typ.Name}][e.id]
				}
			}
		}
		if keep {
			l.synced.Kept++
			l.synced.KeptFirst = append(l.synced.KeptFirst, engine.ChangePosition{Entity: "node", Type: n.typ, ID: n.id})
			continue
		}
		for _, e := range at {
			l.drop(e)
			l.synced.Cascaded++
		}
		l.drop(n)
		deleted[n.typ]++
		l.synced.Deleted++
	}
}

// unguarded is the share of the claimed entities of a type that a sync may delete without approval.
const unguarded = 0.2

// guard refuses too many deletes. The maps count entities by type.
func (l *load) guard(claimed, deleted map[string]int64) error {
	all := l.synced.Deleted + l.synced.Cascaded
	var many []string
	for typ, n := range deleted {
		if float64(n) > unguarded*float64(claimed[typ]) && l.opts.Sync.ApproveDeletes != all && l.g.fault != SyncUnguarded {
			many = append(many, fmt.Sprintf("%d of %d %s", n, claimed[typ], typ))
		}
	}
	if many == nil {
		return nil
	}
	slices.Sort(many)
	return &engine.Conflict{Reason: fmt.Sprintf("the sync would delete %d entities (%s); repeat it with approve_deletes %d", all, strings.Join(many, ", "), all)}
}

// cutKept keeps the first of the nodes that stay because of their edges.
func (l *load) cutKept() {
	if l.synced == nil {
		return
	}
	slices.SortFunc(l.synced.KeptFirst, func(a, b engine.ChangePosition) int { return strings.Compare(a.Type+"\x00"+a.ID, b.Type+"\x00"+b.ID) })
	if len(l.synced.KeptFirst) > engine.MaxKept {
		l.synced.KeptFirst = l.synced.KeptFirst[:engine.MaxKept]
	}
}
