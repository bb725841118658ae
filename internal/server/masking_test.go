package server_test

import (
	"bytes"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestListAgreesWithCall calls each name on each branch as each actor. If the actor's list has the
// tool, the answer must not be that the tool is unknown. Otherwise the answer must be the same,
// byte for byte, as for a tool that does not exist.
func TestListAgreesWithCall(t *testing.T) {
	slow.Test(t)
	eachMode(t, listAgreesWithCall)
}

// withoutHint returns the answer without the suggestion of a tool, which depends only on the unknown name
// and on the tools that the actor sees. It leaves a suggestion of another tool, which would be a leak.
func withoutHint(a answer, seen map[string]listed) answer {
	for name := range seen {
		hint := "; did you mean " + name + "?"
		if size := strconv.Itoa(len(a.body)); strings.Contains(a.body, hint) && a.header.Get("Content-Length") == size {
			a.body = strings.Replace(a.body, hint, "", 1)
			a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
		}
	}
	return a
}

// withoutRun leaves out how a stored query is run by its name, if the list of queries shows it to the actor.
func withoutRun(a answer, name, queries string) answer {
	size := strconv.Itoa(len(a.body))
	at := strings.Index(a.body, "; it is a stored query: ")
	if at < 0 || a.header.Get("Content-Length") != size || !strings.Contains(queries, `"`+name+"(") && !strings.Contains(queries, `"*`+name+"(") {
		return a
	}
	end := at + strings.Index(a.body[at:], "}}") + len("}}") // the end of the example
	a.body = a.body[:at] + a.body[end:]
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	return a
}

func listAgreesWithCall(t *testing.T, m *matrix, perQuery bool) {
	forbidden := map[string]int{}
	hidden := 0
	for _, actor := range matrixActors {
		seen := map[string]listed{}
		for _, tl := range m.list(actor) {
			seen[tl.Name] = tl
		}
		queries := ""
		if _, ok := seen["stored_query_list"]; ok {
			queries = strings.ReplaceAll(m.call(actor, versions[0], "stored_query_list", `{}`).body, `\"`, `"`)
		}
		for _, name := range m.universe {
			tl, ok := seen[name]
			for _, branch := range []string{"main", "release", "feature"} {
				if ok {
					a := m.call(actor, versions[0], name, m.sampleArguments(tl, branch))
					if strings.Contains(a.body, "unknown tool") || a.status != 200 {
						t.Errorf("%s is listed for %s, and on %s answers %d %s", name, actor, branch, a.status, a.body)
					}
					if faultCode(a) == "forbidden" {
						forbidden[actor+" "+name+" "+branch]++
					}
					continue
				}
				hidden++
				for _, version := range versions {
					for _, arguments := range []string{`{}`, `{"branch":"` + branch + `"}`, `{"params":{"name":"ada"},"branch":"` + branch + `"}`, `[1]`, `{"nonsense":true}`} {
						got, want := m.call(actor, version, name, arguments), m.call(actor, version, stranger(name), arguments)
						want.body = strings.ReplaceAll(want.body, stranger(name), name)
						got = withoutRun(withoutHint(got, seen), name, queries)
						if !strings.Contains(got.body, "unknown tool: "+name) && arguments != `[1]` || !equal(got, want) {
							t.Errorf("%s calls %s %s in %s, which it may not see:\n%v\nan unknown tool:\n%v", actor, name, arguments, version, got, want)
						}
					}
				}
				if got, want := withoutRun(withoutHint(m.batch(actor, name), seen), name, queries), m.batch(actor, stranger(name)); got.status != want.status || got.body != strings.ReplaceAll(want.body, stranger(name), name) {
					t.Errorf("%s calls %s in a batch:\n%v\nan unknown tool:\n%v", actor, name, got, want)
				}
			}
		}
	}
	if hidden < 100 {
		t.Errorf("only %d calls were of tools that are not listed", hidden)
	}
	wanted := []string{
		"act-writer graph_mutate main", "act-writer graph_load release", // denied for ad-hoc writes on protected branches
		"act-guarded graph_query main", // denied in every way
		"act-indexer graph_mutate main",
	}
	if perQuery {
		wanted = append(wanted, "act-guarded lookup_person release") // the inner grant is denied there, and not elsewhere
	} else if a := m.call("act-bot", versions[0], "stored_query_run", `{"name":"add_person","params":{"name":"zoe"}}`); !strings.Contains(a.body, "there is no stored query") {
		t.Errorf("a stored query whose inner gate is denied on every branch answers %s", a.body)
	}
	for _, want := range wanted {
		if forbidden[want] == 0 {
			t.Errorf("%s is not answered as forbidden", want)
		}
	}
	for _, not := range []string{"act-writer graph_mutate feature", "act-writer add_person main", "act-guarded graph_query feature", "act-bot lookup_person main", "act-indexer graph_load feature"} {
		if forbidden[not] != 0 {
			t.Errorf("%s is answered as forbidden", not)
		}
	}
}

func equal(a, b answer) bool {
	return a.status == b.status && a.body == b.body && maps.EqualFunc(a.header, b.header, slices.Equal)
}

// invocable maps each actor to the exposed stored queries that it may invoke.
var invocable = map[string][]string{
	"act-admin": exposed, "act-guarded": exposed, "act-reader": exposed, "act-writer": exposed,
	"act-bot": {"find_person", "add_person"},
}

var exposed = []string{"find_person", "everyone", "add_person"}

// TestMaskedQueriesOverREST runs stored queries over REST that the actor may not invoke. The
// answers must be the same, byte for byte, as for a query that does not exist.
func TestMaskedQueriesOverREST(t *testing.T) {
	m := newMatrix(t, "")
	for _, actor := range []string{"act-bot", "act-indexer", "act-nothing"} {
		may := invocable[actor]
		for _, query := range m.stored {
			if slices.Contains(may, query) {
				continue
			}
			for _, body := range []string{`{}`, `{"params":{"name":"ada"}}`, `{"branch":"release"}`, `{"expect_mutation":true}`, `[`, `{"nonsense":1}`} {
				got := m.send(actor, "POST", "/queries/"+query, body, nil)
				want := m.send(actor, "POST", "/queries/"+stranger(query), body, nil)
				want.body = strings.ReplaceAll(want.body, stranger(query), query)
				if got.status == http.StatusOK || !equal(got, want) {
					t.Errorf("%s runs %s with %s:\n%v\nan unknown query:\n%v", actor, query, body, got, want)
				}
			}
		}
	}
}

// TestNothingNamesWhatIsHidden reads, for each actor, everything that the actor can read. No name
// that is hidden from the actor may be in it.
func TestNothingNamesWhatIsHidden(t *testing.T) {
	slow.Test(t)
	eachMode(t, nothingNamesWhatIsHidden)
}

func nothingNamesWhatIsHidden(t *testing.T, m *matrix, _ bool) {
	for _, actor := range matrixActors {
		seen := map[string]bool{}
		for _, tl := range m.list(actor) {
			seen[tl.Name] = true
		}
		for tl, query := range m.stored {
			if slices.Contains(invocable[actor], query) {
				seen[tl], seen[query] = true, true
			}
		}
		var hidden []string
		for _, name := range m.universe {
			if !seen[name] && name != "zzz" {
				hidden = append(hidden, name)
			}
		}
		if actor == "act-nothing" && len(hidden) < 5 {
			t.Fatalf("only %q are hidden from %s", hidden, actor)
		}
		for where, text := range m.readable(actor) {
			for _, name := range hidden {
				// A name that the actor itself sent reveals nothing.
				if regexp.MustCompile(`\b`+name+`\b`).MatchString(strings.ReplaceAll(text, "unknown tool: "+name, "")) && !strings.Contains(where, name) {
					t.Errorf("%s reads of %s in %s:\n%s", actor, name, where, around(text, name))
				}
			}
		}
	}
}

func around(text, name string) string {
	i := strings.Index(text, name)
	return string(bytes.ToValidUTF8([]byte(text[max(0, i-120):min(len(text), i+120)]), nil))
}
