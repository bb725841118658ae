package enginetest

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// renameCases returns the cases of several renames in one schema change.
func renameCases() []testCase {
	// rename gives properties of Person other names, all at once.
	rename := func(to map[string]string) func(c *catalog.Schema) {
		return person(func(n *catalog.Node) {
			for _, p := range n.Properties {
				if now, ok := to[p.Name]; ok {
					p.Name, p.RenameFrom = now, p.Name
				}
			}
		})
	}
	const nulls = "ann 1, bob 4294967295, cid null, dan null, eve null" // the values of small
	cases := map[string]func(s *session){
		"two properties swap": func(s *session) {
			s.apply("", rename(map[string]string{"age": "small", "small": "age"}))
			s.expectNamed("", "small", crowdAges)
			s.expectNamed("", "age", nulls)
			s.mutate(s.change().update("Person", set{"small": 26}, "name", plan.Eq, "bob"))
			s.expectNamed("", "small", "ann 30, bob 26, cid 30, dan null, eve 41")
			s.expectNamed("", "age", nulls)
			head := s.head()
			if s.put("", s.schema); s.head().ID != head.ID {
				s.Errorf("the same schema again is a commit")
			}
		},
		"two properties of different types swap": func(s *session) {
			s.apply("", rename(map[string]string{"age": "about", "about": "age"}))
			s.expectNamed("", "about", crowdAges)
		},
		"three properties rotate": func(s *session) {
			s.apply("", rename(map[string]string{"age": "small", "small": "big", "big": "age"}))
			s.expectNamed("", "small", crowdAges)
			s.expectNamed("", "big", nulls)
			s.expectNamed("", "age", "ann 9007199254740993, bob -5, cid null, dan null, eve null")
		},
		"a chain of properties": func(s *session) {
			s.apply("", rename(map[string]string{"age": "small", "small": "tiny"}))
			s.expectNamed("", "small", crowdAges)
			s.expectNamed("", "tiny", nulls)
		},
		"the key swaps": func(s *session) {
			s.apply("", rename(map[string]string{"name": "about", "about": "name"}), person(func(n *catalog.Node) { n.Key = []string{"about"} }))
			s.mutate(s.change().update("Person", set{"age": 26}, "about", plan.Eq, "bob"))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(p.prop(a, "about"), plan.Eq, "bob")).ret(id(a), p.prop(a, "age"), p.prop(a, "name")), "bob | 26 | Runs the graphs of an engine room")
		},
		"two node types swap": func(s *session) {
			s.apply("", func(c *catalog.Schema) {
				for _, n := range c.Nodes {
					n.Name, n.RenameFrom = map[string]string{"Person": "City", "City": "Person"}[n.Name], n.Name
				}
				for _, e := range c.Edges {
					e.From, e.To = map[string]string{"Person": "City", "City": "Person"}[e.From], map[string]string{"Person": "City", "City": "Person"}[e.To]
				}
			})
			p := s.read()
			a, b := p.node("a", "City"), p.node("b", "Person")
			s.expect(p.match(hop(a, "LivesIn", b)).ret(p.prop(a, "age"), p.prop(b, "name")), "30 | Oslo\n25 | Oslo\n30 | Rome")
		},
		"two edge types swap": func(s *session) {
			s.apply("", func(c *catalog.Schema) {
				knows, follows := c.Edge("Knows"), c.Edge("Follows")
				knows.Name, knows.RenameFrom, follows.Name, follows.RenameFrom = "Follows", "Knows", "Knows", "Follows"
			})
			s.expectEdges("Follows", "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
		},
		"a branch merges over a swap": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().update("Person", set{"age": 26}, "name", plan.Eq, "bob"))
			s.apply("", rename(map[string]string{"age": "small", "small": "age"}))
			s.merged("side", "main", engine.Merged)
			s.expectNamed("", "small", "ann 30, bob 26, cid 30, dan null, eve 41")
			s.expectNamed("", "age", nulls)
		},
	}
	for name, change := range map[string]func(n *catalog.Node){
		"onto a name that goes away": func(n *catalog.Node) {
			n.Properties = slices.DeleteFunc(n.Properties, func(p *catalog.Property) bool { return p.Name == "small" })
			n.Property("age").RenameFrom, n.Property("age").Name = "age", "small"
		},
		"from a name that stays": func(n *catalog.Node) { n.Property("small").RenameFrom = "age" },
		"of an unknown name":     func(n *catalog.Node) { n.Property("small").RenameFrom, n.Property("small").Name = "smal", "tiny" },
		"of one name to two others": func(n *catalog.Node) {
			n.Property("age").RenameFrom, n.Property("age").Name = "age", "years"
			n.Properties = append(n.Properties, &catalog.Property{Name: "winters", Type: i32Type.Optional(), RenameFrom: "age"})
		},
	} {
		cases["refused: a rename "+name] = func(s *session) {
			before := s.head()
			err := s.refused(person(change))
			var unsupported *engine.UnsupportedMigration
			if !errors.As(err, &unsupported) || unsupported.Steps[0].Code != catalog.AmbiguousRename || unsupported.Steps[0].Reason == "" {
				s.Errorf("error %v (%T), want an ambiguous rename", err, err)
			}
			if s.head().ID != before.ID {
				s.Errorf("a refused schema is a commit")
			}
		}
	}
	return writeCases("rename", cases)
}
