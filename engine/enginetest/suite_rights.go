package enginetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// casesSchema is a graph in which each team sees its own cases.
const casesSchema = `
node Case { slug: String @key  team: String  title: String?  code: I32? @unique  secret: String? }
node Person { name: String @key }
edge About: Case -> Person @card(0..2)
`

// casesLines are two cases of the team red and two of the team blue.
const casesLines = `
{"type":"Case","data":{"slug":"r1","team":"red","title":"red one","code":1,"secret":"s1"}}
{"type":"Case","data":{"slug":"r2","team":"red","title":"red two","code":2}}
{"type":"Case","data":{"slug":"b1","team":"blue","title":"blue one","code":3,"secret":"s3"}}
{"type":"Case","data":{"slug":"b2","team":"blue","title":"blue two"}}
{"type":"Person","data":{"name":"ann"}}
{"type":"Person","data":{"name":"bo"}}
{"edge":"About","from":"r1","to":"ann","data":{"id":"e1"}}
{"edge":"About","from":"b1","to":"ann","data":{"id":"e2"}}
{"edge":"About","from":"b1","to":"bo","data":{"id":"e3"}}
`

// rightsCases returns the cases of rights to a part of a graph.
func rightsCases() []testCase {
	var all []testCase
	for name, run := range map[string]func(s *session){
		"reads": readPart, "each commit": followPart, "another entity": followOther, "branches": openNoDoor, "previews": previewNoDoor, "writes": writePart, "origins": rewritePart, "loads": loadPart, "merges": mergePart,
	} {
		all = append(all, testCase{
			name: "rights/" + name,
			schema: func() *catalog.Schema {
				schema, err := parseSchema("cases.pg", casesSchema)
				must(err)
				return schema
			},
			run: func(s *session) {
				s.load(engine.Append, casesLines)
				run(s)
			},
		})
	}
	slices.SortFunc(all, func(a, b testCase) int { return strings.Compare(a.name, b.name) })
	return all
}

// text compiles a query.
func (s *session) text(text string) *plan.Query {
	s.Helper()
	q, err := compileQuery(s.schema, text)
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	return q
}

// teamFilter returns a filter of the cases of a team.
func (s *session) teamFilter(team string) *engine.RowFilter {
	of := func(params, among string) *plan.Query {
		return s.text("($team: String" + params + ") { match { $it: Case  $it.team = $team " + among + " } return { $it.id } }")
	}
	return &engine.RowFilter{Name: "team", Entities: of("", ""), Among: of(", $among: [String]", "$it.id in $among"), Args: engine.Args{value.OfString(team)}}
}

// team returns rights to the cases of a team.
func (s *session) team(name string) *engine.Rights {
	return &engine.Rights{Digest: name, Nodes: map[string]*engine.TypeRights{"Case": {Any: [][]*engine.RowFilter{{s.teamFilter(name)}}}}}
}

// seen returns the rows of a read at a target, joined.
func (s *session) seen(at engine.Target, text string) string {
	s.Helper()
	rows, err := queryAt(s.ctx, s.graph, s.text(text), nil, at)
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	return strings.Join(formatRows(rows), " ")
}

