package enginetest

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// deskExport is the export of the edges of the desk.
const deskExport = `{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1","rank":1}}
{"edge":"About","from":"n1","to":{"type":"City","id":"ann"},"data":{"id":"a2","rank":2}}
{"edge":"About","from":"n2","to":{"type":"City","id":"c1"},"data":{"id":"a3"}}
{"edge":"About","from":"n3","to":{"type":"Person","id":"ann"},"data":{"id":"a4"}}
{"edge":"About","from":"n2","to":{"type":"Team","id":"ann"},"data":{"id":"a5","rank":3}}
{"edge":"By","from":{"type":"Team","id":"ann"},"to":"cid","data":{"id":"b1"}}
{"edge":"By","from":{"type":"Person","id":"ann"},"to":"bob","data":{"id":"b2"}}
{"edge":"By","from":{"type":"Person","id":"bob"},"to":"bob","data":{"id":"b3"}}
`

// exported returns the export of some types of main.
func (s *session) exported(types ...string) string {
	s.Helper()
	var b strings.Builder
	if _, err := s.graph.Export(s.ctx, &b, engine.Target{}, engine.ExportOptions{Types: types}); err != nil {
		s.Fatalf("export: %v", err)
	}
	return b.String()
}

// endLoadCases returns the cases of loads and exports.
func endLoadCases() map[string]func(s *session) {
	return map[string]func(s *session){
		"export": func(s *session) {
			if got := s.exported("About", "By"); got != deskExport {
				s.Errorf("the export is\n%s\nwant\n%s", got, deskExport)
			}
		},
		"export and load again": func(s *session) {
			want := s.exported()
			s.mutate(s.change().remove("Person", "name", plan.Ge, "").remove("City", "name", plan.Ge, "").remove("Team", "name", plan.Ge, "").remove("Note", "id", plan.Ge, ""))
			s.load(engine.Append, want)
			if got := s.exported(); got != want {
				s.Errorf("the export is\n%s\nwant\n%s", got, want)
			}
			s.expectEdges("About", deskAbout)
			s.expectEdges("Links", deskLinks)
		},
		"ids with every character": func(s *session) {
			s.load(engine.Merge, `{"type":"City","data":{"id":"a\u0000 \"é","name":"Å"}}
{"edge":"About","from":"n4","to":{"type":"City","id":"a\u0000 \"é"},"data":{"id":"a9"}}`)
			s.expectEdges("About", deskAbout+"\na9 | n4 | {City, a\x00 \"é}")
			if got, want := s.exported("About"), `"to":{"type":"City","id":"a\u0000 \"é"}`; !strings.Contains(got, want) {
				s.Errorf("the export is\n%s\nwant %s in it", got, want)
			}
		},
	}
}
