package embedded

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// script is a sequence of calls for the tests of crashes and failures. Every id is given
// explicitly, so that a call always makes the same state.
type script struct {
	name  string
	deeds []deed
	past  bool                         // whether to compare the history that can still be read, too
	made  func(t *testing.T, g *Graph) // checks the graph after a complete run; may be nil

	answers func(g *Graph) string // answers of a graph that belong to its state; may be nil
	stored  *reopenedIndexes      // counts the reopened graphs; may be nil
}

// deed is one call of a script. It is acknowledged if it returns nil.
type deed struct {
	call string // name of the engine's method
	do   func(g *Graph) error
}

// reads are the methods of an engine that write nothing durable.
var reads = []string{"Bind", "Branches", "Changes", "Close", "Commit", "Commits", "Compare", "Draft", "Drafts", "Explain", "Export", "Failure", "MustReopen", "Preview", "Proposal", "ProposalEvents", "Proposals", "Query", "Schema", "Snapshot", "Stats", "Verify", "Watches"}

// TestScriptsDoEverything checks that the scripts call every method of an engine that writes.
func TestScriptsDoEverything(t *testing.T) {
	var calls []string
	for _, s := range scripts() {
		for _, d := range s.deeds {
			calls = append(calls, d.call)
		}
	}
	for m := range reflect.TypeFor[engine.Graph]().Methods() {
		if !slices.Contains(reads, m.Name) && !slices.Contains(calls, m.Name) {
			t.Errorf("no script calls %s: no test cuts the power in the midst of it; add a deed to scripts", m.Name)
		}
	}
}

var checkpoint = deed{"checkpoint", func(g *Graph) error { return g.checkpoints.make(context.Background()) }}

func mutation(q *plan.Query, opts engine.WriteOptions, args ...any) deed {
	var values engine.Args
	for _, a := range args {
		switch a := a.(type) {
		case string:
			values = append(values, str(a))
		case int:
			values = append(values, num(a))
		}
	}
	return deed{"Mutate", func(g *Graph) error {
		_, err := g.Mutate(context.Background(), q, values, opts)
		return err
	}}
}

func on(branch string) engine.WriteOptions { return engine.WriteOptions{Branch: branch} }

func insert(branch, name string, age int) deed {
	return mutation(insertPerson, on(branch), name, age)
}

func loading(branch string, mode engine.LoadMode, text string) deed {
	return deed{"Load", func(g *Graph) error {
		_, err := g.Load(context.Background(), strings.NewReader(text), engine.LoadOptions{Mode: mode, WriteOptions: on(branch)})
		return err
	}}
}

func forking(name, from string) deed {
	return deed{"CreateBranch", func(g *Graph) error {
		_, err := g.CreateBranch(context.Background(), name, engine.Target{Branch: from})
		return err
	}}
}

func dropping(name string) deed {
	return deed{"DeleteBranch", func(g *Graph) error { return g.DeleteBranch(context.Background(), name) }}
}

// droppingSeen deletes a branch with DeleteBranchAt. The condition is that the head of the branch
// is the current one.
func droppingSeen(name string) deed {
	return deed{"DeleteBranchAt", func(g *Graph) error {
		s, err := g.Snapshot(context.Background(), engine.Target{Branch: name})
		if err != nil {
			return err
		}
		return g.DeleteBranchAt(context.Background(), name, s.Commit.ID)
	}}
}

func merging(source, target string, opts engine.MergeOptions) deed {
	return deed{"Merge", func(g *Graph) error {
		_, err := g.Merge(context.Background(), source, target, opts)
		return err
	}}
}

