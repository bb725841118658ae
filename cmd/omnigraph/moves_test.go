package main

import (
	"slices"
	"strings"
	"testing"
)

// movesPolicy allows everything, except that each of three actors may not read a certain branch. The
// branches are different.
const movesPolicy = `@id("all")
permit (principal, action, resource);

@id("not-main")
forbid (principal == Actor::"act-not-main", action == Action::"read", resource)
when { context.branch == "main" };

@id("not-secret-plan")
forbid (principal == Actor::"act-not-secret-plan", action == Action::"read", resource)
when { context.branch == "secret-plan" };

@id("not-feature-x")
forbid (principal == Actor::"act-not-feature-x", action == Action::"read", resource)
when { context.branch == "feature-x" };
`

// move is a request that moves or compares data of branches, commits or graphs, with the read
// permissions that it needs for that.
type move struct {
	ask
	what   string // the data that the request moves or compares; "" if it shows at most one state
	reads  string // the branches that the actor must be allowed to read
	writes bool   // the request can change something, so TestTransportsAgree does not send it
	// `faulty` is true if the answer is an error even when the policy allows everything.
	faulty bool
}

const (
	insert  = `query m() { insert Mensch { name: \"zoe\" } }`
	choose  = `query m() { update Mensch set { age: 40 } where name = \"zoe\" }`
	oneLine = `{\"type\":\"Mensch\",\"data\":{\"name\":\"zoe\"}}`
	allPG   = `node Mensch { name: String @key }`
)

// refused reports whether an answer is a refusal by the policy, in one of its forms.
func (s *said) refused() bool {
	return s.fault && slices.ContainsFunc([]string{"does not allow read", `" not found`, `\" not found`, "Resource not found", "unknown prompt"}, func(no string) bool { return strings.Contains(s.text, no) })
}

// TestMoves sends every request of the table as an actor that may do everything, and as three
// actors that each may not read one of the branches. An actor without a read permission of the row
// must be refused, and all other actors must not. The test fails if a route, tool, resource, prompt
// or verb has no row.
func TestMoves(t *testing.T) {
	known := map[string]bool{}
	for mode, graph := range map[string]string{"a tool for each query": "", "two tools for all": ", mcp: { meta_threshold: 1 }"} {
		t.Run(mode, func(t *testing.T) {
			w := newAccessWorld(t, "policy.cedar", movesPolicy, graph, "act-all", "act-not-main", "act-not-secret-plan", "act-not-feature-x")
			for name := range w.everything() {
				known[name] = true
			}
			for _, d := range allTransports() {
				w.moves(d, graph != "")
			}
		})
	}
	rows := map[string]bool{}
	for _, m := range moves {
		if rows[m.name()] = true; m.writes && m.reads != "" && m.what == "" {
			t.Errorf("%s %s%s writes and needs read on %s: say what it moves or compares", m.name(), m.path, m.args, m.reads)
		}
	}
	for name := range known {
		if _, exempt := apart[name]; rows[name] == exempt {
			t.Errorf("%s: in the table of moves: %t, in apart: %t; add it to exactly one, and say in the table what it moves or compares and which read permissions it needs", name, rows[name], exempt)
		}
	}
	for name := range rows {
		if !known[name] {
			t.Errorf("the table of moves has %s, which does not exist", name)
		}
	}
	for name := range apart {
		if !known[name] {
			t.Errorf("apart has %s, which does not exist", name)
		}
	}
}

// moves sends the requests in the table `moves` through a transport.
func (w *accessWorld) moves(d transport, meta bool) {
	w.t.Helper()
	var rows []*move
	for i := range moves {
		// Send each request that is the same in both modes in only one of them.
		if m := &moves[i]; slices.Contains(m.transports(), d) && strings.HasPrefix(m.tool, "stored_query_") == meta {
			rows = append(rows, m)
		}
	}
	for _, without := range []string{"", "main", "secret-plan", "feature-x"} {
		actor := "act-all"
		if without != "" {
			actor = "act-not-" + without
		}
		asks := make([]ask, len(rows))
		for i, m := range rows {
			asks[i] = w.forBranch(m.ask, "feature-x")
		}
		for i, s := range w.sendAll(actor, d, asks) {
			m := rows[i]
			switch want := in(m.reads, without); {
			case s.refused() != want:
				w.t.Errorf("%s over %s by %s: refused %t, want %t\n%s\n%s", m.name(), d, actor, s.refused(), want, s.asked, clipped(s.text))
			case s.fault && !want && !m.faulty:
				w.t.Errorf("%s over %s by %s: %s\n%s", m.name(), d, actor, s.asked, clipped(s.text))
			}
		}
	}
}
