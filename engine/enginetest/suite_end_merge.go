package enginetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// endHistoryCases returns the case of the values of a change.
func endHistoryCases() map[string]func(s *session) {
	return map[string]func(s *session){
		"change: ends as values": func(s *session) {
			s.move("", `{"edge":"About","from":"n1","to":{"type":"City","id":"c1"},"data":{"id":"a1","rank":1}}`)
			c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{})
			if err != nil || len(c.List) != 1 || len(c.List[0].Properties) != 1 {
				s.Fatalf("changes %+v, error %v", c, err)
			}
			p := c.List[0].Properties[0]
			if !value.Equal(p.Old, plan.OfNode("Person", "ann")) || !value.Equal(p.New, plan.OfNode("City", "c1")) {
				s.Errorf("the end changes from %v to %v", p.Old, p.New)
			}
			if e := c.List[0]; e.From != "n1" || e.FromType != "" || e.To != "c1" || e.ToType != "City" {
				s.Errorf("the change is %+v", e)
			}
		},
	}
}

// move replaces edges of a branch by lines with their ids, which may have other ends. It fails the case on an error.
func (s *session) move(branch, lines string) {
	s.Helper()
	if err := s.tryMove(branch, lines); err != nil {
		s.Fatalf("load: %v", err)
	}
}

// tryMove does the work of move. It overwrites the edges of the types in the lines, because the other modes keep ends.
func (s *session) tryMove(branch, lines string) error {
	parse := func(line string) (typ, id string) {
		var l struct {
			Edge string
			Data struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		return l.Edge, l.Data.ID
	}
	var types []string
	moved := map[string]bool{}
	for line := range strings.Lines(lines) {
		typ, id := parse(line)
		types, moved[id] = append(types, typ), true
	}
	slices.Sort(types)
	var b strings.Builder
	if _, err := s.graph.Export(s.ctx, &b, engine.Target{Branch: branch}, engine.ExportOptions{Types: slices.Compact(types)}); err != nil {
		s.Fatalf("export: %v", err)
	}
	for line := range strings.Lines(b.String()) {
		if _, id := parse(line); !moved[id] {
			lines += "\n" + line
		}
	}
	_, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Overwrite, WriteOptions: engine.WriteOptions{Branch: branch}})
	return err
}

// endMergeCases returns the cases of merges.
func endMergeCases() map[string]func(s *session) {
	// moved returns the line of the edge a1 with a target.
	moved := func(typ, id string) string {
		return `{"edge":"About","from":"n1","to":{"type":"` + typ + `","id":"` + id + `"},"data":{"id":"a1","rank":1}}`
	}
	place := engine.ConflictPlace{Entity: "edge", Type: "About", ID: "a1", Property: "to"}
	// resolved merges two changes of an end with a resolution.
	resolved := func(take engine.MergeSide, v value.Value, want string) func(s *session) {
		return func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: place, Take: take, Value: v}}})
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			s.expectEdges("About", strings.Replace(deskAbout, "{Person, ann}", want, 1))
		}
	}
	return map[string]func(s *session){
		"merge: two ends": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			s.expectConflicts(`divergent_update edge About "a1" to`)
			c := s.compared().Conflicts[0]
			if got, want := imageText(c.Base)+imageText(c.Ours)+imageText(c.Theirs), ` "n1" Person"ann" "n1" Team"ann" "n1" City"ann"`; got != want {
				s.Errorf("the images are%s, want%s", got, want)
			}
		},
		"merge: take a value":   resolved(engine.TakeValue, plan.OfNode("Person", "cid"), "{Person, cid}"),
		"merge: take the other": resolved(engine.TakeValue, plan.OfNode("City", "c1"), "{City, c1}"),
		"merge: take a node that does not exist": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{
				{ConflictPlace: place, Take: engine.TakeValue, Value: plan.OfNode("Team", "red")}}})
			expectError[*engine.MergeConflicts](s, err)
			c := s.compared(engine.Resolution{ConflictPlace: place, Take: engine.TakeValue, Value: plan.OfNode("Team", "red")})
			if got := strings.Join(placeTexts(c.Conflicts), "\n"); got != `orphan_edge edge About "a1" to` {
				s.Errorf("conflicts %s", got)
			}
		},
		"merge: take a wrong value": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			for _, v := range []value.Value{value.Null, textValue("ann"), value.OfI64(1), plan.OfNode("Note", "n1"), plan.OfNode("Nothing", "ann"),
				value.OfRecord([]value.Value{textValue("City")}), value.OfRecord([]value.Value{textValue("City"), value.Null}),
				value.OfRecord([]value.Value{textValue("City"), value.OfI64(1)})} {
				_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: place, Take: engine.TakeValue, Value: v}}})
				expectError[*engine.BadArgument](s, err)
			}
			from := place
			from.Property = "from"
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: from, Take: engine.TakeValue, Value: plan.OfNode("Note", "n1")}}})
			expectError[*engine.BadArgument](s, err)
		},
		"compare: the changes of a branch": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "c1"))
			c := s.compared()
			if len(c.List) != 1 || changeText(&c.List[0]) != `updated edge About "a1" "n1" City"c1"; to: [Person, ann], [City, c1]`+"\n" || c.Outcome != engine.FastForward {
				s.Errorf("the comparison is %+v", c)
			}
			first := c.Digest
			s.move("side", moved("Team", "ann"))
			second := s.compared().Digest
			s.move("side", moved("City", "ann"))
			if third := s.compared().Digest; first == second || second == third {
				s.Errorf("the digests of three changes are %s, %s and %s", first, second, third)
			}
		},
	}
}