func scripts() []script {
	return []script{
		{name: "one branch", deeds: []deed{
			mutation(insertPerson, engine.WriteOptions{Actor: "tester", IdempotencyKey: "first"}, "ann", 30),
			insert("", "bob", 31),
			mutation(connect, on(""), "ann", "bob", "k1"),
			loading("", engine.Merge, `{"type":"Person","data":{"name":"cat","tags":["a","b"]}}`+"\n"+`{"type":"Note","data":{"id":"n1","text":"hello"}}`+"\n"+`{"edge":"About","from":"n1","to":"cat","data":{"id":"a1"}}`),
			checkpoint,
			loading("", engine.Append, manyPeople(0, 40)), // stored as segments
			insert("", "dan", 40),
			mutation(birthday, on(""), 77, 3),
			checkpoint,
			loading("", engine.Merge, manyPeople(20, 40)),
			mutation(deletePerson, on(""), "p000010"),
			checkpoint,
			insert("", "ann", 99),
			loading("", engine.Overwrite, `{"edge":"Knows","from":"ann","to":"dan","data":{"id":"k9"}}`),
			loading("", engine.Overwrite, manyPeople(100, 30)+`{"type":"Person","data":{"name":"cat"}}`),
			insert("", "eve", 5),
			checkpoint,
			insert("", "fay", 6),
			loading("", engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`),
			checkpoint, // a rewrite: most numbers belong to deleted entities
			insert("", "gus", 7),
			loading("", engine.Merge, manyPeople(10, 30)),
			mutation(connect, on(""), "gus", "p000011", "k2"),
		}, made: func(t *testing.T, g *Graph) {
			if n := g.branches.main.head.Load().snap.Nodes(0).Ordinals(); n > 40 {
				t.Errorf("%d numbers are assigned: nothing was rewritten", n)
			}
		}},
		{name: "branches", deeds: []deed{
			loading("", engine.Merge, manyPeople(0, 12)),
			insert("", "ann", 30),
			forking("side", ""),
			mutation(insertPerson, engine.WriteOptions{Branch: "side", Actor: "tester", IdempotencyKey: "bob"}, "bob", 31),
			insert("", "cat", 32),
			checkpoint,
			mutation(deletePerson, on("side"), "p000003"),
			forking("deep/er", "side"),
			loading("deep/er", engine.Merge, manyPeople(20, 30)), // stored as segments
			insert("", "dan", 33),
			merging("side", "main", engine.MergeOptions{Actor: "tester", IdempotencyKey: "once"}),
			insert("side", "ann", 99),
			checkpoint,
			merging("deep/er", "main", engine.MergeOptions{}), // its operations go to a segment
			dropping("side"),
			forking("side", "deep/er"),
			insert("side", "eve", 5),
			checkpoint,
			droppingSeen("deep/er"),
			merging("side", "main", engine.MergeOptions{}),
			merging("main", "side", engine.MergeOptions{}),
			insert("main", "fay", 6),
		}},
		{name: "proposals", past: true, deeds: proposing()},
		{name: "drafts", past: true, deeds: drafting()},
		{name: "watches", past: true, deeds: watchesScript()},
		schemaScript(),
		{name: "history", past: true, deeds: history(), made: func(t *testing.T, g *Graph) {
			if n := g.branches.main.head.Load().snap.Nodes(0).Ordinals(); n > 60 {
				t.Errorf("%d numbers are assigned: nothing was rewritten", n)
			}
		}},
		indexing(),
		{name: "sync", answers: sources, deeds: []deed{
			synchronising("", "crm", manyPeople(0, 40), 0),
			checkpoint,
			synchronising("", "crm", manyPeople(12, 28)+manyPeople(100, 30), 24), // the deletions go to segments of their own
			synchronising("", "erp", manyPeople(20, 30), 0),
			synchronising("", "crm", manyPeople(130, 40), 75), // it lets go of some, deletes others
			insert("", "ann", 30),
			checkpoint,
			synchronising("", "crm", manyPeople(200, 40), 79),
		}},
	}
}

// history makes branches at commits of the past, and reclaims some of the past.
func history() []deed {
	return []deed{
		insert("", "ann", 30),
		insert("", "bob", 31),
		mutation(connect, on(""), "ann", "bob", "k1"),
		loading("", engine.Merge, `{"type":"Person","data":{"name":"cat","tags":["a","b"]}}`+"\n"+`{"type":"Note","data":{"id":"n1","text":"hello"}}`+"\n"+`{"edge":"About","from":"n1","to":"cat","data":{"id":"a1"}}`),
		checkpoint,
		loading("", engine.Merge, manyPeople(0, 40)), // stored as segments
		mutation(birthday, on(""), 77, 3),
		checkpoint,
		loading("", engine.Merge, manyPeople(20, 40)),
		mutation(deletePerson, on(""), "p000010"),
		checkpoint,
		loading("", engine.Overwrite, manyPeople(100, 30)+`{"type":"Person","data":{"name":"cat"}}`),
		insert("", "eve", 5),
		checkpoint,
		loading("", engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`),
		checkpoint, // a rewrite: most numbers belong to deleted entities
		loading("", engine.Merge, manyPeople(10, 30)),
		{"CreateBranch", func(g *Graph) error { // begins at a commit of the past
			commits, err := g.Commits(context.Background(), "", engine.CommitRange{Before: 4, Limit: 1})
			if err == nil {
				_, err = g.CreateBranch(context.Background(), "side", engine.Target{Commit: commits[0].ID})
			}
			return err
		}},
		insert("side", "ida", 9),
		merging("side", "main", engine.MergeOptions{}),
		cleaning(engine.CleanupOptions{KeepCommits: 5}),
		insert("", "hal", 8),
		loading("", engine.Merge, manyPeople(30, 30)),
		dropping("side"),
		cleaning(engine.CleanupOptions{KeepCommits: 2}),
		insert("", "ivy", 9),
		cleaning(engine.CleanupOptions{}),
		insert("", "jon", 10),
	}
}

// openedBy returns a change that opens a proposal for main.
func openedBy(actor string) func(p *engine.Proposal) {
	return func(p *engine.Proposal) {
		p.Title, p.Description, p.Author, p.Target = "By "+actor, "why", actor, "main"
		p.Events = []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: actor}}
	}
}

