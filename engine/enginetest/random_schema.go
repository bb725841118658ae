package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// drawer draws schemas, data and statements.
type drawer struct {
	*rand.Rand
	schema *catalog.Schema // the current schema
	// wild holds the numeric properties, as Type.name, that may have extreme values.
	wild map[string]bool
	// wordy holds the String properties, as Type.name, that have sentences as values.
	wordy map[string]bool
	// ids holds the ids of the existing entities by type name. The name of an edge type has a colon
	// before it.
	ids map[string][]string
	// edgeEnds holds the ends, as JSON, that each edge had in the last line with its id. The key is the type and the id.
	edgeEnds map[string][2]string
	// loading is the mode of the load whose lines are drawn. It is Append elsewhere.
	loading engine.LoadMode
	// branching says whether the graph has branches, merges and conditional writes.
	branching bool
	names     []string // names for branches
	// evolving says whether the graph has changes of schema. schemas holds all earlier schemas, and
	// named is the number of names that were invented for the changes.
	evolving bool
	schemas  []*catalog.Schema // see evolving
	named    int               // see evolving
	// drafting says whether the graph has drafts and proposals. opened and proposed are the numbers of
	// drafts and proposals that the script has opened so far.
	drafting         bool
	opened, proposed int // see drafting
	// params draws the annotations of parameters, and the interfaces. It has its own random numbers, so that other
	// annotations do not change the statements that a seed draws.
	params *drawer
	// repeats draws the reads that run again. It has its own random numbers, too.
	repeats *drawer
	feed    []string // the lines of the first load, from which loads in the mode sync are drawn
	// rare decides whether a statement gets a part that would be rare otherwise. It has its own random numbers, too.
	rare *drawer
	// decimals decides whether a function, an aggregate or a range gets a Decimal. It has its own random numbers, too.
	decimals *drawer
	// restricts draws rights. It has its own random numbers, too.
	restricts *drawer
	joins     *drawer // draws rights for merges, with random numbers and rights of its own
	clocks    *drawer // draws instants, with random numbers of its own
	validity  *drawer // draws valid times, with random numbers of its own
	origins   *drawer // draws who makes commits, and reads of origins, with random numbers of its own
	sequels   *drawer // draws the statements of drawSequel, with random numbers of its own
	// digits draws the digits of Decimals in schema changes. It has its own random numbers, too.
	digits *drawer
	// reshapes draws vectors of other lengths. It has its own random numbers, too.
	reshapes *drawer
	granted  []*engine.Rights // of restricts: the rights that it has drawn
}

// newDrawer returns a drawer with a schema; equal seeds draw the same.
func newDrawer(seed uint64) *drawer {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, seed)), wild: map[string]bool{}, wordy: map[string]bool{}, edgeEnds: map[string][2]string{}, loading: engine.Append, branching: seed%5 < 2,
		params:  &drawer{Rand: rand.New(rand.NewPCG(seed, ^seed)), wild: map[string]bool{}, wordy: map[string]bool{}},
		repeats: &drawer{Rand: rand.New(rand.NewPCG(^seed, seed))}, rare: &drawer{Rand: rand.New(rand.NewPCG(^seed, ^seed))},
		restricts: &drawer{Rand: rand.New(rand.NewPCG(seed, 1))}, joins: &drawer{Rand: rand.New(rand.NewPCG(seed, 2))},
		decimals: &drawer{Rand: rand.New(rand.NewPCG(seed, 3))}, reshapes: &drawer{Rand: rand.New(rand.NewPCG(seed, 4))}, clocks: &drawer{Rand: rand.New(rand.NewPCG(seed, 5))},
		digits: &drawer{Rand: rand.New(rand.NewPCG(seed, 6))}, validity: &drawer{Rand: rand.New(rand.NewPCG(seed, 7))},
		origins: &drawer{Rand: rand.New(rand.NewPCG(seed, 8))}, sequels: &drawer{Rand: rand.New(rand.NewPCG(seed, 9))}}
	d.schema = d.drawSchema()
	d.drawInterfaces(d.schema)
	d.drawEnds(d.schema, d.schema.Edges)
	d.drawFillings(d.schema, nil)
	d.drawValidities(d.schema)
	d.names = branchNames[:d.between(1, len(branchNames))]
	d.evolving = seed%5 == 1 || seed%5 == 2
	d.drafting = d.branching && seed%2 == 0
	return d
}

// percent returns true with a probability of p percent.
func (d *drawer) percent(p int) bool { return d.IntN(100) < p }

// between returns a number from low to high, both included.
func (d *drawer) between(low, high int) int { return low + d.IntN(high-low+1) }

// pick draws an element.
func pick[T any](d *drawer, from []T) T { return from[d.IntN(len(from))] }

// drawSchema draws the first schema of a graph.
func (d *drawer) drawSchema() *catalog.Schema {
	var nodes []*catalog.Node
	for _, name := range []string{"Apple", "Berry", "Cherry"}[:d.between(1, 3)] {
		nodes = append(nodes, d.drawNode(name))
	}
	var edges []*catalog.Edge
	for _, name := range []string{"Likes", "Meets", "Needs"}[:d.between(1, 3)] {
		edges = append(edges, d.drawEdge(name, nodes))
	}
	return schemaOf(nodes, edges)
}

