package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evolved returns a copy of the session's schema with changes.
func (s *session) evolved(changes ...func(c *catalog.Schema)) *catalog.Schema {
	s.Helper()
	c, err := catalog.Decode(catalog.Encode(s.schema))
	must(err)
	for _, change := range changes {
		change(c)
		c.Index()
	}
	c, err = catalog.Decode(catalog.Encode(c))
	must(err)
	return c
}

// apply applies the session's schema with changes to a branch, and makes it the session's schema.
// It fails the case on an error.
func (s *session) apply(branch string, changes ...func(c *catalog.Schema)) *engine.SchemaChange {
	s.Helper()
	to := s.evolved(changes...)
	out, err := s.graph.ApplySchema(s.ctx, sourceText, to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: branch}, AllowDataLoss: true})
	if err != nil {
		s.Fatalf("apply the schema: %v", err)
	}
	if out.Commit == nil || out.Commit.Schema != catalog.Digest(to) || out.To != out.Commit.Schema || out.Head.ID != out.Commit.ID || !out.Supported {
		s.Errorf("change %+v, want a commit with schema %s", out, catalog.Digest(to))
	}
	s.schema = to
	return out
}

// refused applies the session's schema with changes to main. It checks that this fails and makes no
// commit, and returns the error.
func (s *session) refused(changes ...func(c *catalog.Schema)) error {
	s.Helper()
	head := s.head()
	_, err := s.graph.ApplySchema(s.ctx, sourceText, s.evolved(changes...), engine.SchemaOptions{AllowDataLoss: true})
	if err == nil {
		s.Errorf("the schema is applied, want an error")
	}
	if now := s.head(); now.ID != head.ID {
		s.Errorf("a schema that is refused made commit %+v", now)
	}
	return err
}

// expectViolations compares the violations in an error with the lines of `want`. A line gives the
// kind of the entity, its type, the rule and, except for the rule cardinality, the id.
func (s *session) expectViolations(err error, want string) {
	s.Helper()
	var lines []string
	for _, e := range flatten(err) {
		var v *engine.ConstraintViolation
		if errors.As(e, &v) {
			line := strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Entity, v.Type, v.Rule))
			if v.Rule != "cardinality" {
				line += " " + v.ID
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	if got, want := strings.Join(slices.Compact(lines), "\n"), unindent(want); got != want {
		s.Errorf("violations\n%s\nof %v\nwant\n%s", got, err, want)
	}
}

// person returns a schema change that alters the type Person.
func person(change func(n *catalog.Node)) func(c *catalog.Schema) {
	return func(c *catalog.Schema) { change(c.Node("Person")) }
}

// edgeType returns a change of an edge type.
func edgeType(name string, change func(e *catalog.Edge)) func(c *catalog.Schema) {
	return func(c *catalog.Schema) { change(c.Edge(name)) }
}

// addProperty returns a change of a schema: it adds a property to Person.
func addProperty(name string, t value.Type) func(c *catalog.Schema) {
	return person(func(n *catalog.Node) { n.Properties = append(n.Properties, property(name, t)) })
}

// dropProperty returns a change of a schema: it removes a property of Person.
func dropProperty(name string) func(c *catalog.Schema) {
	return person(func(n *catalog.Node) {
		n.Properties = slices.DeleteFunc(n.Properties, func(p *catalog.Property) bool { return p.Name == name })
	})
}

// renameProperty returns a change of a schema: it renames a property of Person.
func renameProperty(was, now string) func(c *catalog.Schema) {
	return person(func(n *catalog.Node) {
		p := n.Property(was)
		p.Name, p.RenameFrom = now, was
		for i := range n.Key {
			if n.Key[i] == was {
				n.Key[i] = now
			}
		}
	})
}

// renameNode renames a node type, and changes the edge types that refer to it.
func renameNode(c *catalog.Schema, was, now string) {
	n := c.Node(was)
	n.Name, n.RenameFrom = now, was
	for _, e := range c.Edges {
		if e.From == was {
			e.From = now
		}
		if e.To == was {
			e.To = now
		}
	}
}

// retype changes the type of a property of Person.
func retype(name string, t value.Type) func(c *catalog.Schema) {
	return person(func(n *catalog.Node) { n.Property(name).Type = t })
}

// dropNode returns a change of a schema: it removes a node type and the edge types at it.
func dropNode(name string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) {
		c.Nodes = slices.DeleteFunc(c.Nodes, func(n *catalog.Node) bool { return n.Name == name })
		c.Edges = slices.DeleteFunc(c.Edges, func(e *catalog.Edge) bool { return e.From == name || e.To == name })
	}
}

