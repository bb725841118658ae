package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// townFeed is what the source crm has: two towns, a road and a ferry.
const townFeed = `{"type":"Town","data":{"name":"d","size":4,"note":"n"}}
{"type":"Town","data":{"name":"e","size":5,"note":"m"}}
{"edge":"Road","from":"d","to":"e","data":{"number":7,"km":70}}
{"edge":"Ferry","from":"d","to":"e","data":{"km":7,"line":"l"}}`

// synchronise loads lines in the mode sync, for the source crm and all types unless the options say otherwise.
func (s *session) synchronise(lines string, change func(*engine.LoadOptions)) (*engine.LoadResult, error) {
	opts := engine.LoadOptions{Mode: engine.Sync, Sync: engine.SyncOptions{Source: "crm", Types: []string{"Town", "Road", "Ferry"}}}
	if change != nil {
		change(&opts)
	}
	return s.graph.Load(s.ctx, strings.NewReader(lines), opts)
}

// expectSync runs a sync and compares its numbers: overwritten, released, deleted, cascaded and kept.
func (s *session) expectSync(want, lines string, change func(*engine.LoadOptions)) *engine.LoadResult {
	s.Helper()
	res, err := s.synchronise(lines, change)
	if err != nil {
		s.Fatalf("sync: %v", err)
	}
	r := res.Sync
	if r == nil {
		s.Fatalf("a sync has no result")
	}
	if got := fmt.Sprint(r.Overwritten, r.Released, r.Deleted, r.Cascaded, r.Kept); got != want {
		s.Errorf("the sync overwrote, released, deleted, cascaded and kept %s, expected %s", got, want)
	}
	return res
}

// expectSources compares the lines of an export that have sources with the text `want`: the id of a node, or the ends of an
// edge, and the sources.
func (s *session) expectSources(branch, want string) {
	s.Helper()
	got, err := sourcesOf(s.ctx, s.graph, engine.Target{Branch: branch})
	if err != nil {
		s.Fatalf("export: %v", err)
	}
	var lines []string
	for _, at := range sortedKeys(got) {
		lines = append(lines, at+" "+got[at])
	}
	if text := strings.Join(lines, "\n"); text != unindent(want) {
		s.Errorf("the sources are\n%s\nexpected\n%s", text, unindent(want))
	}
}

