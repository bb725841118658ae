package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// model is a schema that can be edited at random. Its text is always valid.
type model struct {
	interfaces []modelType
	nodes      []modelType
	edges      []modelType
	fresh      int // number of fresh names given out
}

type modelType struct {
	name, was, note string
	from, to        int // indexes into `nodes`; only for an edge
	card            string
	implements      []string
	props           []modelProp
	key             string
	body            []modelConstraint
}

type modelProp struct {
	name, was, note string
	typ             string
	enum            []string
	nullable        bool
	embed           string
	approximate     bool
	fill            string // @default or @backfill
}

// modelConstraint constrains one or two properties. `text` has a %s for each.
type modelConstraint struct {
	text  string
	props []string
}

func (m *model) clone() *model {
	c := *m
	for _, list := range []*[]modelType{&c.interfaces, &c.nodes, &c.edges} {
		*list = slices.Clone(*list)
		for i := range *list {
			t := &(*list)[i]
			t.props, t.body, t.implements = slices.Clone(t.props), slices.Clone(t.body), slices.Clone(t.implements)
			for j := range t.props {
				t.props[j].enum = slices.Clone(t.props[j].enum)
			}
			for j := range t.body {
				t.body[j].props = slices.Clone(t.body[j].props)
			}
		}
	}
	return &c
}

func (m *model) name(prefix string) string {
	m.fresh++
	return fmt.Sprintf("%s%d", prefix, m.fresh)
}

func (p modelProp) String() string {
	typ := p.typ
	if p.enum != nil {
		typ = "enum(" + strings.Join(p.enum, ", ") + ")"
	}
	if p.nullable {
		typ += "?"
	}
	s := p.name + ": " + typ
	if p.was != "" {
		s += ` @rename_from("` + p.was + `")`
	}
	if p.note != "" {
		s += ` @description("` + p.note + `")`
	}
	if p.embed != "" {
		s += ` @embed("` + p.embed + `")`
	}
	if p.approximate {
		s += " @ann"
	}
	if p.fill != "" {
		s += " " + p.fill
	}
	return s
}

func (m *model) String() string {
	var b strings.Builder
	for _, t := range m.interfaces {
		fmt.Fprintf(&b, "interface %s {\n", t.name)
		for _, p := range t.props {
			fmt.Fprintf(&b, "  %s\n", p)
		}
		b.WriteString("}\n")
	}
	for _, t := range m.nodes {
		fmt.Fprintf(&b, "node %s%s", t.name, t.marks())
		if len(t.implements) > 0 {
			b.WriteString(" implements " + strings.Join(t.implements, ", "))
		}
		b.WriteString(t.members())
	}
	for _, t := range m.edges {
		fmt.Fprintf(&b, "edge %s: %s -> %s %s%s%s", t.name, m.nodes[t.from].name, m.nodes[t.to].name, t.card, t.marks(), t.members())
	}
	return b.String()
}

func (t modelType) marks() string {
	s := ""
	if t.was != "" {
		s += ` @rename_from("` + t.was + `")`
	}
	if t.note != "" {
		s += ` @description("` + t.note + `") @x_team("` + t.note + `")`
	}
	return s
}

