package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// hourSchema and hourData are a graph whose names occur in no description of a tool.
const (
	hourSchema = "node Gadget {\n  sku: String @key\n  cents: I32\n  shelf: String?\n}\n\nedge Replaces: Gadget -> Gadget\n"
	hourData   = `{"type":"Gadget","data":{"sku":"lamp-7","cents":2000}}
{"type":"Gadget","data":{"sku":"stool-3","cents":4500}}
`
)

// openHour makes a graph with hourSchema and hourData, and returns the cluster of the graph.
func openHour(t *testing.T) *cluster.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"schema.pg": hourSchema, "policy.yaml": draftPolicy,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg }\npolicies:\n  base: { file: policy.yaml, applies_to: [people] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: hourSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(t.Context(), fs.OS(), filepath.Join(config.Storage, "people"), hourSchema, schema, embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(t.Context(), strings.NewReader(hourData), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return config
}

// learner is an agent that knows only the words that the server has told it: the instructions, the list of
// tools and the answers of its calls.
type learner struct {
	*testing.T
	session *mcp.ClientSession
	known   map[string]bool
}

// learner connects the official MCP client as an actor, and reads the instructions and the list of tools.
func (w *proposalWorld) learner(actor string) *learner {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.url + "/graphs/people/mcp", HTTPClient: &http.Client{Transport: bearer("the-token-of-" + actor)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { session.Close() })
	l := &learner{T: w.t, session: session, known: map[string]bool{}}
	l.learn(session.InitializeResult().Instructions)
	list, err := session.ListTools(w.t.Context(), nil)
	if err != nil {
		l.Fatal(err)
	}
	b, err := json.Marshal(list.Tools)
	if err != nil {
		l.Fatal(err)
	}
	l.learn(string(b))
	return l
}

// words matches a name, an id or a number.
var words = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// learn adds the words of a text to those that the agent knows.
func (l *learner) learn(text string) {
	for _, word := range words.FindAllString(text, -1) {
		l.known[word] = true
	}
}

// must fails the test unless the agent knows all words of a text.
func (l *learner) must(text string) {
	l.Helper()
	for _, word := range words.FindAllString(text, -1) {
		if _, err := strconv.Atoi(word); err != nil && !l.known[word] {
			l.Fatalf("the script uses %q in %q, which the server did not tell", word, text)
		}
	}
}

// free are the arguments with a text for people, which the agent makes up.
var free = []string{"title", "description", "comment"}

// checkArgs fails the test unless the agent knows all names in arguments.
func (l *learner) checkArgs(args any) {
	l.Helper()
	switch a := args.(type) {
	case map[string]any:
		for name, v := range a {
			l.must(name)
			if !slices.Contains(free, name) {
				l.checkArgs(v)
			}
		}
	case []any:
		for _, v := range a {
			l.checkArgs(v)
		}
	case string:
		l.must(a)
	}
}

// call calls a tool, decodes the answer and learns its words.
func (l *learner) call(into any, name string, args map[string]any) {
	l.Helper()
	l.must(name)
	l.checkArgs(args)
	res, err := l.session.CallTool(l.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		l.Fatal(err)
	}
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			l.learn(text.Text)
		}
	}
	if res.IsError {
		l.Fatalf("%s %v: %s", name, args, res.Content[0].(*mcp.TextContent).Text)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err == nil && into != nil {
		err = json.Unmarshal(named(l.T, b), into)
	}
	if err != nil {
		l.Fatalf("%s: %v in %s", name, err, b)
	}
}

// numberedType is a type of nodes, as type_describe tells of it.
type numberedType struct{ name, key, number string }

// explore learns the query language and a type of nodes that has a number.
func (l *learner) explore() (is numberedType) {
	l.Helper()
	var topics struct{ Topics []struct{ Topic string } }
	l.call(&topics, "gq_reference", nil)
	for _, topic := range topics.Topics {
		l.call(nil, "gq_reference", map[string]any{"topic": topic.Topic})
	}
	var types struct{ Nodes []string }
	l.call(&types, "type_describe", nil)
	line := types.Nodes[0]
	is.name, _, _ = strings.Cut(line, " ")
	for field := range strings.SplitSeq(strings.Trim(line[len(is.name):], " {}"), ", ") {
		name, kind, _ := strings.Cut(strings.TrimSpace(field), ": ")
		switch {
		case strings.HasSuffix(kind, "@key"):
			is.key = name
		case is.number == "" && strings.HasPrefix(kind, "I32"):
			is.number = name
		}
	}
	if is.key == "" || is.number == "" {
		l.Fatalf("found %+v in %q", is, line)
	}
	return is
}

// first reads the number of the node with the first key, from main or from a branch.
func (l *learner) first(is numberedType, branch string) (key string, number int) {
	l.Helper()
	args := map[string]any{"query": fmt.Sprintf("query q() { match { $p: %[1]s } return { $p.%[2]s, $p.%[3]s } order { $p.%[2]s } limit 1 }", is.name, is.key, is.number)}
	if branch != "" {
		args["branch"] = branch
	}
	var answer struct{ Rows []map[string]any }
	l.call(&answer, "graph_query", args)
	row := answer.Rows[0]
	return row["p."+is.key].(string), int(row["p."+is.number].(float64))
}

// set writes the number of a node, and returns the branch that has the write.
func (l *learner) set(is numberedType, key string, number int, branch string) string {
	l.Helper()
	args := map[string]any{"query": fmt.Sprintf("query q() { update %s set { %s: %d } where %s = %q }", is.name, is.number, number, is.key, key)}
	if branch != "" {
		args["branch"] = branch
	}
	var answer struct{ Target client.WriteTarget }
	l.call(&answer, "graph_mutate", args)
	return answer.Target.Branch
}

// TestAgentsHour imitates an hour in which two agents and a person work. Both agents write the same property
// to their drafts, and submit them. The person merges the first proposal, so that the second has a conflict, and
// sends the second one back. Its agent resolves the conflict and mends the value, and the person merges.
//
// The agents use the official MCP client. Each word in their calls (names of tools, arguments, types and branches,
// words of the query language, ids) must have occurred before in the instructions, in tools/list or in an answer.
// The person finds the proposals in the feed and in the list.
func TestAgentsHour(t *testing.T) {
	w := startProposalWorld(t, openHour(t), draftPolicy, &tool.Catalog{Graph: "people"})
	ctx := t.Context()
	one, two, ada := w.learner("act-one"), w.learner("act-two"), w.person("act-ada")
	if one.known["Gadget"] || one.known["cents"] {
		t.Fatal("the agent knows the schema before it asks")
	}

	// Both agents learn the schema, write to their drafts and submit them.
	submit := func(l *learner, raise int, title string) (p builtin.ProposalStatus, is numberedType, key string, was int) {
		is = l.explore()
		key, was = l.first(is, "")
		draft := l.set(is, key, was+raise, "")
		if _, number := l.first(is, "draft"); number != was+raise {
			t.Errorf("the draft reads %d", number)
		}
		if _, number := l.first(is, ""); number != was {
			t.Errorf("main reads %d", number)
		}
		l.call(&p, "proposal_submit", map[string]any{"source": "draft", "title": title})
		if p.Source != draft || p.State != "open" || len(p.Blockers) != 1 {
			t.Errorf("the proposal from %s is %+v", draft, p)
		}
		return p, is, key, was
	}
	first, _, _, _ := submit(one, 100, "Raise the price of the lamp")
	second, is, key, was := submit(two, 200, "Raise the price of the lamp more")

	// The person finds the first proposal in the feed, looks at it, approves it and merges it.
	feed, err := ada.ProposalFeed(ctx, client.ProposalFeedQuery{})
	if err != nil || len(feed.Events) != 2 || feed.Events[0].Kind != "opened" {
		t.Fatalf("the feed has %+v, %v", feed, err)
	}
	decide := func(id, decision, comment string) *client.ProposalAnswer {
		t.Helper()
		p, err := ada.Proposal(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = ada.ReviewProposal(ctx, id, client.ProposalReviewBody{Decision: decision, Digest: p.Digest, Comment: comment}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	merge := func(id string) {
		t.Helper()
		if p, err := ada.MergeProposal(ctx, id, client.ProposalMergeBody{}); err != nil || p.State != "merged" {
			t.Fatalf("the merge of %s: %+v, %v", id, p, err)
		}
	}
	decide(feed.Events[0].ProposalID, client.DecisionApprove, "")
	merge(feed.Events[0].ProposalID)

	// The second agent sees that its proposal now has a conflict, and takes its own value.
	var open struct{ Proposals []client.ProposalSummary }
	two.call(&open, "proposal_get", map[string]any{"state": "open"})
	if len(open.Proposals) != 1 || open.Proposals[0].ID != second.ID {
		t.Fatalf("these proposals are open: %+v", open.Proposals)
	}
	show := func() *client.ProposalAnswer {
		t.Helper()
		var shown struct{ Proposal *client.ProposalAnswer }
		two.call(&shown, "proposal_get", map[string]any{"proposal": open.Proposals[0].ID})
		return shown.Proposal
	}
	now := show()
	if len(now.Conflicts) != 1 || !now.Conflicts[0].Resolvable {
		t.Fatalf("the conflicts are %+v", now.Conflicts)
	}
	c := now.Conflicts[0]
	if base, ours, theirs := string(c.Base.Properties[is.number]), string(c.Ours.Properties[is.number]), string(c.Theirs.Properties[is.number]); base != strconv.Itoa(was) || ours != strconv.Itoa(was+100) || theirs != strconv.Itoa(was+200) {
		t.Errorf("the conflict is between %s, %s and %s", base, ours, theirs)
	}
	two.call(&second, "proposal_resolve", map[string]any{"proposal": now.ID, "digest": now.Digest, "comment": "Ours is newer.", "resolutions": []any{map[string]any{
		"entity_kind": c.EntityKind, "type_name": c.TypeName, "id": c.ID, "property": c.Property, "take": "theirs"}}})
	if second.ConflictCount != 0 {
		t.Errorf("after the resolution: %+v", second)
	}

	// The person finds it in the list, and sends it back with a wish.
	var found []client.ProposalSummary
	for p, err := range ada.AllProposals(ctx, client.ProposalQuery{State: "open"}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, p)
	}
	if len(found) != 1 {
		t.Fatalf("the list has %+v", found)
	}
	if sent := decide(found[0].ID, client.DecisionRequest, fmt.Sprintf("It must be %d.", was+350)); len(sent.Blockers) != 2 {
		t.Errorf("sent back, it has the blockers %q", sent.Blockers)
	}

	// The agent reads the wish in the proposal, and mends the value in its draft.
	now = show()
	last := now.Events[len(now.Events)-1]
	wish, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(last.Comment))
	if last.Kind != "changes_requested" || err != nil {
		t.Fatalf("the last event is %+v, %v", last, err)
	}
	if branch := two.set(is, key, wish, now.Source); branch != second.Source {
		t.Errorf("the agent mends %s", branch)
	}
	two.call(&second, "proposal_submit", map[string]any{"proposal": now.ID, "comment": "Mended."})
	if now = show(); len(now.Conflicts) != 0 || len(now.Blockers) != 1 {
		t.Errorf("the mended proposal has the conflicts %+v and the blockers %q", now.Conflicts, now.Blockers)
	}
	decide(found[0].ID, client.DecisionApprove, "")
	merge(found[0].ID)
	if _, number := two.first(is, ""); number != wish {
		t.Errorf("main reads %d, want %d", number, wish)
	}
	if first.ID == second.ID {
		t.Errorf("both proposals have the id %s", first.ID)
	}
}