// less returns lines without those that contain a text.
func less(lines, text string) string {
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// syncCases returns the cases of the mode sync.
func syncCases() []testCase {
	const before = "a | 1 | x\nb | 2 | null\nc | 3 | null\n"
	approve := func(n int64) func(*engine.LoadOptions) {
		return func(o *engine.LoadOptions) { o.Sync.ApproveDeletes = n }
	}
	other := func(o *engine.LoadOptions) { o.Sync.Source, o.Sync.Yield = "erp", []string{"Town.size"} }
	refused := func(s *session, part string, err error) {
		s.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			s.Errorf("the error is %v, expected %q", err, part)
		}
	}
	runs := map[string]func(s *session){
		"three times": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			for range 2 {
				if res := s.expectSync("0 0 0 0 0", townFeed, nil); res.Commit != nil || res.Effects.Nodes != (engine.ChangeCounts{}) || fmt.Sprint(res.Nodes, res.Edges) != "[{Town 2}] [{Road 1} {Ferry 1}]" {
					s.Errorf("a repeated sync commits %+v, %+v", res.Commit, res)
				}
			}
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
			s.expectSources("", `Ferry d e +crm:km,line
Road d e +crm:km
Town d +crm:note,size
Town e +crm:note,size`)
		},
		"the source loses all": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			_, err := s.synchronise("", nil)
			refused(s, "delete 4 entities (1 of 1 Ferry, 1 of 1 Road, 2 of 2 Town)", err)
			expectError[*engine.Conflict](s, err)
			_, err = s.synchronise("", approve(3))
			refused(s, "approve_deletes 4", err)
			s.expectSync("0 0 4 0 0", "", approve(4))
			s.expectTowns(before)
			s.expectFerries("a | b | f1")
			s.expectSources("", "")
		},
		"a fifth needs no approval": func(s *session) {
			lines := townFeed + "\n" + `{"type":"Town","data":{"name":"f","size":1}}
{"type":"Town","data":{"name":"g","size":1}}
{"type":"Town","data":{"name":"h","size":1}}`
			s.expectSync("0 0 0 0 0", lines, nil)
			s.expectSync("0 0 1 0 0", less(lines, `"h"`), nil)
			_, err := s.synchronise(less(less(lines, `"h"`), `"g"`), nil)
			refused(s, "1 of 4 Town", err)
		},
		"what no source created": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed+"\n"+`{"type":"Town","data":{"name":"a","size":9,"note":"z"}}`, nil)
			s.expectTowns("a | 9 | z\nb | 2 | null\nc | 3 | null\nd | 4 | n\ne | 5 | m")
			s.expectSync("0 1 0 0 0", townFeed, nil)
			s.expectTowns("a | 9 | null\nb | 2 | null\nc | 3 | null\nd | 4 | n\ne | 5 | m")
		},
		"types that are not named": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			res := s.expectSync("0 0 0 0 0", "", func(o *engine.LoadOptions) { o.Sync.Types = nil })
			if res.Commit != nil {
				s.Errorf("committed %+v", res.Effects)
			}
		},
		"a property that a line leaves out": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.expectSync("0 0 0 0 0", strings.NewReplacer(`,"note":"n"`, "", `"size":5,`, "").Replace(townFeed), nil)
			s.expectTowns(before + "d | 4 | null\ne | 5 | m")
			s.expectSources("", `Ferry d e +crm:km,line
Road d e +crm:km
Town d +crm:size
Town e +crm:note`)
		},
		"edits of others": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.load(engine.Patch, `{"type":"Town","data":{"name":"d","size":40}}`)
			s.load(engine.Merge, `{"type":"Town","data":{"name":"e","size":5,"note":"mine"}}`)
			s.expectSources("", `Ferry d e +crm:km,line
Road d e +crm:km
Town d +crm:note,size!size
Town e +crm:note,size!note`)
			s.expectSync("2 0 0 0 0", townFeed, nil)
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
			s.expectSync("0 0 0 0 0", strings.Replace(townFeed, `"size":4`, `"size":6`, 1), nil)
		},
		"edits by mutations": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.mutate(s.change().update("Town", set{"size": 50}, "name", plan.Eq, "e"))
			s.expectSync("1 0 0 0 0", townFeed, nil)
			s.mutate(s.change().remove("Town", "name", plan.Eq, "e"))
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
		},
		"two sources with properties of their own": func(s *session) {
			s.expectSync("0 0 0 0 0", less(townFeed, "edge"), nil)
			const notes = `{"type":"Town","data":{"name":"d","note":"of erp"}}`
			_, err := s.synchronise(notes, func(o *engine.LoadOptions) { o.Sync.Source = "erp" })
			s.expectLineNumbers(err, 1)
			refused(s, "yield Town.note", err)
			s.expectSync("0 0 0 0 0", strings.ReplaceAll(strings.ReplaceAll(less(townFeed, "edge"), `,"note":"n"`, ""), `,"note":"m"`, ""), nil)
			s.expectSync("0 0 0 0 0", notes, other)
			s.expectTowns(before + "d | 4 | of erp\ne | 5 | null")
			s.expectSources("", "Town d +crm:size;erp:note\nTown e +crm:size")
			// The town stays for the other source; the sizes stay because they are required.
			s.expectSync("0 1 1 0 0", "", func(o *engine.LoadOptions) { o.Sync.ApproveDeletes = 1 })
			s.expectTowns(before + "d | 4 | of erp")
			s.expectSources("", "Town d +erp:note")
			s.expectSync("0 0 1 0 0", "", func(o *engine.LoadOptions) { other(o); o.Sync.ApproveDeletes = 1 })
			s.expectTowns(before)
		},
		"a source that yields": func(s *session) {
			s.expectSync("0 0 0 0 0", less(townFeed, "edge"), nil)
			s.expectSync("0 0 0 0 0", `{"type":"Town","data":{"name":"d","size":99}}
{"type":"Town","data":{"name":"f","size":6}}`, other)
			s.expectTowns(before + "d | 4 | n\ne | 5 | m\nf | 6 | null")
			s.expectSources("", "Town d +crm:note,size;erp:\nTown e +crm:note,size\nTown f +erp:size")
		},
		"a node with an edge of another": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.load(engine.Merge, `{"edge":"Ferry","from":"e","to":"a"}`)
			lost := less(townFeed, `"e"`)
			kept := func(o *engine.LoadOptions) { o.Sync.ApproveDeletes = 2 }
			res := s.expectSync("0 0 2 0 1", lost, kept)
			if at := fmt.Sprint(res.Sync.KeptFirst); at != "[{node Town e}]" {
				s.Errorf("kept %s", at)
			}
			if res := s.expectSync("0 0 0 0 1", lost, nil); res.Commit != nil {
				s.Errorf("the same input commits %+v", res.Effects)
			}
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
			s.expectSync("0 0 1 1 0", lost, func(o *engine.LoadOptions) { o.Sync.Cascade, o.Sync.ApproveDeletes = true, 2 })
			s.expectTowns(before + "d | 4 | n")
			s.expectFerries("a | b | f1")
		},
		"an edge in the input keeps its nodes": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			lost := less(townFeed, `"size":5`)
			s.expectSync("0 0 0 0 1", lost, func(o *engine.LoadOptions) { o.Sync.Cascade = true })
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
		},
		"a bad line": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			_, err := s.synchronise(`{"type":"Town","data":{"name":"f"}}`, approve(4))
			s.expectLineNumbers(err, 1)
			s.expectTowns(before + "d | 4 | n\ne | 5 | m")
		},
		"branches that both synchronised": func(s *session) {
			on := func(branch, source string, n int64) func(*engine.LoadOptions) {
				return func(o *engine.LoadOptions) {
					o.Branch, o.Sync.Source, o.Sync.ApproveDeletes, o.Sync.Yield = branch, source, n, []string{"Town.size", "Town.note", "Road.km", "Ferry.km", "Ferry.line"}
				}
			}
			s.expectSync("0 0 0 0 0", less(townFeed, "edge"), nil)
			s.fork("side", "")
			s.expectSync("0 0 0 0 0", townFeed, on("side", "crm", 0))
			s.expectSync("0 0 0 0 0", townFeed, on("", "crm", 0))
			s.expectSync("0 0 0 0 0", less(townFeed, "edge"), on("side", "erp", 0))
			s.merged("side", "main", engine.Merged)
			s.expectSources("", `Ferry d e +crm:km,line
Road d e +crm:km
Town d +crm:note,size;erp:
Town e +crm:note,size;erp:`)
			s.expectSync("0 2 2 0 0", "", on("", "crm", 2))
			s.expectSync("0 2 0 0 0", "", on("side", "erp", 0))
			s.merged("side", "main", engine.Merged)
			s.expectSources("", "Town d +\nTown e +")
			s.expectSync("0 0 2 0 0", "", on("", "erp", 2)) // no source claims the towns any more
			s.expectTowns(before)
		},
		"a deletion and a change of membership alone": func(s *session) {
			erp := func(branch string) func(o *engine.LoadOptions) {
				return func(o *engine.LoadOptions) {
					o.Branch, o.Sync.Source, o.Sync.Yield = branch, "erp", []string{"Town.size", "Town.note", "Road.km", "Ferry.km", "Ferry.line"}
				}
			}
			lost := func(branch string) func(o *engine.LoadOptions) {
				return func(o *engine.LoadOptions) { o.Branch, o.Sync.ApproveDeletes = branch, 4 }
			}
			lostByErp := func(branch string) func(o *engine.LoadOptions) {
				return func(o *engine.LoadOptions) {
					erp(branch)(o)
					o.Sync.ApproveDeletes = 4
				}
			}
			conflicts := func(source string) {
				s.Helper()
				var found *engine.MergeConflicts
				if _, err := s.graph.Merge(s.ctx, source, "main", engine.MergeOptions{}); !errors.As(err, &found) || len(found.Conflicts) == 0 {
					s.Errorf("merge %s: %v, expected conflicts", source, err)
				}
			}
			// The other branch has let go of one of two claims: it wants nothing that the deletion removes.
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.expectSync("0 0 0 0 0", townFeed, erp("")) // erp claims the entities, and yields what they are
			s.fork("fewer", "")
			s.expectSync("0 4 0 0 0", "", lostByErp("fewer"))
			s.expectSync("0 0 4 0 0", "", lost("fewer"))
			s.expectSync("0 4 0 0 0", "", lostByErp(""))
			s.merged("fewer", "main", engine.Merged)
			s.expectTowns(before)
			// The other branch has gained a source, which has not lost the entities.
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.fork("gone", "")
			s.fork("claimed", "")
			s.expectSync("0 0 4 0 0", "", lost("gone"))
			s.expectSync("0 0 0 0 0", townFeed, erp("claimed"))
			s.merged("claimed", "main", engine.FastForward)
			conflicts("gone")
			s.fork("both", "")
			s.expectSync("0 0 0 0 0", townFeed, func(o *engine.LoadOptions) {
				erp("both")(o)
				o.Sync.Source = "hr"
			})
			s.expectSync("0 4 0 0 0", "", lostByErp(""))
			s.expectSync("0 0 4 0 0", "", lost(""))
			conflicts("both")
		},
		"history and exports": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			old := s.head()
			s.expectSync("0 0 4 0 0", "", approve(4))
			b, err := s.graph.CreateBranch(s.ctx, "old", engine.Target{Commit: old.ID})
			if err != nil {
				s.Fatalf("branch: %v", err)
			}
			all := `Ferry d e +crm:km,line
Road d e +crm:km
Town d +crm:note,size
Town e +crm:note,size`
			s.expectSources(b.Name, all)
			var text strings.Builder
			if _, err := s.graph.Export(s.ctx, &text, engine.Target{Branch: "old"}, engine.ExportOptions{}); err != nil {
				s.Fatalf("export: %v", err)
			}
			s.load(engine.Merge, text.String())
			s.expectSources("", all)
			s.expectSync("0 0 4 0 0", "", approve(4))
		},
		"renames": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.apply("", func(c *catalog.Schema) {
				town, ferry := c.Node("Town"), c.Edge("Ferry")
				for _, p := range town.Properties {
					if p.Name == "note" {
						p.Name, p.RenameFrom = "remark", "note"
					}
				}
				ferry.Properties = slices.DeleteFunc(ferry.Properties, func(p *catalog.Property) bool { return p.Name == "line" })
			})
			s.expectSources("", `Ferry d e +crm:km
Road d e +crm:km
Town d +crm:remark,size
Town e +crm:remark,size`)
		},
		"a new key": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			s.followed("", "1", `{"type":"Town","was":"d","data":{"name":"f"}}`)
			s.expectSources("", `Ferry f e +crm:km,line
Road f e +crm:km
Town e +crm:note,size
Town f +crm:note,size`)
		},
		"once more with the idempotency key": func(s *session) {
			s.expectSync("0 0 0 0 0", townFeed, nil)
			for range 2 {
				s.expectSync("0 0 1 0 0", less(townFeed, "Road"), func(o *engine.LoadOptions) { o.IdempotencyKey, o.Sync.ApproveDeletes = "k", 1 })
			}
			_, err := s.synchronise(less(townFeed, "Road"), func(o *engine.LoadOptions) { o.IdempotencyKey = "k" })
			expectError[*engine.Conflict](s, err)
		},
		"once more after a property that it yields has another name": func(s *session) {
			yields := func(key string) func(*engine.LoadOptions) {
				return func(o *engine.LoadOptions) { o.IdempotencyKey, o.Sync.Yield = key, []string{"Town.note"} }
			}
			s.expectSync("0 0 0 0 0", townFeed, yields("k"))
			s.apply("", func(c *catalog.Schema) {
				for _, p := range c.Node("Town").Properties {
					if p.Name == "note" {
						p.Name, p.RenameFrom = "remark", "note"
					}
				}
			})
			s.expectSync("0 0 0 0 0", townFeed, yields("k"))
			for _, key := range []string{"", "other"} {
				_, err := s.synchronise(townFeed, yields(key))
				expectError[*engine.BadArgument](s, err)
			}
		},
		"refused": func(s *session) {
			for _, change := range []func(*engine.LoadOptions){
				func(o *engine.LoadOptions) { o.Sync.Source = "" },
				func(o *engine.LoadOptions) { o.Sync.Source = "a b" },
				func(o *engine.LoadOptions) { o.Sync.Types = []string{"Village"} },
				func(o *engine.LoadOptions) { o.Sync.Yield = []string{"Town"} },
				func(o *engine.LoadOptions) { o.LastWins = true },
				func(o *engine.LoadOptions) { o.NewEdges = true },
				func(o *engine.LoadOptions) { o.Mode = engine.Merge },
			} {
				_, err := s.synchronise("", change)
				expectError[*engine.BadArgument](s, err)
			}
			for _, sources := range []string{`"crm"`, `"crm:b,a"`, `"z:;a:"`, `"+crm:a!"`, `5`} {
				_, err := s.tryLoad(engine.Merge, `{"type":"Town","data":{"name":"f","size":1},"sources":`+sources+`}`)
				s.expectLineNumbers(err, 1)
			}
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "load/sync/" + name, schema: roads, run: func(s *session) {
			s.load(engine.Append, towns)
			runs[name](s)
		}})
	}
	return all
}