func (t modelType) members() string {
	var b strings.Builder
	b.WriteString(" {\n")
	for _, p := range t.props {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	if t.key != "" {
		fmt.Fprintf(&b, "  @key(%s)\n", t.key)
	}
	for _, c := range t.body {
		args := make([]any, len(c.props))
		for i, p := range c.props {
			args[i] = p
		}
		fmt.Fprintf(&b, "  "+c.text+"\n", args...)
	}
	b.WriteString("}\n")
	return b.String()
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomModel(r *rand.Rand) *model {
	m := &model{}
	for range r.IntN(3) {
		m.interfaces = append(m.interfaces, modelType{name: m.name("I"), props: []modelProp{m.prop(r)}})
	}
	for range 1 + r.IntN(4) {
		m.addNode(r)
	}
	for range r.IntN(4) {
		m.addEdge(r)
	}
	return m
}

func (m *model) addNode(r *rand.Rand) {
	t := modelType{name: m.name("N"), props: []modelProp{{name: m.name("k"), typ: "String"}}}
	if r.IntN(2) == 0 {
		t.key = t.props[0].name
	}
	if len(m.interfaces) > 0 && r.IntN(2) == 0 {
		t.implements = []string{pick(r, m.interfaces).name}
	}
	for range r.IntN(5) {
		t.props = append(t.props, m.prop(r))
	}
	m.nodes = slices.Insert(m.nodes, len(m.nodes), t)
	for range r.IntN(3) {
		m.constrain(r, &m.nodes[len(m.nodes)-1], true)
	}
}

func (m *model) addEdge(r *rand.Rand) {
	t := modelType{name: m.name("E"), from: r.IntN(len(m.nodes)), to: r.IntN(len(m.nodes))}
	for range r.IntN(3) {
		t.props = append(t.props, m.prop(r))
	}
	if r.IntN(2) == 0 {
		t.card = "@card(0..3)"
	}
	m.constrain(r, &t, false)
	m.edges = append(m.edges, t)
}

func (m *model) prop(r *rand.Rand) modelProp {
	p := modelProp{name: m.name("p"), typ: pick(r, []string{"String", "I32", "F64", "Date", "[String]", "Vector(2)"}), nullable: r.IntN(4) > 0}
	if r.IntN(4) == 0 {
		p.typ, p.enum = "String", []string{"a", "b", "c"}
	}
	return p
}

func (m *model) constrain(r *rand.Rand, t *modelType, node bool) {
	if len(t.props) == 0 {
		return
	}
	p, q := pick(r, t.props), pick(r, t.props)
	scalar := func(p modelProp) bool { return p.typ != "[String]" && p.typ != "Vector(2)" }
	c := modelConstraint{"@index(%s)", []string{p.name}}
	switch k := r.IntN(4); {
	case k == 0 && scalar(p):
		c.text = "@unique(%s)"
	case k == 1 && scalar(p) && scalar(q) && p.name != q.name:
		c = modelConstraint{"@unique(%s, %s)", []string{p.name, q.name}}
	case k == 2 && node && (p.typ == "I32" || p.typ == "F64"):
		c.text = fmt.Sprintf("@range(%%s, %d..)", r.IntN(3))
	case k == 3 && node && p.typ == "String" && p.enum == nil:
		c.text = `@check(%s, "x` + fmt.Sprint(r.IntN(3)) + `")`
	}
	again := func(o modelConstraint) bool { return o.text == c.text && slices.Equal(o.props, c.props) }
	if !slices.ContainsFunc(t.body, again) { // a schema may have a rule only once
		t.body = append(t.body, c)
	}
}

// edit makes one random change. Most changes can be migrated.
func (m *model) edit(r *rand.Rand) {
	lists := []*[]modelType{&m.nodes, &m.nodes, &m.edges}
	list := pick(r, lists)
	isNode := list == &m.nodes
	if len(*list) == 0 {
		m.addEdge(r)
		return
	}
	t := &(*list)[r.IntN(len(*list))]
	switch r.IntN(16) {
	case 0:
		t.was = t.name
		t.name = m.name("R")
	case 1:
		t.note = m.name("note ")
	case 2:
		m.addNode(r)
	case 3:
		m.addEdge(r)
	case 4:
		if len(m.edges) > 0 {
			i := r.IntN(len(m.edges))
			m.edges = slices.Delete(m.edges, i, i+1)
		}
	case 5: // drop the last node, unless an edge needs it
		last := len(m.nodes) - 1
		if last > 0 && !slices.ContainsFunc(m.edges, func(e modelType) bool { return e.from == last || e.to == last }) {
			m.nodes = m.nodes[:last]
		}
	case 6:
		if len(m.edges) > 1 {
			i, j := r.IntN(len(m.edges)), r.IntN(len(m.edges))
			m.edges[i], m.edges[j] = m.edges[j], m.edges[i]
		}
	case 7:
		p := m.prop(r)
		p.nullable = p.nullable || r.IntN(4) > 0
		t.props = slices.Insert(t.props, r.IntN(len(t.props)+1), p)
	case 8:
		m.constrain(r, t, isNode)
	case 9:
		if len(t.body) > 0 {
			i := r.IntN(len(t.body))
			t.body = slices.Delete(t.body, i, i+1)
		}
	case 10:
		if len(t.body) > 1 {
			i, j := r.IntN(len(t.body)), r.IntN(len(t.body))
			t.body[i], t.body[j] = t.body[j], t.body[i]
		}
	case 11:
		if !isNode {
			t.card = pick(r, []string{"", "@card(0..3)", "@card(1..)", "@card(1..1)"})
		} else if len(m.interfaces) > 0 {
			t.implements = pick(r, [][]string{nil, {pick(r, m.interfaces).name}})
		}
	default:
		if len(t.props) > 0 {
			m.editProp(r, t, isNode, r.IntN(len(t.props)))
		}
	}
}

func (m *model) editProp(r *rand.Rand, t *modelType, isNode bool, i int) {
	p := &t.props[i]
	switch r.IntN(10) {
	case 9:
		if t.key != p.name && p.typ == "F64" && p.enum == nil && len(t.body) == 0 {
			p.fill = pick(r, []string{"", "@default(0.25)", "@default(-3)", `@backfill("1 + 2")`, `@default(1) @backfill("2.5")`})
		}
	case 8:
		p.approximate = isNode && p.typ == "Vector(2)" && !p.approximate
	case 0:
		p.was = p.name
		p.name = m.name("r")
		if t.key == p.was {
			t.key = p.name
		}
		for _, c := range t.body {
			for j, name := range c.props {
				if name == p.was {
					c.props[j] = p.name
				}
			}
		}
		for j := range t.props {
			if t.props[j].embed == p.was {
				t.props[j].embed = p.name
			}
		}
	case 1:
		p.note = m.name("note ")
	case 2:
		if t.key != p.name {
			p.nullable = r.IntN(4) > 0 || p.nullable
		}
	case 3:
		if p.enum != nil {
			p.enum = slices.Insert(p.enum, r.IntN(len(p.enum)+1), m.name("v"))
		}
	case 4:
		if p.enum != nil {
			r.Shuffle(len(p.enum), func(i, j int) { p.enum[i], p.enum[j] = p.enum[j], p.enum[i] })
		}
	case 5: // drop the property and its constraints
		name := p.name
		if t.key == name || slices.ContainsFunc(t.props, func(p modelProp) bool { return p.embed == name }) {
			return
		}
		t.props = slices.Delete(t.props, i, i+1)
		t.body = slices.DeleteFunc(t.body, func(c modelConstraint) bool { return slices.Contains(c.props, name) })
	case 6:
		j := r.IntN(len(t.props))
		t.props[i], t.props[j] = t.props[j], t.props[i]
	case 7:
		source := slices.IndexFunc(t.props, func(p modelProp) bool { return p.typ == "String" && p.enum == nil })
		switch {
		case p.embed != "":
			p.embed = ""
		case p.typ == "Vector(2)" && source >= 0:
			p.embed = t.props[source].name
		case r.IntN(3) == 0 && t.key != p.name && p.typ == "I32":
			p.typ = "I64"
		}
	}
}

func buildModel(t *testing.T, m *model) *catalog.Schema {
	t.Helper()
	tree, faults := syntax.ParseSchema("x.pg", m.String())
	s, more := resolve.Schema(tree)
	if faults != nil || more != nil {
		t.Fatalf("%v%v\n%s", faults, more, m)
	}
	return s
}

// TestDiffRandom checks the steps between two schemas. If all steps are supported, they must lead
// from one schema to the other. Diff of a schema and itself must return no steps.
func TestDiffRandom(t *testing.T) {
	slow.Test(t)
	supported, steps := 0, 0
	const rounds = 1500
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		old := randomModel(r)
		now := old.clone()
		for range 1 + r.IntN(8) {
			now.edit(r)
		}
		from, to := buildModel(t, old), buildModel(t, now)
		for _, s := range []*catalog.Schema{from, to} {
			if m := catalog.Diff(s, s); len(m.Steps) != 0 || m.String() != "no change\n" {
				t.Fatalf("seed %d: from a schema to itself:\n%s", seed, m)
			}
		}
		for _, way := range [][2]*catalog.Schema{{from, to}, {to, from}} {
			m := catalog.Diff(way[0], way[1])
			if again := catalog.Diff(way[0], way[1]); again.String() != m.String() {
				t.Fatalf("seed %d: two orders:\n%s\n%s", seed, m, again)
			}
			if (len(m.Steps) == 0) != (catalog.Digest(way[0]) == catalog.Digest(way[1])) {
				t.Errorf("seed %d: %d steps", seed, len(m.Steps))
			}
			steps += len(m.Steps)
			if m.Supported() {
				supported++
				checkApplied(t, way[0], way[1], m)
			}
			if t.Failed() {
				t.Fatalf("seed %d:\n%s\n%s", seed, old, now)
			}
		}
	}
	if supported < rounds/2 || steps < rounds*3 {
		t.Errorf("only %d of %d migrations are supported, with %d steps in all: too few for the test", supported, 2*rounds, steps)
	}
}
