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
		"hard drops": func(s *session) {
			to := s.evolved(dropProperty("age"))
			out, err := s.graph.ApplySchema(s.ctx, sourceText, to, engine.SchemaOptions{AllowDataLoss: true, Hard: true})
			if err != nil || len(out.Steps) != 1 || out.Steps[0].Drop != catalog.HardDrop {
				s.Fatalf("%+v, %v; want one step, a hard drop", out, err)
			}
			s.schema = to
			s.expectNamed("", "mood", "ann glad, bob sad, cid null, dan null, eve calm")
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