// readPart reads a part of a graph in different ways.
func readPart(s *session) {
	red := engine.Target{Rights: s.team("red")}
	for text, want := range map[string]string{
		`() { match { $c: Case } return { $c.slug } }`:                                         `r1 r2`,
		`() { match { $c: Case } return { count($c) } }`:                                       `2`,
		`() { match { $c: Case { slug: "b1" } } return { $c.slug } }`:                          ``,
		`() { match { $p: Person  $c about $p } return { $p.name } }`:                          `ann`,
		`() { match { $p: Person  not { $c about $p } } return { $p.name } }`:                  `bo`,
		`() { match { $p: Person } return { $p.name, count { $c about $p } as n } }`:           `ann | 1 bo | 0`,
		`() { match { $p: Person  $c about $p } return { count($p) as n } }`:                   `1`,
		`() { match { $c: Case  $c.title contains "one" } return { $c.slug } }`:                `r1`,
		`() { match { $c: Case } return { $c.slug } order { $c.code desc } limit 1 }`:          `r2`,
		`() { match { $c: Case } return { max($c.code) as n } }`:                               `2`,
		`() { match { $c: Case  search($c.title, "blue") } return { $c.slug } }`:               ``,
		`() { match { $p: Person { name: "ann" }  $c about $p } return { $c.slug } }`:          `r1`,
		`() { match { $c: Case  $c $e:about $p } return { $e.id } }`:                           `e1`,
		`() { match { $a: Case  $b: Case  $a.team != $b.team } return { $a.slug } }`:           ``,
		`() { match { $c: Case  $c.code in [1, 2, 3] } return { $c.slug } order { $c.slug } }`: `r1 r2`,
	} {
		if got := s.seen(red, text); got != want {
			s.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
	snap, err := s.graph.Snapshot(s.ctx, red)
	if err != nil || snap.Nodes[0].Count != 2 || snap.Edges[0].Count != 1 {
		s.Errorf("the snapshot has %v (%v)", snap, err)
	}
	red.Rights = s.team("red")
	red.Rights.Digest = "red without secrets"
	red.Rights.Nodes["Case"].Properties = []string{"secret"}
	var misfit *engine.SchemaMismatch
	if _, err := queryAt(s.ctx, s.graph, s.text(`() { match { $c: Case } return { $c.secret } }`), nil, red); !errors.As(err, &misfit) {
		s.Errorf("a hidden property can be read (%v)", err)
	}
	for text, refused := range map[string]bool{
		`() { match { $c: Case } return { $c.slug, origin($c).at as at } }`:                                         true,
		`() { match { $c: Case  origin($c).made_by is null } return { $c.slug } }`:                                  true,
		`() { match { $p: Person  exists { $c about $p  origin($c).source is null } } return { $p.name } }`:         true,
		`() { match { $p: Person  $c $e:about $p } return { $e.id } order { origin($e).tool } }`:                    true,
		`() { match { $p: Person  $c $e:about $p } return { $e.id, origin($p).at as at, origin($e).actor as by } }`: false,
	} {
		if _, err := queryAt(s.ctx, s.graph, s.text(text), nil, red); errors.As(err, &misfit) != refused {
			s.Errorf("%s: %v", text, err)
		}
	}
	_, err = s.graph.Mutate(s.ctx, s.text(`() { match { $c: Case  origin($c).made_by is null } { update Case set { title: "x" } where slug = $c.slug } }`), nil,
		engine.WriteOptions{Reads: red.Rights})
	if !errors.As(err, &misfit) {
		s.Errorf("a mutation reads the origin of a hidden property (%v)", err)
	}
	var out strings.Builder
	if _, err := s.graph.Export(s.ctx, &out, red, engine.ExportOptions{}); err != nil || strings.Contains(out.String(), "blue") || strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), "red one") {
		s.Errorf("the export is %s (%v)", out.String(), err)
	}
}

// followPart changes the graph, and reads its part after each commit.
func followPart(s *session) {
	red := engine.Target{Rights: s.team("red")}
	const all = `() { match { $c: Case } return { $c.slug } order { $c.slug } }`
	const people = `() { match { $p: Person  $c about $p } return distinct { $p.name } order { $p.name } }`
	for _, step := range []struct{ text, cases, people string }{
		{`() { update Case set { team: "red" } where slug = "b1" }`, "b1 r1 r2", "ann bo"},
		{`() { update Case set { team: "blue" } where slug = "r1" }`, "b1 r2", "ann bo"},
		{`() { delete About where to = "bo" }`, "b1 r2", "ann"},
		{`() { insert Case { slug: "r3", team: "red" }  insert About { from: "r3", to: "bo" } }`, "b1 r2 r3", "ann bo"},
		{`() { delete Case where slug = "b1" }`, "r2 r3", "bo"},
		{`() { insert Case { slug: "b30", team: "blue" } }`, "r2 r3", "bo"},
		{`() { update Case set { team: "green" } where slug != "none" }`, "", ""},
		{`() { update Case set { team: "red" } where slug = "r3" }`, "r3", "bo"},
	} {
		if _, err := s.graph.Mutate(s.ctx, s.text(step.text), nil, engine.WriteOptions{}); err != nil {
			s.Fatalf("%s: %v", step.text, err)
		}
		if got := s.seen(red, all); got != step.cases {
			s.Errorf("after %s: %s, expected %s", step.text, got, step.cases)
		}
		if got := s.seen(red, people); got != step.people {
			s.Errorf("after %s: %s, expected %s", step.text, got, step.people)
		}
	}
}

