package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// validCases returns the cases of valid time for callers with rights.
func validCases() []testCase {
	return []testCase{{name: "valid time/a hidden end", schema: func() *catalog.Schema { return compileSchema("valid") }, run: hiddenEnd}}
}

// hiddenEnd reads and writes with rights that hide when edges end to be valid, in turns with another caller.
func hiddenEnd(s *session) {
	s.load(engine.Append, textFile("valid.ndjson"))
	hides := func(digest, property string) *engine.Rights {
		return &engine.Rights{Digest: digest, Edges: map[string]*engine.TypeRights{"WorksAt": {Properties: []string{property}}}}
	}
	without, all := hides("without until", "until"), &engine.Rights{Digest: "all"}
	const read = `() { match valid at date("2024-03-04") { $p $w:worksAt $c } return { $w.id } order { $w.id } }`
	for range 2 {
		for _, c := range []struct {
			rights *engine.Rights
			want   string
		}{{nil, "w1 w3"}, {without, "w1 w2 w3"}, {all, "w1 w3"}} {
			if got := s.seen(engine.Target{Rights: c.rights}, read); got != c.want {
				s.Errorf("with the rights %+v: %s, expected %s", c.rights, got, c.want)
			}
		}
	}
	for _, c := range []struct{ text, hidden, fails string }{
		{`update WorksAt set { since: date("2024-03-02") } where id = "w2"`, "until", "*engine.NotAllowed"},
		{`update WorksAt set { since: date("2024-03-04") } where id = "w2"`, "until", "*engine.NotAllowed"}, // after the hidden end
		{`update WorksAt set { since: date("2024-03-04") } where id = "w1"`, "until", "*engine.NotAllowed"}, // without an end
		{`update WorksAt set { until: date("2024-02-01") } where id = "w2"`, "since", "*engine.NotAllowed"},
		{`insert WorksAt { from: "ann" to: "blip" since: date("2024-03-04") }`, "until", ""},
		{`delete WorksAt where id = "w2"`, "until", ""},
	} {
		_, err := s.graph.Mutate(s.ctx, s.text("() { "+c.text+" }"), nil, engine.WriteOptions{Reads: hides(c.hidden+" hidden", c.hidden), DryRun: true})
		if !failsAs(err, c.fails) {
			s.Errorf("%s without %s: %v, expected %q", c.text, c.hidden, err, c.fails)
		}
	}
}
