package studio

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// longName is an id of 10 kB.
var longName = strings.Repeat("a very long name ", 600)

const shapesSchema = `node Item {
  name: String @key
  part: Bool
  weight: I32
}

node Odd {
  name: String @key
  text: String
}

edge Link: Item -> Item
edge Other: Item -> Item
edge Leads: Odd -> Odd { why: String }
`

const shapesPolicy = `version: 1
filters:
  a_part: { type: Item, where: "$it.part = true" }
rules:
  - id: everything
    allow: { actors: { ids: [act-all] }, actions: [read, change, invoke_query] }
  - id: a-part
    allow: { actors: { ids: [act-part] }, actions: [read], rows: a_part }
  - id: the-edges
    allow: { actors: { ids: [act-part] }, actions: [read], types: [Link, Other] }
`

// shape is a part of the graph shapes that has edges of the type Link from and to the nodes with these numbers.
type shape struct {
	name  string
	nodes int
	links [][2]int
}

// shapes are the parts of the graph on which the layout of Explore is looked at.
func shapes() []shape {
	hub := shape{name: "spoke", nodes: 40}
	chain := shape{name: "chain", nodes: 30}
	for i := range chain.nodes - 1 {
		chain.links = append(chain.links, [2]int{i, i + 1})
	}
	tree := shape{name: "tree", nodes: 63}
	for i := 1; i < tree.nodes; i++ {
		tree.links = append(tree.links, [2]int{(i - 1) / 2, i})
	}
	clique := shape{name: "clique", nodes: 14}
	for i := range clique.nodes {
		for j := range i {
			clique.links = append(clique.links, [2]int{i, j})
		}
	}
	return []shape{hub, chain, tree, clique}
}

// massNodes and massEdges are the numbers of the largest scene.
const massNodes, massEdges = 2000, 5000

// shapesSite serves the graph shapes. The actor act-all may do everything, act-part sees a part of the nodes, and
// act-none sees nothing.
func shapesSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	line := func(value any) {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(b, '\n'))
	}
	node := func(typ string, data map[string]any) { line(map[string]any{"type": typ, "data": data}) }
	edge := func(typ, from, to string, data map[string]any) {
		line(map[string]any{"edge": typ, "from": from, "to": to, "data": data})
	}
	item := func(name string, part bool, weight int) {
		node("Item", map[string]any{"name": name, "part": part, "weight": weight})
	}
	none := map[string]any{}
	item("hub", true, 1)
	for _, s := range shapes() {
		for i := range s.nodes {
			name := fmt.Sprintf("%s-%02d", s.name, i)
			item(name, i == 0, i)
			if s.name == "spoke" {
				edge("Link", "hub", name, none)
			}
		}
		for _, l := range s.links {
			edge("Link", fmt.Sprintf("%s-%02d", s.name, l[0]), fmt.Sprintf("%s-%02d", s.name, l[1]), none)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range massNodes {
		item(mass(i), false, random.IntN(100))
		if i > 0 {
			edge("Link", mass(i), mass(max(0, i-1-random.IntN(min(i, 40)))), none)
		}
	}
	for range massEdges - massNodes + 1 {
		i := random.IntN(massNodes)
		edge("Other", mass(i), mass((i+1+random.IntN(60))%massNodes), none)
	}
	odd := []string{harm, script, `"quoted" 'names' \ { } \u202e`, "עברית מימין לשמאל", longName}
	for i, name := range odd {
		node("Odd", map[string]any{"name": name, "text": harm + longName})
		edge("Leads", name, odd[(i+1)%len(odd)], map[string]any{"why": harm})
	}
	write(t, filepath.Join(dir, "shapes.pg"), shapesSchema)
	write(t, filepath.Join(dir, "shapes.ndjson"), lines.String())
	var tokens strings.Builder
	for _, actor := range []string{"act-all", "act-part", "act-none"} {
		fmt.Fprintf(&tokens, "%x: %s\n", sha256.Sum256([]byte("the-token-of-"+actor)), actor)
	}
	write(t, filepath.Join(dir, "tokens.yaml"), tokens.String())
	write(t, filepath.Join(dir, "policy.yaml"), shapesPolicy)
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nstorage: ./data\ngraphs:\n  shapes: { schema: shapes.pg }\npolicies:\n  p: { file: policy.yaml, applies_to: [shapes] }\nserver: { studio: true }\n")
	fill(t, dir, "shapes", filepath.Join(dir, "shapes.ndjson"))
	s := serve(t, command(t, "omnigraph-server"), dir, "shapes")
	for _, actor := range []string{"act-all", "act-part", "act-none"} {
		s.token[actor] = "the-token-of-" + actor
	}
	return s
}

// mass returns the id of a node of the largest scene.
func mass(i int) string { return fmt.Sprintf("mass-%04d", i) }