// teamOfR2 returns rights to the cases of the team of the case r2.
func (s *session) teamOfR2() *engine.Rights {
	const where = `$it: Case  exists { $o: Case { slug: "r2" }  $o.team = $it.team }`
	f := &engine.RowFilter{Entities: s.text("() { match { " + where + " } return { $it.id } }"), Among: s.text("($among: [String]) { match { " + where + "  $it.id in $among } return { $it.id } }")}
	return &engine.Rights{Digest: "other", Nodes: map[string]*engine.TypeRights{"Case": {All: []*engine.RowFilter{f}}}}
}

// followOther changes an entity on which it depends whether a filter passes others of its type.
func followOther(s *session) {
	at := engine.Target{Rights: s.teamOfR2()}
	const all = `() { match { $c: Case } return { $c.slug } order { $c.slug } }`
	if got := s.seen(at, all); got != "r1 r2" {
		s.Errorf("%s, expected r1 r2", got)
	}
	if _, err := s.graph.Mutate(s.ctx, s.text(`() { update Case set { team: "blue" } where slug = "r2" }`), nil, engine.WriteOptions{}); err != nil {
		s.Fatalf("%v", err)
	}
	if got := s.seen(at, all); got != "b1 b2 r2" {
		s.Errorf("after the change: %s, expected b1 b2 r2", got)
	}
}

// openNoDoor changes an entity on a branch so that it passes the filter there, and reads the past.
func openNoDoor(s *session) {
	before, err := s.graph.Snapshot(s.ctx, engine.Target{})
	if err != nil {
		s.Fatalf("%v", err)
	}
	if _, err := s.graph.CreateBranch(s.ctx, "door", engine.Target{}); err != nil {
		s.Fatalf("%v", err)
	}
	mutate := func(branch, text string) {
		s.Helper()
		if _, err := s.graph.Mutate(s.ctx, s.text(text), nil, engine.WriteOptions{Branch: branch}); err != nil {
			s.Fatalf("%v", err)
		}
	}
	mutate("door", `() { update Case set { team: "red" } where slug = "b1"  insert Case { slug: "r9", team: "red" } }`)
	const all = `() { match { $c: Case } return { $c.slug } order { $c.slug } }`
	expect := func(at engine.Target, want string) {
		s.Helper()
		at.Rights = s.team("red")
		if got := s.seen(at, all); got != want {
			s.Errorf("%+v: %s, expected %s", at, got, want)
		}
	}
	expect(engine.Target{Branch: "door"}, "r1 r2 r9")
	mutate("", `() { update Case set { team: "blue" } where slug = "r1" }`)
	expect(engine.Target{}, "r2")
	expect(engine.Target{Branch: "door"}, "r2 r9")
	expect(engine.Target{Commit: before.Commit.ID}, "r2")
	mutate("", `() { delete Case where slug = "b1" }`)
	expect(engine.Target{Branch: "door"}, "r2 r9") // hidden at the merge base
}

// previewNoDoor changes an entity on a branch so that others pass the filter in the result of a merge.
func previewNoDoor(s *session) {
	for _, target := range []string{"", "target"} {
		if target != "" {
			if _, err := s.graph.CreateBranch(s.ctx, target, engine.Target{}); err != nil {
				s.Fatalf("%v", err)
			}
		}
		source := "from" + target
		if _, err := s.graph.CreateBranch(s.ctx, source, engine.Target{}); err != nil {
			s.Fatalf("%v", err)
		}
		if _, err := s.graph.Mutate(s.ctx, s.text(`() { update Case set { team: "blue" } where slug = "r2" }`), nil, engine.WriteOptions{Branch: source}); err != nil {
			s.Fatalf("%v", err)
		}
		p, err := s.graph.Preview(s.ctx, engine.Target{Branch: source, Rights: s.teamOfR2()}, engine.Target{Branch: target, Rights: s.teamOfR2()}, nil)
		if err != nil {
			s.Fatalf("%v", err)
		}
		if rows, err := previewRows(s.ctx, p, s.text(`() { match { $c: Case } return { $c.slug } }`)); err != nil || strings.Join(formatRows(rows), " ") != "r2" {
			s.Errorf("the preview of a merge into %q has %v, %v", target, rows, err)
		}
	}
}

