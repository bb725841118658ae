package enginetest

import (
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// runExport exports a branch of the engine, loads the export into a new model, and compares that
// model with the branch.
func (p *pair) runExport(ctx context.Context) string {
	if absent, difference := p.missing(ctx); absent {
		return difference
	}
	var text strings.Builder
	if _, err := p.engine.Export(ctx, &text, p.target(), engine.ExportOptions{}); err != nil {
		return "export: " + err.Error()
	}
	loaded := naive.New(sourceText, p.schema, naive.Sound)
	if _, err := loaded.Load(ctx, strings.NewReader(text.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		return "the export cannot be loaded: " + err.Error() + "\n" + text.String()
	}
	branch := loaded
	if id, ok := engine.DraftID(p.branch); ok {
		branch.UseIDs(id)
		_, _, err := branch.OpenDraft(ctx, engine.NewDraft{Owner: draftOwners[0]})
		must(err)
	} else if p.branch != "" {
		_, err := branch.CreateBranch(ctx, p.branch, engine.Target{})
		must(err)
	}
	again := &pair{ctx: ctx, schema: p.schema, engine: branch, model: p.model, branch: p.branch, unsigned: true}
	if difference := again.compareState(ctx); difference != "" {
		return "the export differs:\n" + text.String() + difference
	}
	return ""
}

// exportCases returns the cases of exports.
func exportCases() []testCase {
	export := func(s *session, at engine.Target, types ...string) string {
		s.Helper()
		var b strings.Builder
		c, err := s.graph.Export(s.ctx, &b, at, engine.ExportOptions{Types: types})
		if err != nil {
			s.Fatalf("export: %v", err)
		}
		if snap, err := s.graph.Snapshot(s.ctx, at); err != nil || snap.Commit.ID != c.ID {
			s.Errorf("Export returned commit %s, error %v", c.ID, err)
		}
		return b.String()
	}
	return writeCases("export", map[string]func(s *session){
		"one type": func(s *session) {
			want := `{"edge":"LivesIn","from":"ann","to":"c1","data":{"id":"l1","since":2001}}
{"edge":"LivesIn","from":"bob","to":"c1","data":{"id":"l2"}}
{"edge":"LivesIn","from":"cid","to":"c2","data":{"id":"l3","since":2020}}
`
			if got := export(s, engine.Target{}, "LivesIn"); got != want {
				s.Errorf("export\n%s\nwant\n%s", got, want)
			}
		},
		"round trip through a branch": func(s *session) {
			s.load(engine.Merge, everyMember)
			s.fork("side", "")
			s.mutate(s.change().update("Person", set{"age": 7}, "name", plan.Ge, ""))
			s.on("side", s.change().remove("Person", "name", plan.Lt, "d"))
			s.on("side", s.change().insert("Person", set{"name": "zoe"}).insert("Person", set{"name": "abe"}))
			want := export(s, engine.Target{Branch: "side"})
			if !strings.Contains(want, `"id":"abe"`) || strings.Contains(want, `"id":"ann"`) {
				s.Errorf("the export of the branch is\n%s", want)
			}
			s.mutate(s.change().remove("Person", "name", plan.Ge, "").remove("City", "name", plan.Ge, ""))
			if got := export(s, engine.Target{}); got != "" {
				s.Errorf("the export of an empty graph is\n%s", got)
			}
			s.load(engine.Append, want)
			if got := export(s, engine.Target{}); got != want {
				s.Errorf("the export after loading the export is\n%s\nwant\n%s", got, want)
			}
			s.expectAges("", s.ages(engine.Target{Branch: "side"}))
		},
		"integers as strings": func(s *session) {
			numbers := export(s, engine.Target{})
			var b strings.Builder
			if _, err := s.graph.Export(s.ctx, &b, engine.Target{}, engine.ExportOptions{StringIntegers: true}); err != nil {
				s.Fatalf("export: %v", err)
			}
			quoted := b.String()
			for _, want := range []string{`"big":"9007199254740993"`, `"wide":"18446744073709551615"`, `"age":30,`} {
				if !strings.Contains(quoted, want) {
					s.Errorf("the export has no %s:\n%s", want, quoted)
				}
			}
			s.load(engine.Overwrite, quoted)
			if got := export(s, engine.Target{}); got != numbers {
				s.Errorf("the export after loading strings is\n%s\nwant\n%s", got, numbers)
			}
		},
		"refused": func(s *session) {
			_, err := s.graph.Export(s.ctx, &strings.Builder{}, engine.Target{}, engine.ExportOptions{Types: []string{"Person", "None"}})
			expectError[*engine.BadArgument](s, err)
			_, err = s.graph.Export(s.ctx, &strings.Builder{}, engine.Target{Branch: "none"}, engine.ExportOptions{})
			expectError[*engine.NotFound](s, err)
		},
	})
}
