package access

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// idUses lists each file that reads the id of an actor without its agents, the number of times, and why the agents do not count there. What
// belongs to an actor is keyed by [Actor.Name] or [Actor.Key] instead.
var idUses = []struct {
	file string
	uses int
	why  string
}{
	{"internal/server/internal/audit/recorder.go", 1, "the metric of calls by actor, in which an agent counts as the actor for whom it acts"},
	{"internal/server/access/actor.go", 5, "makes the name, and reads it"},
	{"internal/server/access/caller.go", 1, "actor() in a query is the subject"},
	{"internal/server/auth/tokens.go", 5, "reads and checks each name of a chain, and reserves it"},
	{"internal/server/chain.go", 1, "logs the agents in an attribute of their own"},
	{"internal/server/internal/admission/http.go", 1, "the agents of an actor share its limit of requests in flight, and of subscriptions"},
	{"internal/server/internal/audit/log.go", 2, "logs the agents in an attribute of their own"},
	{"internal/server/policy/links.go", 3, "asks about each link"},
	{"internal/server/policy/policy.go", 2, "InGroup is about the subject alone"},
	{"internal/server/rest/catalog.go", 1, "answers with the agents in a member of their own"},
	{"internal/server/servedgraph/call.go", 2, "the agents of an actor share its slots for large texts"},
	{"internal/server/servedgraph/drafts.go", 3, "compares with the empty name"},
	{"internal/server/servedgraph/listen.go", 1, "compares with the empty name"},
	{"internal/server/servedgraph/servedtest/servedtest.go", 1, "a policy of tests, without agents"},
	{"internal/server/servedgraph/watchturns.go", 1, "the agents of an actor share its turns"},
	{"internal/server/servedgraph/webhookowner.go", 1, "stores the actor, and its agents beside it"},
	{"internal/server/internal/reviewkey/reviewkey.go", 2, "a key belongs to an actor without agents"},
}

// idUse matches a use of the id of an actor.
var idUse = regexp.MustCompile(`\b(?:\w*[aA]ctor|asked\[i\]|a)\.ID\b|\bIDOf\(`)

// notActors are uses that idUse matches and that are about something else.
var notActors = map[string]bool{
	"internal/server/operations/proposalchanges.go": true, "internal/server/cluster/reconcile/revision.go": true,
}

// TestUsesOfActorIDs compares the list with the sources. A new use must be decided: does it key something that belongs to the actor?
func TestUsesOfActorIDs(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	found := map[string]int{}
	for _, dir := range []string{"internal/server", "server", "cmd/omnigraph"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if n := len(idUse.FindAllString(withoutComments(t, path, string(src)), -1)); n > 0 && !notActors[filepath.ToSlash(name)] {
				found[filepath.ToSlash(name)] = n
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range idUses {
		if found[u.file] != u.uses || u.why == "" {
			t.Errorf("%s reads the id of an actor %d times, the list says %d; use Name or Key for what belongs to an actor with its agents, or say here why not", u.file, found[u.file], u.uses)
		}
		delete(found, u.file)
	}
	for file, n := range found {
		t.Errorf("%s reads the id of an actor %d times; use Name or Key for what belongs to an actor with its agents, or add a row here that says why not", file, n)
	}
}

// withoutComments returns the text of a file with blanks in place of its comments.
func withoutComments(t *testing.T, path, src string) string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(src)
	for _, group := range f.Comments {
		for i := set.Position(group.Pos()).Offset; i < set.Position(group.End()).Offset; i++ {
			text[i] = ' '
		}
	}
	return string(text)
}

// TestActorNames checks that the name of an actor with its agents is read back as it was, and that no other text is taken for one.
func TestActorNames(t *testing.T) {
	for _, a := range []*Actor{
		{ID: "ada"}, {ID: "ada", Groups: []string{"people", "two words"}},
		{ID: "ada", Groups: []string{"people"}, Agents: []Agent{{ID: "bot", Groups: []string{"bots", "people"}}, {ID: "via"}, {ID: "bot"}}},
	} {
		again := Named(a.Name(), GroupsOf(a))
		if again.Name() != a.Name() || strings.Join(GroupsOf(again), "|") != strings.Join(GroupsOf(a), "|") || len(again.Groups) != len(a.Groups) {
			t.Errorf("%+v became %+v", a, again)
		}
	}
	for _, text := range []string{"", "ada", "Ada Lovelace", "ada via", " via bot", "ada via ", "Ada Lovelace via bot", "ada via the bot", "ada  via  bot", "a via b via c via d via e via f via g via h via i via j"} {
		if a := Named(text, []string{"g", "0\x00g", "9\x00g", "x\x00g"}); a.ID != text || len(a.Agents) != 0 || len(a.Groups) != 1 {
			t.Errorf("%q was taken for %+v", text, a)
		}
	}
	var nobody *Actor
	if nobody.Name() != "" || nobody.Key() != "" || nobody.AgentIDs() != nil {
		t.Error("a nil actor has a name")
	}
}