// writePart tries writes with rights to the cases of a team.
func writePart(s *session) {
	red := func() engine.WriteOptions {
		return engine.WriteOptions{Reads: s.team("red"), Writes: s.team("red")}
	}
	for _, c := range []struct {
		text, fails string
		options     func() engine.WriteOptions
	}{
		{`insert Case { slug: "r3", team: "red" }`, "", red},
		{`insert Case { slug: "b3", team: "blue" }`, "*engine.NotAllowed", red},
		{`update Case set { title: "x" } where slug = "r1"`, "", red},
		{`update Case set { team: "blue" } where slug = "r1"`, "*engine.NotAllowed", red},
		{`update Case set { team: "red" } where slug = "b1"`, "*engine.NotAllowed", func() engine.WriteOptions { return engine.WriteOptions{Writes: s.team("red")} }}, // seen, and allowed as it becomes
		{`insert Case { slug: "b1", team: "red" }`, "key conflict", red},
		{`insert Case { slug: "r3", team: "red", code: 3 }`, "violation unique", red},
		{`insert About { from: "b1", to: "ann" }`, "violation endpoint", red},
		{`delete Case where slug = "r1"`, "", red},
		{`delete Person where name = "bo"`, "", red}, // all edges of the type may be changed
		{`delete Person where name = "bo"`, "*engine.NotAllowed", func() engine.WriteOptions {
			o := red()
			o.Writes.Edges = map[string]*engine.TypeRights{"About": {Properties: []string{"none"}}}
			return o
		}},
		{`update Case set { secret: "x" } where slug = "r1"`, "*engine.NotAllowed", func() engine.WriteOptions {
			return engine.WriteOptions{Writes: &engine.Rights{Digest: "p", Nodes: map[string]*engine.TypeRights{"Case": {Properties: []string{"secret"}}}}}
		}},
		{`insert Case { slug: "r4", team: "red" }`, "", func() engine.WriteOptions {
			return engine.WriteOptions{Writes: &engine.Rights{Digest: "p", Nodes: map[string]*engine.TypeRights{"Case": {Properties: []string{"secret"}}}}}
		}},
		{`insert Person { name: "cy" }`, "*engine.NotAllowed", func() engine.WriteOptions {
			return engine.WriteOptions{Writes: &engine.Rights{Digest: "n", Nodes: map[string]*engine.TypeRights{"Person": {None: true}}}}
		}},
	} {
		before, err := s.graph.Snapshot(s.ctx, engine.Target{})
		if err != nil {
			s.Fatalf("%v", err)
		}
		opts := c.options()
		opts.DryRun = c.fails == ""
		_, err = s.graph.Mutate(s.ctx, s.text("() { "+c.text+" }"), nil, opts)
		after, snapErr := s.graph.Snapshot(s.ctx, engine.Target{})
		switch {
		case snapErr != nil:
			s.Fatalf("%v", snapErr)
		case !failsAs(err, c.fails):
			s.Errorf("%s: %v, expected %q", c.text, err, c.fails)
		case err != nil && before.Commit.ID != after.Commit.ID:
			s.Errorf("%s: refused, but it made a commit", c.text)
		case err != nil && !errors.As(err, new(*naive.Failure)) && strings.Contains(err.Error(), "b1") && !strings.Contains(c.text, "b1"):
			s.Errorf("%s: the error names what is hidden: %v", c.text, err)
		}
	}
}

// rewritePart deletes and inserts what it leaves as it was, with the hidden value, in a commit that changes something else.
func rewritePart(s *session) {
	hides := &engine.Rights{Digest: "p", Nodes: map[string]*engine.TypeRights{"Case": {Properties: []string{"secret"}}}}
	_, err := s.graph.Mutate(s.ctx, s.text(`() { delete Case where slug = "b1"
		insert Case { slug: "b1", team: "blue", title: "blue one", code: 3 }
		update Case set { title: "x" } where slug = "r1" }`), nil, engine.WriteOptions{Actor: "ada", Reads: hides, Writes: hides})
	if err != nil {
		s.Fatalf("mutate: %v", err)
	}
	if got := s.seen(engine.Target{}, `() { match { $c: Case  origin($c).actor = "ada" } return { $c.slug, $c.secret } }`); got != "r1 | s1" {
		s.Errorf("ada changed %s", got)
	}
}