// approvedBy returns a change that approves a proposal and adds resolutions of every kind.
func approvedBy(actor string) func(p *engine.Proposal) {
	return func(p *engine.Proposal) {
		place := func(property string) engine.ConflictPlace {
			return engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann", Property: property}
		}
		p.Resolutions = []engine.Resolution{
			{ConflictPlace: place("age"), Take: engine.TakeValue, Value: num(33)},
			{ConflictPlace: place("tags"), Take: engine.TakeValue, Value: value.OfList(value.String, []value.Value{str("a"), str("b")})},
			{ConflictPlace: place("name"), Take: engine.TakeOurs},
			{ConflictPlace: place(""), Take: engine.TakeTheirs},
		}
		p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventApproved, Actor: actor, Groups: []string{"reviewers"}, Text: "good", Digest: "sha256:1",
			On: engine.ChangePosition{Entity: "node", Type: "Person", ID: "ann"}})
	}
}

// proposing opens, reviews, merges and closes proposals between checkpoints, a rewrite and cleanups.
func proposing() []deed {
	return []deed{
		loading("", engine.Merge, manyPeople(0, 40)),
		insert("", "ann", 30),
		forking("draft/a", ""),
		insert("draft/a", "ann", 31),
		putProposal("draft/a", func(p *engine.Proposal) {
			p.Title, p.Author, p.Target = "Ann is older", "ann", "main"
			p.Events = []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: "ann"}}
		}),
		insert("", "ann", 32),
		checkpoint,
		putProposal("draft/a", func(p *engine.Proposal) {
			place := engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann", Property: "age"}
			p.Resolutions = []engine.Resolution{{ConflictPlace: place, Take: engine.TakeValue, Value: num(33)}}
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventApproved, Actor: "bob", Groups: []string{"reviewers"}, Text: "good", Digest: "sha256:1"})
		}),
		mergingProposal("draft/a"),
		dropping("draft/a"),
		checkpoint,
		forking("draft/b", ""),
		loading("draft/b", engine.Merge, manyPeople(50, 30)), // stored as segments
		putProposal("draft/b", func(p *engine.Proposal) { p.Target = "main" }),
		loading("", engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`),
		checkpoint, // a rewrite: most numbers belong to deleted entities
		putProposal("draft/b", func(p *engine.Proposal) {
			p.State = engine.ProposalClosed
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventClosed, Actor: "ann"})
		}),
		dropping("draft/b"),
		cleaning(engine.CleanupOptions{KeepCommits: 1}),
		insert("", "ivy", 9),
		checkpoint,
		insert("", "jon", 10),
	}
}

// proposalFrom returns the newest proposal from a branch, or a new one.
func proposalFrom(g *Graph, source string) (engine.Proposal, error) {
	all, err := g.Proposals(context.Background(), engine.ProposalRange{})
	for _, p := range all {
		if p.Source == source {
			return p, nil
		}
	}
	return engine.Proposal{Source: source}, err
}

// putProposal changes the newest proposal from a branch, or opens one.
func putProposal(source string, change func(p *engine.Proposal)) deed {
	return deed{"PutProposal", func(g *Graph) error {
		p, err := proposalFrom(g, source)
		if err != nil {
			return err
		}
		change(&p)
		_, err = g.PutProposal(context.Background(), p)
		return err
	}}
}

// mergingProposal merges the newest proposal from a branch.
func mergingProposal(source string) deed {
	return deed{"Merge", func(g *Graph) error {
		p, err := proposalFrom(g, source)
		if err != nil {
			return err
		}
		p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "bob"})
		_, err = g.Merge(context.Background(), p.Source, p.Target, engine.MergeOptions{Actor: "bob", Resolutions: p.Resolutions, Proposal: &p})
		return err
	}}
}

// dumpProposals describes the proposals, and the states of their commits.
func dumpProposals(g *Graph) string {
	var b strings.Builder
	for _, p := range must1(g.Proposals(context.Background(), engine.ProposalRange{})) {
		fmt.Fprintf(&b, "proposal %s to %s, revision %d, %s, %q by %s\n", p.Source, p.Target, p.Revision, p.State, p.Title, p.Author)
		for _, r := range p.Resolutions {
			fmt.Fprintf(&b, "  resolution %v %s %v\n", r.ConflictPlace, r.Take, r.Value)
		}
		for _, e := range p.Events {
			fmt.Fprintf(&b, "  %s %s %v %q %s\n", e.Kind, e.Actor, e.Groups, e.Text, e.Digest)
		}
		for _, id := range []string{p.Base, p.Head, p.TargetHead, p.Merge} {
			if id == "" {
				continue
			}
			h := fnv.New64()
			h.Write([]byte(dump(must1(g.snapshot(context.Background(), engine.Target{Commit: id})))))
			fmt.Fprintf(&b, "  commit %x\n", h.Sum64())
		}
	}
	return b.String()
}

// reclaiming is the number of calls in the script of the function history before the first cleanup.
var reclaiming = func() int { return len(history()) - 8 }()

func cleaning(opts engine.CleanupOptions) deed {
	return deed{"Cleanup", func(g *Graph) error {
		_, err := g.Cleanup(context.Background(), opts)
		return err
	}}
}

// dump describes the content of a graph.
func (s script) dump(g *Graph) string {
	text := dumpAll(g)
	if s.answers != nil {
		text += "\n" + s.answers(g)
	}
	if !s.past {
		return text
	}
	text += dumpProposals(g) + dumpDrafts(g) + dumpWatches(g)
	seen := map[string]bool{}
	for _, b := range must1(g.Branches(context.Background())) {
		for _, c := range must1(g.Commits(context.Background(), b.Name, engine.CommitRange{})) {
			if seen[c.ID] {
				continue
			}
			seen[c.ID] = true
			at := "gone"
			var missing *engine.NotFound
			switch snap, err := g.snapshot(context.Background(), engine.Target{Commit: c.ID}); {
			case err == nil:
				h := fnv.New64()
				h.Write([]byte(dump(snap)))
				at = fmt.Sprintf("%x", h.Sum64())
			case !errors.As(err, &missing) || missing.What != notKept:
				at = err.Error()
			}
			text += fmt.Sprintf("%s/%d: %s\n", c.Branch, c.Seq, at)
		}
	}
	for i, d := range must1(g.Drafts(context.Background(), engine.DraftRange{})) {
		text = strings.ReplaceAll(text, d.Branch(), fmt.Sprint("draft ", i)) // ids differ from run to run
	}
	return text
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