// drawNode draws a node type.
func (d *drawer) drawNode(name string) *catalog.Node {
	n := &catalog.Node{Name: name}
	if d.percent(65) {
		for _, key := range []string{"k", "h"}[:1+boolInt(d.percent(30))] {
			t := pick(d, keyTypes)
			if d.percent(10) {
				t = enumOf("p", "q", "r-1", "s_2")
			}
			n.Properties = append(n.Properties, property(key, t))
			n.Key = append(n.Key, key)
		}
		slices.Sort(n.Key)
	}
	for i := range d.between(1, 5) {
		n.Properties = append(n.Properties, d.drawProperty(name, i))
	}
	d.Shuffle(len(n.Properties), func(i, j int) {
		n.Properties[i], n.Properties[j] = n.Properties[j], n.Properties[i]
	})
	n.Unique = d.drawUnique(n.Properties)
	n.Index = someIndex(n.Properties)
	for _, p := range n.Properties {
		switch {
		case p.Type.List:
		case p.Type.Kind.IsNumeric() && d.percent(30):
			low, high := literal(0, p.Type), literal(3, p.Type)
			r := catalog.Range{Property: p.Name, Min: &low, Max: &high}
			if d.percent(25) {
				r.Max = nil
			}
			n.Ranges = append(n.Ranges, r)
		case p.Type.Kind == value.Decimal && d.decimals.percent(20):
			low := literal(-1, p.Type)
			n.Ranges = append(n.Ranges, catalog.Range{Property: p.Name, Min: &low})
		case p.Type.Kind == value.String && p.Type.Enum == nil && d.percent(25):
			n.Checks = append(n.Checks, catalog.Check{Property: p.Name, Pattern: pick(d, []string{"a", "[a-d]", "^[a-z]"})})
		}
	}
	return n
}

// drawProperty draws property i of the named type.
func (d *drawer) drawProperty(typ string, i int) *catalog.Property {
	name := fmt.Sprintf("p%d", i)
	t := pick(d, scalarTypes)
	switch draw := d.IntN(100); {
	case draw < 12:
		t = enumOf("p", "q", "r-1", "s_2")
	case draw < 26:
		t = listOf(t)
	case draw < 34:
		t = vectorOf(2)
	case draw < 37:
		t = blobType
	}
	if d.percent(65) {
		t = t.Optional()
	}
	wild := 40
	if t.Kind.JSON() == value.JSONWide {
		wild = 70 // only these get values that a float64 cannot represent
	}
	d.wild[typ+"."+name] = t.Kind.IsNumeric() && d.percent(wild)
	d.wordy[typ+"."+name] = t.Kind == value.String && !t.List && t.Enum == nil && d.percent(60)
	return property(name, t)
}

// drawEdge draws an edge type between two of the node types.
func (d *drawer) drawEdge(name string, nodes []*catalog.Node) *catalog.Edge {
	e := &catalog.Edge{Name: name, From: pick(d, nodes).Name, To: pick(d, nodes).Name}
	if d.percent(40) {
		e.To = e.From
	}
	for i := range d.IntN(3) {
		e.Properties = append(e.Properties, d.drawProperty(name, i))
	}
	e.Unique = d.drawUnique(e.Properties)
	if d.percent(10) || d.rare.percent(20) {
		e.Unique = append(e.Unique, []string{"src", "dst"})
	}
	for _, p := range e.Properties {
		if comparable(p.Type) && d.rare.percent(10) {
			e.Unique = slices.Insert(e.Unique, d.rare.IntN(len(e.Unique)+1), []string{"dst", p.Name, "src"})
			break
		}
	}
	if d.percent(d.ruleChance()) {
		e.Card = &catalog.Cardinality{Min: d.between(0, 1), Max: pick(d, []int{-1, 1, 2, 4})}
	}
	return e
}

// drawUnique draws unique rules for properties with comparable values.
func (d *drawer) drawUnique(props []*catalog.Property) [][]string {
	var names []string
	for _, p := range props {
		if comparable(p.Type) && p.Type.Kind != value.Bool {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 || !d.percent(d.ruleChance()) {
		return nil
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return [][]string{names[:min(len(names), d.between(1, 2))]}
}

// someIndex selects about a third of the properties with comparable values. It uses no random
// numbers: indexes must not change any outcome, and the rest of the script must not depend on the
// indexes.
func someIndex(props []*catalog.Property) (index [][]string) {
	for i, p := range props {
		if comparable(p.Type) && (i+len(props))%3 == 0 {
			index = append(index, []string{p.Name})
		}
	}
	return index
}

// ruleChance is the percentage of types that have a rule about several entities. It is higher for
// graphs with branches, because a merge can break a rule that both sides satisfy.
func (d *drawer) ruleChance() int {
	if d.branching {
		return 75
	}
	return 25
}

// comparable reports whether values of a type can be compared.
func comparable(t value.Type) bool {
	return !t.List && t.Kind.IsComparable()
}

// key returns the key of a type in the drawer's tables.
func key(kind plan.Entity, typ string) string { return strings.Repeat(":", int(kind)) + typ }

// boolInt returns 1 for true and 0 for false.
func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