// loadPart loads with rights to the cases of a team.
func loadPart(s *session) {
	for _, c := range []struct {
		mode        engine.LoadMode
		line, fails string
	}{
		{engine.Merge, `{"type":"Case","data":{"slug":"r1","team":"red"}}`, ""},
		{engine.Merge, `{"type":"Case","data":{"slug":"r5","team":"red"}}`, ""},
		{engine.Merge, `{"type":"Case","data":{"slug":"r1","team":"blue"}}`, "*engine.NotAllowed"},
		{engine.Merge, `{"type":"Case","data":{"slug":"b1","team":"red"}}`, "key conflict"},
		{engine.Patch, `{"type":"Case","data":{"slug":"b1","title":"mine"}}`, "violation required"},
		{engine.Patch, `{"type":"Case","data":{"slug":"r2","title":"mine"}}`, ""},
		{engine.Overwrite, `{"type":"Case","data":{"slug":"r2","team":"red"}}`, "*engine.NotAllowed"},
	} {
		_, err := s.graph.Load(s.ctx, strings.NewReader(c.line), engine.LoadOptions{Mode: c.mode, WriteOptions: engine.WriteOptions{Reads: s.team("red"), Writes: s.team("red"), DryRun: c.fails == ""}})
		if !failsAs(err, c.fails) {
			s.Errorf("%s %s: %v, expected %q", c.mode, c.line, err, c.fails)
		}
		if err != nil && strings.Contains(err.Error(), "blue one") {
			s.Errorf("%s: the error shows what is hidden: %v", c.line, err)
		}
	}
}

// failsAs reports whether an error has a reason; the reason of no error is "".
func failsAs(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	return slices.ContainsFunc(reasons(err), func(r reason) bool {
		r.line = 0
		return strings.HasPrefix(r.String(), want)
	})
}

