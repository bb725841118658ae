package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cedar-policy/cedar-go"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ access.Restrictor = (*Policy)(nil)

// setFilters sets the filters that the rules name.
func setFilters(p *Policy, all []protected.Filter) {
	p.filters, p.rowsOf = map[string]*protected.Filter{}, map[cedar.PolicyID]string{}
	for i := range all {
		p.filters[all[i].Name] = &all[i]
	}
	for _, c := range p.all {
		if c.rows != "" {
			p.rowsOf[c.id] = c.rows
		}
	}
}

// Restricts implements [access.Restrictor].
func (p *Policy) Restricts() bool { return p.narrowing }

// rightsCache caches what Rights returns, and the filters that it compiled. Like a decision, rights depend on nothing that
// changes while the policy is in force.
type rightsCache struct {
	mu       sync.RWMutex
	cached   map[rightsQuestion]*restriction // guarded by mu; nil for no restriction
	compiled map[compiledKey]*rows           // guarded by mu; nil for a filter that does not fit its schema
}

// rightsQuestion holds all inputs of a restriction. Claims are not among them: rules do not read them.
type rightsQuestion struct {
	question
	schema string // digest
}

// rightsQuestionOf returns the question about the rights of an actor. Its query stands for a class of queries, and it has a via only if
// rules read that, so that a list of thousands of queries needs few restrictions. Digests take the place of long names.
func rightsQuestionOf(p *Policy, actor *access.Actor, g tool.Grant, set *ruleSet, schema *engine.Schema) rightsQuestion {
	q := rightsQuestion{questionOf(p, actor, g), schema.Digest}
	if row, ok := rowOf(g.Action); ok && !set.byVia && (g.Via == "" || slices.Contains(row.Vias[:], g.Via)) {
		q.grant.Via = ""
	}
	q.grant.Query = set.queries.class(g.Query)
	if !q.fits() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", q.actor, q.groups, q.branch, q.grant.Query))
		q.actor, q.groups, q.branch, q.grant.Query = "\x00"+string(sum[:]), "", "", "" // no name has a zero byte
	}
	return q
}

// compiledKey identifies a filter that is compiled for a type.
type compiledKey struct {
	schema, filter string
	entity         plan.Entity
	typ            string
}

// restriction is what the rules hide from an actor, before the filters get the claims of its token.
type restriction struct {
	nodes, edges map[string]*shape
	callers      bool                   // a filter reads who the caller is
	last         atomic.Pointer[rights] // the rights for the last claims
}

// rights are the rights for an actor with some claims.
type rights struct {
	claims map[string]value.Value
	rights *engine.Rights
}

// shape is what the rules hide of a type. It corresponds to [engine.TypeRights].
type shape struct {
	none       bool
	properties []string
	any        [][]bound
	all        []bound
}

// bound is a filter in a shape.
type bound struct {
	*protected.Filter
	rows    *rows
	forbids bool
}

// Rights implements access.Restrictor. Each actor of a call that the policy asks about must be allowed to see what the
// rights show. For an actor without the grant, only the rules that deny a part count.
func (p *Policy) Rights(actor *access.Actor, g tool.Grant, schema *engine.Schema) *engine.Rights {
	set := p.byAction[g.Action]
	if actor == nil || set == nil || !set.narrowed {
		return nil
	}
	q := rightsQuestionOf(p, actor, g, set, schema)
	p.rights.mu.RLock()
	r, ok := p.rights.cached[q]
	p.rights.mu.RUnlock()
	if !ok {
		r = p.restrict(p.links(actor), g, schema)
		p.rights.mu.Lock()
		p.rights.cached = keep(p.rights.cached, q, r)
		p.rights.mu.Unlock()
	}
	if r == nil {
		return nil
	}
	last := r.last.Load()
	if last == nil || r.callers && !maps.EqualFunc(last.claims, actor.Claims, value.Equal) {
		last = &rights{actor.Claims, r.rightsOf(actor)}
		r.last.Store(last)
	}
	return last.rights
}

// maxRights is the number of restrictions in the cache, and of compiled filters. A full cache loses half of its elements, so that a list
// longer than it finds some.
const maxRights = 8192

// keep adds an element to a map of the cache.
func keep[K comparable, V any](to map[K]V, key K, v V) map[K]V {
	if to == nil {
		to = map[K]V{}
	}
	if len(to) >= maxRights {
		for k := range to {
			if delete(to, k); len(to) <= maxRights/2 {
				break
			}
		}
	}
	to[key] = v
	return to
}