// named lists, for all persons at a target, the id and the value of a property.
func (s *session) named(at engine.Target, name string) string {
	s.Helper()
	p := s.read()
	a := p.bind("a", "Person")
	rows, err := queryAt(s.ctx, s.graph, p.ret(id(a), p.prop(a, name)).query(), nil, at)
	if err != nil {
		s.Fatalf("query: %v", err)
	}
	return strings.ReplaceAll(strings.Join(formatRows(rows), ", "), " | ", " ")
}

// expectNamed compares the values of a property of all persons with `want`, which has the form "id
// value, id value".
func (s *session) expectNamed(branch, name, want string) {
	s.Helper()
	if got := s.named(engine.Target{Branch: branch}, name); got != want {
		s.Errorf("%s on branch %q: %s, want %s", name, branch, got, want)
	}
}

// schemaCases returns the cases of schema changes.
func schemaCases() []testCase {
	cases := map[string]func(s *session){
		"a schema that changes nothing commits nothing": func(s *session) {
			head := s.head()
			out, err := s.graph.ApplySchema(s.ctx, sourceText, s.evolved(), engine.SchemaOptions{})
			if err != nil || out.Commit != nil || out.Head.ID != head.ID || len(out.Steps) > 0 || out.From != out.To {
				s.Errorf("%+v, %v; want no commit", out, err)
			}
		},
		"only another source text is a commit": func(s *session) {
			out, err := s.graph.ApplySchema(s.ctx, "// a comment\n", s.evolved(), engine.SchemaOptions{})
			if err != nil || out.Commit == nil || len(out.Steps) > 0 {
				s.Fatalf("%+v, %v; want a commit without steps", out, err)
			}
			schema, err := s.graph.Schema(s.ctx, engine.Target{})
			if err != nil || schema.Source != "// a comment\n" || schema.Digest != catalog.Digest(s.schema) {
				s.Errorf("schema %+v, %v", schema, err)
			}
			s.expectAges("", crowdAges)
		},
		"an added property is null": func(s *session) {
			s.apply("", addProperty("mail", stringType.Optional()), addProperty("marks", listOf(i32Type).Optional()))
			s.expectNamed("", "mail", "ann null, bob null, cid null, dan null, eve null")
			s.mutate(s.change().update("Person", set{"mail": "x", "marks": []any{1, 2}}, "name", plan.Eq, "bob"))
			s.expectNamed("", "mail", "ann null, bob x, cid null, dan null, eve null")
			s.expectNamed("", "marks", "ann null, bob [1, 2], cid null, dan null, eve null")
			s.expectAges("", crowdAges)
		},
		"an older query still runs": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			old := p.ret(id(a), p.prop(a, "age")).query()
			want := s.rows(old)
			s.apply("", addProperty("mail", stringType.Optional()), func(c *catalog.Schema) { slices.Reverse(c.Nodes) },
				person(func(n *catalog.Node) { slices.Reverse(n.Properties) }))
			if got := s.rows(old); !slices.Equal(got, want) {
				s.Errorf("rows %v, want %v", got, want)
			}
			if err := s.graph.Bind(s.ctx, old, engine.Target{}); err != nil {
				s.Errorf("bind: %v", err)
			}
		},
		"a query that does not fit is a mismatch": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			old := p.ret(id(a), p.prop(a, "age")).query()
			head := s.head()
			s.apply("", dropProperty("age"))
			_, err := query(s.ctx, s.graph, old, nil)
			expectError[*engine.SchemaMismatch](s, err)
			expectError[*engine.SchemaMismatch](s, s.graph.Bind(s.ctx, old, engine.Target{}))
			if err == nil || !strings.Contains(err.Error(), "age") || !strings.Contains(err.Error(), "Person") {
				s.Errorf("the error does not name the property: %v", err)
			}
			if head.ID == s.head().ID {
				s.Errorf("no commit was made")
			}
		},
		"a call for a schema is a mismatch in another one": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			q, add := p.ret(id(a)).query(), s.change().update("Person", set{"age": 1}, "name", plan.Eq, "dan").query()
			was, err := s.graph.Schema(s.ctx, engine.Target{})
			if err != nil {
				s.Fatalf("schema: %v", err)
			}
			try := func(digest string) error {
				at := engine.Target{Schema: digest}
				_, read := queryAt(s.ctx, s.graph, q, nil, at)
				_, write := s.graph.Mutate(s.ctx, add, nil, engine.WriteOptions{Schema: digest})
				return errors.Join(s.graph.Bind(s.ctx, q, at), read, write)
			}
			if err := try(was.Digest); err != nil {
				s.Errorf("with the digest of the schema: %v", err)
			}
			out := s.apply("", addProperty("mail", stringType.Optional()))
			expectError[*engine.SchemaMismatch](s, s.graph.Bind(s.ctx, q, engine.Target{Schema: was.Digest}))
			_, err = queryAt(s.ctx, s.graph, q, nil, engine.Target{Schema: was.Digest})
			expectError[*engine.SchemaMismatch](s, err)
			_, err = s.graph.Mutate(s.ctx, add, nil, engine.WriteOptions{Schema: was.Digest})
			expectError[*engine.SchemaMismatch](s, err)
			if misfit := (*engine.SchemaMismatch)(nil); errors.As(err, &misfit) && misfit.Schema != out.To {
				s.Errorf("the error has the schema %q, want %q", misfit.Schema, out.To)
			}
			if err := try(out.To); err != nil {
				s.Errorf("with the digest of the next schema: %v", err)
			}
		},
		"a dropped property comes back empty": func(s *session) {
			out := s.apply("", dropProperty("age"))
			if !out.Destructive {
				s.Errorf("the drop is not reported as destructive: %+v", out)
			}
			s.apply("", addProperty("age", i32Type.Optional()))
			s.expectAges("", "ann null, bob null, cid null, dan null, eve null")
		},
		"a renamed property keeps its values": func(s *session) {
			s.apply("", renameProperty("age", "years"))
			s.expectNamed("", "years", crowdAges)
			s.apply("", addProperty("age", i32Type.Optional()), renameProperty("years", "winters"))
			s.mutate(s.change().update("Person", set{"age": 1, "winters": 2}, "name", plan.Eq, "dan"))
			s.expectNamed("", "winters", "ann 30, bob 25, cid 30, dan 2, eve 41")
			s.expectNamed("", "age", "ann null, bob null, cid null, dan 1, eve null")
		},
		"a renamed key keeps the ids": func(s *session) {
			s.apply("", renameProperty("name", "handle"))
			s.expectNamed("", "handle", "ann ann, bob bob, cid cid, dan dan, eve eve")
			s.mutate(s.change().update("Person", set{"age": 31}, "handle", plan.Eq, "ann"))
			s.expectAges("", "ann 31, bob 25, cid 30, dan null, eve 41")
		},
		"renamed types keep their entities": func(s *session) {
			s.apply("", func(c *catalog.Schema) {
				renameNode(c, "Person", "Human")
				c.Edges[0].Name, c.Edges[0].RenameFrom = "Likes", "knows"
			})
			p := s.read()
			a, b, e := p.node("a", "Human"), p.node("b", "Human"), p.edge("e", "Likes")
			s.expect(p.match(over(a, e, "Likes", b)).ret(id(e), id(a), id(b), p.prop(e, "since")).orderBy(id(e)), `
				k1 | ann | bob | 2010
				k2 | ann | bob | 2015
				k3 | bob | cid | 2010
				k4 | cid | ann | null`)
		},
		"the id of a type survives renames, and belongs to no other type": func(s *session) {
			// idOf writes an edge of a type between persons, and returns the id of the type.
			idOf := func(edge string) string {
				s.Helper()
				s.load(engine.Merge, `{"edge":"`+edge+`","from":"ann","to":"eve","data":{"id":"`+s.head().ID+`"}}`)
				c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{})
				if err != nil || len(c.List) != 1 || c.List[0].TypeID == "" {
					s.Fatalf("changes %+v, %v", c, err)
				}
				return c.List[0].TypeID
			}
			knows, follows := idOf("Knows"), idOf("Follows")
			if knows == follows {
				s.Errorf("two types have the id %s", knows)
			}
			original := s.schema
			for i, names := range [][2]string{{"Knows", "Likes"}, {"Likes", "Loves"}} {
				s.apply("", func(c *catalog.Schema) {
					renameNode(c, []string{"Person", "Human"}[i], []string{"Human", "Being"}[i])
					slices.Reverse(c.Edges)
					c.Edge(names[0]).RenameFrom = names[0]
					c.Edge(names[0]).Name = names[1]
				})
				if id := idOf(names[1]); id != knows {
					s.Errorf("%s has the id %s, but as %s it had %s", names[1], id, names[0], knows)
				}
			}
			if id := idOf("Follows"); id != follows {
				s.Errorf("a type that was not renamed has the id %s, but it had %s", id, follows)
			}
			s.apply("", func(c *catalog.Schema) {
				c.Edges = slices.DeleteFunc(c.Edges, func(e *catalog.Edge) bool { return e.Name == "Loves" })
			})
			s.apply("", func(c *catalog.Schema) {
				added := *original.Edge("Knows")
				added.From, added.To = "Being", "Being"
				c.Edges = append(c.Edges, &added)
			})
			if id := idOf("Knows"); id == knows || id == follows {
				s.Errorf("a type with the name of a dropped one has the id %s of another type", id)
			}
		},
		"a schema that returns does not bring back the ids of dropped types": func(s *session) {
			idOf := func() string {
				s.Helper()
				s.load(engine.Merge, `{"edge":"Knows","from":"ann","to":"eve","data":{"id":"`+s.head().ID+`"}}`)
				c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{})
				if err != nil || len(c.List) != 1 {
					s.Fatalf("changes %+v, %v", c, err)
				}
				return c.List[0].TypeID
			}
			knows, original := idOf(), s.schema
			s.apply("", func(c *catalog.Schema) {
				c.Edges = slices.DeleteFunc(c.Edges, func(e *catalog.Edge) bool { return e.Name == "Knows" })
			})
			s.apply("", func(c *catalog.Schema) { c.Edges = original.Edges })
			if id := idOf(); id == knows {
				s.Errorf("the type has the id %s of the type that was dropped", id)
			}
		},
		"wider types": func(s *session) {
			s.apply("", retype("age", i64Type.Optional()), retype("small", f64Type.Optional()), retype("ratio", f64Type.Optional()), retype("lucky", listOf(i64Type).Optional()))
			s.expectAges("", crowdAges)
			s.expectNamed("", "small", "ann 1, bob 4294967295, cid null, dan null, eve null")
			s.expectNamed("", "ratio", "ann 0.5, bob 0.25, cid null, dan null, eve null")
			s.expectNamed("", "lucky", "ann [3, 7], bob [7], cid null, dan null, eve null")
			s.mutate(s.change().update("Person", set{"age": 1 << 40}, "age", plan.Eq, 25))
			s.expectAges("", "ann 30, bob 1099511627776, cid 30, dan null, eve 41")
		},
		"dropped types are gone and others stay": func(s *session) {
			s.apply("", dropNode("City"))
			snap, err := s.graph.Snapshot(s.ctx, engine.Target{})
			if err != nil || fmt.Sprint(snap.Nodes, snap.Edges) != "[{Person 5}] [{Knows 4} {Follows 6}]" {
				s.Errorf("snapshot %+v, %v", snap, err)
			}
			s.expectAges("", crowdAges)
		},
		"data loss must be allowed": func(s *session) {
			to := s.evolved(dropProperty("age"))
			_, err := s.graph.ApplySchema(s.ctx, sourceText, to, engine.SchemaOptions{})
			var loss *engine.DataLoss
			if !errors.As(err, &loss) || len(loss.Steps) != 1 || loss.Steps[0].Code != catalog.DropProperty || engine.IsRetryable(err) {
				s.Errorf("error %v (%T), want a *engine.DataLoss with the step", err, err)
			}
			s.expectAges("", crowdAges)
		},
		"hard drops": func(s *session) {
			to := s.evolved(dropProperty("age"))
			out, err := s.graph.ApplySchema(s.ctx, sourceText, to, engine.SchemaOptions{AllowDataLoss: true, Hard: true})
			if err != nil || len(out.Steps) != 1 || out.Steps[0].Drop != catalog.HardDrop {
				s.Fatalf("%+v, %v; want one step, a hard drop", out, err)
			}
			s.schema = to
			s.expectNamed("", "mood", "ann glad, bob sad, cid null, dan null, eve calm")
		},
		"unsupported steps are listed": func(s *session) {
			err := s.refused(retype("age", listOf(i32Type).Optional()), addProperty("must", i32Type), edgeType("LivesIn", func(e *catalog.Edge) { e.To = "Person" }))
			var unsupported *engine.UnsupportedMigration
			if !errors.As(err, &unsupported) {
				s.Fatalf("error %v (%T), want a *engine.UnsupportedMigration", err, err)
			}
			var codes []string
			for _, step := range unsupported.Steps {
				codes = append(codes, string(step.Code))
				if step.Reason == "" {
					s.Errorf("step %s has no reason", step)
				}
			}
			slices.Sort(codes)
			if got := strings.Join(codes, " "); got != "add_required change_endpoints change_type" {
				s.Errorf("steps %s", got)
			}
		},
		"a type without entities may change in every way": func(s *session) {
			s.mutate(s.change().remove("City", "name", plan.Ge, ""))
			s.apply("", func(c *catalog.Schema) {
				city := c.Node("City")
				city.Key = []string{"name"}
				city.Properties = append(city.Properties, property("size", i32Type))
				city.Property("place").Type = vectorOf(3)
				e := c.Edge("LivesIn")
				e.From, e.To = "City", "City"
			})
			s.load(engine.Merge, `{"type":"City","data":{"name":"Oslo","size":1,"place":[1,2,3]}}`+"\n"+`{"edge":"LivesIn","from":"Oslo","to":"Oslo","data":{"id":"l1"}}`)
			p := s.read()
			a, b, e := p.node("a", "City"), p.node("b", "City"), p.edge("e", "LivesIn")
			s.expect(p.match(over(a, e, "LivesIn", b)).ret(id(e), id(a), id(b)), `l1 | Oslo | Oslo`)
		},
		"a property becomes required when no value is null": func(s *session) {
			s.expectViolations(s.refused(retype("age", i32Type)), `node Person required dan`)
			s.mutate(s.change().update("Person", set{"age": 1}, "name", plan.Eq, "dan"))
			s.apply("", retype("age", i32Type))
			_, err := s.tryMutate(s.change().insert("Person", set{"name": "zoe"}))
			expectError[*engine.ConstraintViolation](s, err)
			s.apply("", retype("age", i32Type.Optional()))
			s.mutate(s.change().insert("Person", set{"name": "zoe"}))
		},
		"an enum can drop the values that no row has": func(s *session) {
			s.expectViolations(s.refused(retype("mood", enumOf("glad", "sad").Optional())), `node Person enum eve`)
			s.apply("", retype("mood", enumOf("calm", "glad", "sad", "wild").Optional()))
			s.mutate(s.change().update("Person", set{"mood": "wild"}, "name", plan.Eq, "eve"))
			s.apply("", retype("mood", enumOf("glad", "sad", "wild").Optional()))
			s.apply("", retype("mood", stringType.Optional()))
			s.mutate(s.change().update("Person", set{"mood": "any"}, "name", plan.Eq, "eve"))
		},
		"added rules are checked": func(s *session) {
			three := value.OfI32(29)
			s.expectViolations(s.refused(
				person(func(n *catalog.Node) {
					n.Unique = append(n.Unique, []string{"age"})
					n.Ranges = append(n.Ranges, catalog.Range{Property: "age", Min: &three})
					n.Checks = append(n.Checks, catalog.Check{Property: "about", Pattern: "engine"})
				}),
				edgeType("Knows", func(e *catalog.Edge) {
					e.Card = &catalog.Cardinality{Min: 0, Max: 1}
					e.Unique = [][]string{{"src", "since"}, {"since"}}
				})), `
				edge Knows cardinality
				edge Knows unique k1
				edge Knows unique k3
				node Person check cid
				node Person range bob
				node Person unique ann
				node Person unique cid`)
			s.apply("", person(func(n *catalog.Node) { n.Unique = append(n.Unique, []string{"about"}) }), edgeType("Follows", func(e *catalog.Edge) { e.Card = &catalog.Cardinality{Min: 1, Max: 2} }))
			_, err := s.tryMutate(s.change().update("Person", set{"about": "a Gopher"}, "name", plan.Eq, "dan"))
			expectError[*engine.ConstraintViolation](s, err)
			_, err = s.tryMutate(s.change().unlink("Follows", "id", plan.Eq, "f1"))
			expectError[*engine.ConstraintViolation](s, err)
			s.apply("", person(func(n *catalog.Node) { n.Unique = nil }), edgeType("Follows", func(e *catalog.Edge) { e.Card = nil }))
			s.mutate(s.change().update("Person", set{"about": "a Gopher"}, "name", plan.Eq, "dan"))
			s.mutate(s.change().unlink("Follows", "id", plan.Eq, "f1"))
		},
		"violations are counted up to a hundred": func(s *session) {
			var lines strings.Builder
			for i := range 150 {
				fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"p%03d"}}`+"\n", i)
			}
			s.load(engine.Merge, lines.String())
			err := s.refused(retype("age", i32Type))
			if n := len(flatten(err)); n < 100 {
				s.Errorf("%d violations, want at least a hundred: %v", n, err)
			}
		},
		"a dry run reports and commits nothing": func(s *session) {
			head := s.head()
			dry := engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}}
			out, err := s.graph.ApplySchema(s.ctx, sourceText, s.evolved(dropProperty("age"), retype("big", boolType.Optional())), dry)
			if err != nil || out.Commit != nil || out.Supported || !out.Destructive || len(out.Steps) != 2 || out.From == out.To || out.Head.ID != head.ID {
				s.Errorf("%+v, %v; want two steps, one unsupported, and no commit", out, err)
			}
			again, err := s.graph.ApplySchema(s.ctx, sourceText, s.evolved(dropProperty("age"), retype("big", boolType.Optional())), dry)
			if err != nil || again.Digest() != out.Digest() {
				s.Errorf("%s, %v; want %s again", again.Digest(), err, out.Digest())
			}
			_, err = s.graph.ApplySchema(s.ctx, sourceText, s.evolved(retype("age", i32Type)), dry)
			s.expectViolations(err, `node Person required dan`)
			if s.head().ID != head.ID {
				s.Errorf("a dry run made a commit")
			}
		},
		"conditions and keys": func(s *session) {
			opts := engine.SchemaOptions{WriteOptions: engine.WriteOptions{IfCommit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}}
			to := s.evolved(addProperty("mail", stringType.Optional()))
			_, err := s.graph.ApplySchema(s.ctx, sourceText, to, opts)
			expectError[*engine.PreconditionFailed](s, err)
			opts.WriteOptions = engine.WriteOptions{IfCommit: s.head().ID, IdempotencyKey: "key", Actor: "ann"}
			first, err := s.graph.ApplySchema(s.ctx, sourceText, to, opts)
			if err != nil {
				s.Fatalf("apply: %v", err)
			}
			again, err := s.graph.ApplySchema(s.ctx, sourceText, to, opts)
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || fmt.Sprint(again.Steps) != fmt.Sprint(first.Steps) || again.From != first.From || again.Commit.Actor != "ann" {
				s.Errorf("the repeated apply returned %+v, %v; want %+v", again, err, first)
			}
			opts.AllowDataLoss = true
			_, err = s.graph.ApplySchema(s.ctx, sourceText, to, opts)
			expectError[*engine.Conflict](s, err)
			less := s.evolved() // without the added property
			_, err = s.graph.ApplySchema(s.ctx, sourceText, less, engine.SchemaOptions{IfSchema: first.From, AllowDataLoss: true})
			expectError[*engine.Conflict](s, err)
			if out, err := s.graph.ApplySchema(s.ctx, sourceText, less, engine.SchemaOptions{IfSchema: first.To, AllowDataLoss: true}); err != nil || out.From != first.To {
				s.Errorf("with the schema of the head: %+v, %v", out, err)
			}
			_, err = s.graph.ApplySchema(s.ctx, sourceText, to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: "none"}})
			expectError[*engine.NotFound](s, err)
		},
		"keys of writes that the new schema does not allow": func(s *session) {
			line := `{"type":"Person","data":{"name":"fay","age":3}}`
			opts := engine.LoadOptions{WriteOptions: engine.WriteOptions{IdempotencyKey: "load"}}
			first, err := s.graph.Load(s.ctx, strings.NewReader(line), opts)
			if err != nil {
				s.Fatalf("load: %v", err)
			}
			birth := s.change().insert("Person", set{"name": "gil", "age": 0}).query()
			born, err := s.graph.Mutate(s.ctx, birth, nil, engine.WriteOptions{IdempotencyKey: "mutation"})
			if err != nil {
				s.Fatalf("mutate: %v", err)
			}
			s.apply("", dropProperty("age"))
			again, err := s.graph.Load(s.ctx, strings.NewReader(line), opts)
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || len(again.Nodes) != 1 || again.Nodes[0] != first.Nodes[0] {
				s.Errorf("the repeated load returned %+v, %v; want %+v", again, err, first)
			}
			_, err = s.graph.Load(s.ctx, strings.NewReader(line+"\n"), opts)
			expectError[*engine.Conflict](s, err)
			opts.IdempotencyKey = "another"
			_, err = s.graph.Load(s.ctx, strings.NewReader(line), opts)
			expectError[*engine.LoadErrors](s, err)
			bornAgain, err := s.graph.Mutate(s.ctx, birth, nil, engine.WriteOptions{IdempotencyKey: "mutation"})
			if err != nil || bornAgain.Commit == nil || bornAgain.Commit.ID != born.Commit.ID {
				s.Errorf("the repeated mutation returned %+v, %v; want %+v", bornAgain, err, born)
			}
		},
		"a branch has a schema of its own": func(s *session) {
			s.fork("side", "")
			before := s.schema
			s.apply("side", renameProperty("age", "years"), dropNode("City"))
			s.expectNamed("side", "years", crowdAges)
			s.schema = before
			s.expectAges("", crowdAges)
			main, err := s.graph.Schema(s.ctx, engine.Target{})
			if err != nil || main.Digest != catalog.Digest(before) {
				s.Errorf("the schema of main is %s, %v", main.Digest, err)
			}
		},
		"an older commit keeps its schema": func(s *session) {
			head := s.head()
			s.fork("kept", "")
			p := s.read()
			a := p.bind("a", "Person")
			old := p.ret(id(a), p.prop(a, "age")).query()
			want := s.rows(old)
			digest := catalog.Digest(s.schema)
			s.apply("", dropProperty("age"), dropNode("City"))
			at := engine.Target{Commit: head.ID}
			rows, err := queryAt(s.ctx, s.graph, old, nil, at)
			if err != nil || !slices.Equal(formatRows(rows), want) {
				s.Errorf("rows %v, %v; want %v", formatRows(rows), err, want)
			}
			schema, err := s.graph.Schema(s.ctx, at)
			if err != nil || schema.Digest != digest || schema.Catalog.Node("City") == nil {
				s.Errorf("schema %+v, %v; want %s", schema, err, digest)
			}
			commits, err := s.graph.Commits(s.ctx, "", engine.CommitRange{Limit: 2})
			if err != nil || commits[0].Schema != catalog.Digest(s.schema) || commits[1].Schema != digest {
				s.Errorf("commits %+v, %v", commits, err)
			}
		},
		"an open result does not see a schema change": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			q := p.ret(id(a), p.prop(a, "age")).query()
			want := s.rows(q)
			res, err := s.graph.Query(s.ctx, q, nil, engine.Target{})
			if err != nil {
				s.Fatalf("query: %v", err)
			}
			s.apply("", dropProperty("age"))
			got, err := drain(s.ctx, q, res)
			if err != nil || !slices.Equal(formatRows(got), want) {
				s.Errorf("rows %v, %v; want %v", formatRows(got), err, want)
			}
		},
	}
	return writeCases("schema", cases)
}