// mergePart compares and merges branches with rights to a part of the graph.
func mergePart(s *session) {
	for _, name := range []string{"seen", "unseen", "rule", "clash"} {
		if _, err := s.graph.CreateBranch(s.ctx, name, engine.Target{}); err != nil {
			s.Fatalf("%v", err)
		}
	}
	mutate := func(branch, text string) {
		s.Helper()
		if _, err := s.graph.Mutate(s.ctx, s.text(text), nil, engine.WriteOptions{Branch: branch}); err != nil {
			s.Fatalf("%v", err)
		}
	}
	red, blue := s.team("red"), s.team("blue")
	red.Digest, red.Nodes["Case"].Properties = "red without secrets", []string{"secret"}
	mutate("seen", `() { update Case set { title: "newer" } where slug = "r1" }`)
	mutate("unseen", `() { update Case set { title: "newer" } where slug = "b1" }`)
	mutate("rule", `() { insert Case { slug: "r7", team: "red", code: 9 } }`)
	mutate("clash", `() { update Case set { title: "other" } where slug = "r1" }`)
	mutate("main", `() { insert Case { slug: "b7", team: "blue", code: 9 } }`)
	at := func(branch string) engine.Target { return engine.Target{Branch: branch, Rights: red} }
	denied := func(what string, err error) {
		s.Helper()
		if e := (*engine.NotAllowed)(nil); !errors.As(err, &e) || strings.Contains(err.Error(), "b7") || strings.Contains(err.Error(), "b1") {
			s.Errorf("%s: %v", what, err)
		}
	}
	images := engine.CompareOptions{Changes: &engine.ChangeRange{Images: true}}
	c, err := s.graph.Compare(s.ctx, at("seen"), at(""), images)
	if err != nil || len(c.List) != 1 || slices.ContainsFunc(c.List[0].After.Properties, func(p engine.PropertyValue) bool { return p.Name == "secret" }) {
		s.Errorf("comparing what is seen: %+v, %v", c, err)
	}
	for _, branch := range []string{"unseen", "rule"} {
		_, err := s.graph.Compare(s.ctx, at(branch), at(""), engine.CompareOptions{})
		denied("comparing "+branch, err)
		_, err = s.graph.Preview(s.ctx, at(branch), at(""), nil)
		denied("a preview of "+branch, err)
		_, err = s.graph.Merge(s.ctx, branch, "main", engine.MergeOptions{ReadsSource: red, ReadsTarget: red})
		denied("merging "+branch, err)
	}
	_, err = s.graph.Merge(s.ctx, "seen", "main", engine.MergeOptions{ReadsSource: red, ReadsTarget: red, Writes: blue})
	denied("merging what may not be changed", err)
	for id, shown := range map[string]bool{"r1": true, "r7": false, "b1": false, "none": false} {
		on := engine.CompareOptions{ListOnly: true, Shown: []engine.ChangePosition{{Entity: "node", Type: "Case", ID: id}}}
		_, err := s.graph.Compare(s.ctx, at("seen"), at(""), on)
		if bad := (*engine.BadArgument)(nil); errors.As(err, &bad) == shown || bad != nil && bad.Param != "on" {
			s.Errorf("a comparison that must show %s: %v", id, err)
		}
		if _, err := s.graph.Compare(s.ctx, engine.Target{Branch: "seen"}, engine.Target{}, on); err != nil {
			s.Errorf("a comparison of a caller with all rights: %v", err)
		}
	}
	p, err := s.graph.Preview(s.ctx, at("seen"), at(""), nil)
	if err != nil {
		s.Fatalf("%v", err)
	}
	const all = `() { match { $c: Case } return { $c.slug, $c.title } order { $c.slug } }`
	if rows, err := previewRows(s.ctx, p, s.text(all)); err != nil || strings.Join(formatRows(rows), " ") != "r1 | newer r2 | red two" {
		s.Errorf("the preview has %v, %v", rows, err)
	}
	m, err := s.graph.Merge(s.ctx, "seen", "main", engine.MergeOptions{ReadsSource: red, ReadsTarget: red, Writes: red})
	if err != nil || m.Nodes != 1 {
		s.Fatalf("merging what is seen: %+v, %v", m, err)
	}
	if c, err := s.graph.Compare(s.ctx, at("clash"), at(""), engine.CompareOptions{}); err != nil || c.ConflictCount != 1 {
		s.Errorf("a conflict about what is seen: %+v, %v", c, err)
	}
	if c, err := s.graph.Changes(s.ctx, m.Commit.ID, engine.ChangeRange{Images: true, Rights: red}); err != nil || len(c.List) != 1 || len(c.List[0].Before.Properties) != 4 {
		s.Errorf("the changes of the merge: %+v, %v", c, err)
	}
	_, err = s.graph.Changes(s.ctx, m.Commit.ID, engine.ChangeRange{Rights: blue})
	denied("the changes of the merge for the other team", err)
	mutate("main", `() { delete Case where slug = "r1" }`)
	conflicts := func(what string, list []engine.MergeConflict, err error) {
		s.Helper()
		secret := func(p engine.PropertyValue) bool { return p.Name == "secret" }
		if err != nil || len(list) != 1 || list[0].Base == nil || slices.ContainsFunc(list[0].Base.Properties, secret) {
			s.Errorf("%s: %+v, %v", what, list, err)
		}
	}
	c, err = s.graph.Compare(s.ctx, at("clash"), at(""), engine.CompareOptions{})
	if err != nil {
		s.Fatalf("%v", err)
	}
	conflicts("the conflicts of a comparison", c.Conflicts, err)
	var failed *engine.MergeConflicts
	if _, err := s.graph.Preview(s.ctx, at("clash"), at(""), nil); !errors.As(err, &failed) {
		s.Fatalf("a preview with a conflict: %v", err)
	}
	conflicts("the conflicts of a preview", failed.Conflicts, nil)
	if _, err := s.graph.Merge(s.ctx, "clash", "main", engine.MergeOptions{ReadsSource: red, ReadsTarget: red}); !errors.As(err, &failed) {
		s.Fatalf("a merge with a conflict: %v", err)
	}
	conflicts("the conflicts of a merge", failed.Conflicts, nil)
}
