package evaluation

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// sampleSize is the number of nodes of each type in the sample.
const sampleSize = 20

// SampleKey returns the key of node n, from 0, of each type of the sample whose key is one String.
// Keys are equal across types, so that an example call with such a key finds a node, whatever the type.
func SampleKey(n int) string { return fmt.Sprintf("sample-%d", n+1) }

// Sample is made-up nodes or edges of one type.
type Sample struct {
	Type string
	Data string // NDJSON; "" if the keys of the nodes at the ends of an edge are not Strings
}

// Samples returns made-up nodes and then edges of each type. A graph may refuse some of them, because
// they are against a rule of the schema.
func Samples(s *catalog.Schema) []Sample {
	var all []Sample
	for _, n := range s.Nodes {
		all = append(all, Sample{n.Name, nodeLines(n)})
	}
	for _, e := range s.Edges {
		all = append(all, Sample{e.Name, edgeLines(s, e)})
	}
	return all
}

// nodeLines returns the nodes of a type.
func nodeLines(n *catalog.Node) string {
	var b strings.Builder
	for i := range sampleSize {
		data := properties(n.Properties, n.Valid, i, n.IsKey, func(name string) value.Bounds {
			for _, r := range n.Ranges {
				if r.Property == name {
					return r.Bounds()
				}
			}
			return value.Bounds{}
		})
		b.WriteString(line(map[string]any{"type": n.Name, "data": data}))
	}
	return b.String()
}

// edgeLines returns the edges of a type: from each node to the next one, and to the one after it if the
// type permits two edges. It returns "" if the keys of the nodes at the ends are not Strings.
func edgeLines(s *catalog.Schema, e *catalog.Edge) string {
	if KeyOf(s.Node(e.From)) == "" || KeyOf(s.Node(e.To)) == "" {
		return ""
	}
	steps := 2
	if e.Card != nil && e.Card.Max == 1 || len(e.Unique) > 0 {
		steps = 1
	}
	var b strings.Builder
	for i := range sampleSize {
		for step := range steps {
			l := map[string]any{"edge": e.Name, "from": SampleKey(i), "to": SampleKey((i + step + 1) % sampleSize)}
			if data := properties(e.Properties, e.Valid, i, func(string) bool { return false }, func(string) value.Bounds { return value.Bounds{} }); len(data) > 0 {
				l["data"] = data
			}
			b.WriteString(line(l))
		}
	}
	return b.String()
}

// KeyOf returns the name of the key of a type if the key is one String without fixed values, else "".
func KeyOf(n *catalog.Node) string {
	if n == nil || len(n.Key) != 1 {
		return ""
	}
	if p := n.Property(n.Key[0]); p.Type.Kind == value.String && p.Type.Enum == nil && !p.Type.List {
		return p.Name
	}
	return ""
}

// properties returns the values of the properties of node or edge number i, which is still valid.
func properties(props []*catalog.Property, valid *catalog.Validity, i int, isKey func(string) bool, bounds func(string) value.Bounds) map[string]any {
	data := map[string]any{}
	for _, p := range props {
		if p.Embed != nil || p.Type.Kind == value.Vector || valid != nil && p.Name == valid.Until {
			continue // a provider computes it, or it may be null
		}
		v := made(p, i, isKey(p.Name), bounds(p.Name))
		if p.Type.List {
			v = []any{v}
		}
		data[p.Name] = v
	}
	return data
}

// made returns the value of a property of node or edge number i.
func made(p *catalog.Property, i int, key bool, bounds value.Bounds) any {
	k := p.Type.Kind
	switch {
	case p.Type.Enum != nil:
		return p.Type.Enum[i%len(p.Type.Enum)]
	case k == value.String && key:
		return SampleKey(i)
	case k == value.String:
		return fmt.Sprintf("The %s of sample %d.", p.Name, i+1)
	case k == value.Bool:
		return i%2 == 0
	case k.IsInteger():
		n := int64(i + 1)
		if bounds.Min != nil && k.Storage().IsSigned() {
			n = max(n, bounds.Min.Int())
		}
		if bounds.Max != nil && k.Storage().IsSigned() {
			n = min(n, bounds.Max.Int())
		}
		return n
	}
	return json.RawMessage(p.Type.Example())
}

// line returns a value as one line of NDJSON.
func line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings, numbers and examples of kinds always encode
	}
	return string(b) + "\n"
}