// restrict says what the rules hide from the links of a call. It returns nil if they hide nothing.
func (p *Policy) restrict(links []link, g tool.Grant, schema *engine.Schema) *restriction {
	r := &restriction{nodes: map[string]*shape{}, edges: map[string]*shape{}}
	nodes, edges := kinds(schema.Catalog)
	for _, l := range links {
		a, ok := p.asker(l, g)
		if ok {
			a.forbidsOnly()
		}
		for _, part := range []struct {
			entity plan.Entity
			kinds  []kind
			to     map[string]*shape
		}{{plan.Node, nodes, r.nodes}, {plan.Edge, edges, r.edges}} {
			for _, k := range part.kinds {
				one := &shape{none: true}
				if ok {
					one = p.shape(a.shown(k), schema, part.entity, k.name)
				}
				if both := part.to[k.name].and(one); both != nil {
					part.to[k.name] = both
				}
			}
		}
	}
	if len(r.nodes)+len(r.edges) == 0 {
		return nil
	}
	for _, shapes := range []map[string]*shape{r.nodes, r.edges} {
		for _, s := range shapes {
			for _, b := range slices.Concat(append(s.any, s.all)...) {
				r.callers = r.callers || len(b.rows.args) > 0
			}
		}
	}
	return r
}

// and returns what two shapes leave. A nil shape hides nothing.
func (s *shape) and(o *shape) *shape {
	switch {
	case s == nil || o != nil && o.none:
		return o
	case o == nil || s.none:
		return s
	}
	both := &shape{properties: slices.Sorted(slices.Values(joined(s.properties, o.properties))), any: slices.Clone(s.any), all: joined(s.all, o.all)}
	for _, list := range o.any {
		if !slices.ContainsFunc(both.any, func(have []bound) bool { return slices.Equal(have, list) }) {
			both.any = append(both.any, list)
		}
	}
	return both
}

// shape returns the shape of what a link may see of a type, or nil if it may see all of it.
func (p *Policy) shape(part shownPart, schema *engine.Schema, entity plan.Entity, typ string) *shape {
	s := &shape{none: part.none, properties: part.hidden}
	filters := func(rules []cedar.PolicyID, forbids bool) (list []bound) {
		for _, rule := range rules {
			b := bound{Filter: p.filters[p.rowsOf[rule]], forbids: forbids}
			if b.rows = p.compiled(b.Filter, schema, entity, typ); b.rows == nil {
				// A filter that does not fit the schema says nothing about the entities, so all of them are hidden.
				s.none = true
			}
			if !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
		return list
	}
	if list := filters(part.any, false); list != nil {
		s.any = [][]bound{list}
	}
	s.all = filters(part.notIn, true)
	switch {
	case s.none:
		return &shape{none: true}
	case s.properties == nil && s.any == nil && s.all == nil:
		return nil
	}
	return s
}

// compiled returns a filter for a type, or nil if it does not fit the schema.
func (p *Policy) compiled(f *protected.Filter, schema *engine.Schema, entity plan.Entity, typ string) *rows {
	key := compiledKey{schema.Digest, f.Name, entity, typ}
	p.rights.mu.RLock()
	r, ok := p.rights.compiled[key]
	p.rights.mu.RUnlock()
	if ok {
		return r
	}
	r, _ = compileFilter(f, schema.Catalog, p.claims, entity, typ)
	p.rights.mu.Lock()
	defer p.rights.mu.Unlock()
	p.rights.compiled = keep(p.rights.compiled, key, r)
	return r
}

// rightsOf returns the rights of an actor.
func (r *restriction) rightsOf(actor *access.Actor) *engine.Rights {
	digest := sha256.New()
	rights := &engine.Rights{Nodes: typeRights(r.nodes, actor, digest)}
	fmt.Fprintln(digest, "edges")
	rights.Edges = typeRights(r.edges, actor, digest)
	rights.Digest = hex.EncodeToString(digest.Sum(nil))
	return rights
}

// typeRights returns the rights of an actor for the types of shapes, and adds them to a digest.
func typeRights(shapes map[string]*shape, actor *access.Actor, digest hash.Hash) map[string]*engine.TypeRights {
	all := map[string]*engine.TypeRights{}
	filter := func(b bound) *engine.RowFilter {
		plans := b.rows.pass
		if b.forbids {
			plans = b.rows.fail
		}
		f := &engine.RowFilter{Name: b.Name, Entities: plans[0], Among: plans[1], Args: access.CallerArgs(actor, b.rows.args)}
		fmt.Fprintf(digest, "%q %t %q %d\n", b.Name, b.forbids, b.Where, len(f.Args))
		for _, v := range f.Args {
			addValue(digest, v)
		}
		return f
	}
	for _, typ := range slices.Sorted(maps.Keys(shapes)) {
		s := shapes[typ]
		t := &engine.TypeRights{None: s.none, Properties: s.properties}
		fmt.Fprintf(digest, "%q %t %q\n", typ, s.none, s.properties)
		for _, list := range s.any {
			var filters []*engine.RowFilter
			for _, b := range list {
				filters = append(filters, filter(b))
			}
			t.Any = append(t.Any, filters)
			fmt.Fprintln(digest, "and")
		}
		for _, b := range s.all {
			t.All = append(t.All, filter(b))
		}
		all[typ] = t
	}
	return all
}

// addValue adds a value to a digest. The elements of a list are apart, so that no text in one looks like several.
func addValue(digest hash.Hash, v value.Value) {
	if !v.IsList() {
		fmt.Fprintf(digest, "%q\n", fmt.Sprint(v))
		return
	}
	fmt.Fprintln(digest, "list of", len(v.Elems()))
	for _, e := range v.Elems() {
		addValue(digest, e)
	}
}
