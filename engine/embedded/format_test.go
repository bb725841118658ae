package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// fixtureOptions returns options for the graphs under testdata. Their clock starts shortly
// after the last of the graphs was written, so that no idempotency key has expired.
func fixtureOptions() Options {
	o := crashOptions
	o.Now = func() time.Time { return time.Date(2026, time.November, 20, 16, 0, 0, 0, time.UTC) }
	return o
}

// openFixture copies a graph from testdata into a new folder and opens it.
func openFixture(t *testing.T, name string) (g *Graph, home string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "graph")
	must(t, os.CopyFS(home, os.DirFS(filepath.Join("testdata", name))))
	g, err := Open(t.Context(), fs.OS(), home, fixtureOptions())
	must(t, err)
	return g, home
}

// staysTheSame makes a checkpoint, opens the graph again, and checks that it is intact and
// unchanged.
func staysTheSame(t *testing.T, g *Graph, home string, dump func(*Graph) string) {
	t.Helper()
	ctx := context.Background()
	must(t, g.checkpoints.make(ctx))
	want := dump(g)
	must(t, g.Verify(ctx))
	must(t, g.Close())
	g, err := Open(ctx, fs.OS(), home, fixtureOptions())
	must(t, err)
	defer g.Close()
	if got := dump(g); got != want {
		t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
	}
	must(t, g.Verify(ctx))
}

const (
	newerFormat = " was written by a newer version of this program: %s format 15 is newer than format 14, the newest that this program reads; use a newer program"
	olderFormat = " was written by an earlier version of this program: %s format 9 is older than format 10, the oldest that this program reads; with the version that wrote it, run omnigraph export, and load the result into a new store (branches, history, proposals and drafts stay behind)"
)

// TestOtherFormats opens a graph of which another version of the program has written a file. The error
// must contain both format numbers and must say what to do.
func TestOtherFormats(t *testing.T) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for _, c := range []struct {
		kind, pattern string
		number        byte
		want          string // after the kind
	}{
		{"END", "END", format.Current + 1, newerFormat},
		{"manifest", "*.manifest", format.Current + 1, newerFormat},
		{"END", "END", format.First - 1, olderFormat},
		{"manifest", "*.manifest", format.First - 1, olderFormat},
	} {
		home := filepath.Join(t.TempDir(), "graph")
		g, err := Create(t.Context(), fs.OS(), home, "// people", people(), crashOptions)
		must(t, err)
		must(t, g.Close())
		files, err := filepath.Glob(filepath.Join(home, c.pattern))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %q, error %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		must(t, err)
		data[8] = c.number
		end := len(data) - 4
		binary.LittleEndian.PutUint32(data[end:], crc32.Checksum(data[:end], castagnoli))
		must(t, os.WriteFile(files[0], data, 0o600))
		_, err = Open(t.Context(), fs.OS(), home, crashOptions)
		var newer *engine.NewerFormat
		var older *engine.OlderFormat
		want := files[0] + fmt.Sprintf(c.want, c.kind)
		if !errors.As(err, &newer) && !errors.As(err, &older) || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "corrupt") {
			t.Errorf("open: %v\nwant an error that ends with %q", err, want)
		}
	}
}

// TestFormat10 opens a graph of format 10, and TestInstants one with instants. Nothing replaces the graph, because it
// represents the graphs of users, which an earlier version of the program wrote.
func TestFormat10(t *testing.T) { opensFixture(t, "format10") }

// TestFormat11 opens a graph of format 11, which has sources too. As with format 10, nothing replaces it.
func TestFormat11(t *testing.T) { opensSynced(t, "format11") }

// TestFormat12 opens a graph of format 12, which has messages of commits too. As with format 10, nothing replaces it.
func TestFormat12(t *testing.T) { opensWithMessages(t, "format12") }

// TestFormat13 opens a graph of format 13, which has watches too. As with format 10, nothing replaces it.
func TestFormat13(t *testing.T) { opensWithWatches(t, "format13") }

// TestFormat14 opens a graph of format 14, the current format. With -update, the test makes the graph with makeFormat14, but
// only if the folder is missing. When a new format follows, remove the -update branch here.
func TestFormat14(t *testing.T) {
	home := filepath.Join("testdata", "format14")
	if _, err := os.Stat(home); golden.Updating() && errors.Is(err, os.ErrNotExist) {
		makeFormat14(t, home)
		must(t, os.Remove(filepath.Join(home, "LOCK")))
	}
	opensWithWatches(t, "format14")
	g, _ := openFixture(t, "format14")
	defer g.Close()
	golden.Check(t, home+".origins.golden", []byte(origins(g)))
}

// origins describes the origins of the people on main that have a tool, an actor or a proposal.
func origins(g *Graph) string {
	var b strings.Builder
	head := g.branches.main.head.Load().snap
	table, of := head.Nodes(0), g.history.Proposals(head.Commit.ID)
	for ord := range table.Ordinals() {
		if !table.Alive(ord) {
			continue
		}
		o, _ := g.history.Origin(table.Stamp(ord).Changed)
		proposal := of(table.Stamp(ord).Changed)
		if proposal != "" {
			proposal = "some"
		}
		if o.Tool+o.Actor+proposal != "" {
			fmt.Fprintf(&b, "%s by %q with %q, proposal %q\n", table.ID(ord), o.Actor, o.Tool, proposal)
		}
	}
	return b.String()
}

// opensWithWatches opens a fixture that has watches.
func opensWithWatches(t *testing.T, name string) {
	t.Helper()
	opensWithMessages(t, name)
	g, _ := openFixture(t, name)
	defer g.Close()
	want := `watch 0 of "ann": people {"name":"ann"} on main after 1.5s
watch 1 of "bob": people {"name":"bob"} on main after 1.5s
`
	if got := dumpWatches(g); got != want {
		t.Errorf("the watches are\n%s\nwant\n%s", got, want)
	}
}

// opensWithMessages opens a fixture that has messages of commits.
func opensWithMessages(t *testing.T, name string) {
	t.Helper()
	opensSynced(t, name)
	g, _ := openFixture(t, name)
	defer g.Close()
	var messages []string
	for _, branch := range []string{"side", ""} {
		for _, c := range must1(g.Commits(t.Context(), branch, engine.CommitRange{})) {
			if c.Message != "" {
				messages = append(messages, c.Message)
			}
		}
	}
	if want := []string{"before\nthe checkpoint", "after the checkpoint"}; !slices.Equal(messages, want) {
		t.Errorf("messages %q, want %q", messages, want)
	}
}

// opensSynced opens a fixture that has entities of sources.
func opensSynced(t *testing.T, name string) {
	t.Helper()
	g, folder := openFixture(t, name)
	golden.Check(t, filepath.Join("testdata", name+".sources.golden"), []byte(exported(t, g, "synced")+"late\n"+exported(t, g, "late-sync")))
	must1(g.Merge(t.Context(), "late-sync", "synced", engine.MergeOptions{}))
	staysTheSame(t, g, folder, func(g *Graph) string { return exported(t, g, "synced") })
	opensFixture(t, name)
}

// opensFixture opens a fixture that makeFormat14 made, or its like of an earlier format.
func opensFixture(t *testing.T, name string) {
	t.Helper()
	hasLevels(t, name)
	hasStoredOrder(t, name)
	g, _ := openFixture(t, name)
	for part, dump := range map[string]func(*Graph) string{"proposals": dumpProposals, "drafts": dumpDrafts, "events": dumpEvents} {
		golden.Check(t, filepath.Join("testdata", name+"."+part+".golden"), []byte(dump(g)))
	}
	must(t, g.Close())
	opensWhole(t, name)
}

// dumpEvents describes the events of all proposals with their ids, in their order.
func dumpEvents(g *Graph) string {
	var b strings.Builder
	page := must1(g.ProposalEvents(context.Background(), engine.EventRange{}))
	for _, e := range page.List {
		fmt.Fprintf(&b, "%s %s %s %s\n", e.ID, e.Proposal.Source, e.Kind, e.State())
	}
	fmt.Fprintf(&b, "latest %s, reclaimed %q\n", page.Latest, g.branches.proposals.reclaimed)
	return b.String()
}

// hasLevels checks that indexes of a fixture have several levels.
func hasLevels(t *testing.T, name string) {
	t.Helper()
	g, _ := openFixture(t, name)
	head := g.branches.main.head.Load().snap
	for _, table := range []*version.Table{head.Nodes(0), head.Edges(0)} {
		if n := table.Levels(); n < 2 {
			t.Errorf("the indexes of %s have %d levels, expected 2 or more", table.Type.Name, n)
		}
	}
	must(t, g.Close())
}

// hasStoredOrder checks that a fixture has a stored sorted index of the first property of persons.
func hasStoredOrder(t *testing.T, name string) {
	t.Helper()
	g, _ := openFixture(t, name)
	view, err := g.branches.main.head.Load().snap.Nodes(0).SortedBy(t.Context(), 0, func(int) bool { return false })
	must(t, err)
	if view == nil {
		t.Errorf("%s: the sorted index is not stored", name)
	}
	must(t, g.Close())
}

// opensWhole opens such a fixture and changes it.
func opensWhole(t *testing.T, name string) {
	ctx := context.Background()
	whole := script{past: true}
	g, home := openFixture(t, name)
	must(t, g.Verify(ctx))
	golden.Check(t, filepath.Join("testdata", name+".golden"), []byte(whole.dump(g)+"\n"))
	if !slices.ContainsFunc(g.branches.states(), sharesFile) {
		t.Error("no branch has a segment that shares its file with another's")
	}
	again := engine.WriteOptions{Branch: "side", IdempotencyKey: "k", Actor: "ann"}
	before, err := g.Snapshot(ctx, engine.Target{Branch: "side"})
	must(t, err)
	if c, err := g.Mutate(ctx, insertPerson, engine.Args{str("zoe"), num(1)}, again); err != nil || c.Commit == nil || c.Commit.Seq > before.Commit.Seq {
		t.Errorf("a call with a receipt of %s returns %+v, %v", name, c, err)
	}
	must(t, applySchema("main", townsfolk(), false).do(g))
	_, err = g.Merge(ctx, "side", "main", engine.MergeOptions{})
	must(t, err)
	_, err = g.Merge(ctx, "two", "one", engine.MergeOptions{})
	must(t, err)
	_, err = search(g, "hello")
	must(t, err)
	staysTheSame(t, g, home, whole.dump)
}

// sharesFile reports whether a segment of the state shares its file with others.
func sharesFile(s *version.Snapshot) bool {
	for _, table := range s.Tables() {
		for _, seg := range table.Segs {
			if fileOf(seg.Name) != seg.Name {
				return true
			}
		}
	}
	return false
}

// makeFormat14 makes a graph with every kind of stored data: branches, history, a past with anchors,
// receipts, indexes (including several levels, text indexes and sorted indexes), large commits,
// compressed blocks, proposals, drafts, memberships, messages of commits, watches, and records after the last checkpoint.
func makeFormat14(t *testing.T, home string) {
	t.Helper()
	ctx := context.Background()
	g, err := Create(ctx, fs.OS(), home, "// people", people(), fixtureOptions())
	must(t, err)
	for _, d := range []deed{
		loading("", engine.Merge, manyPeople(0, 40)),
		loading("", engine.Merge, `{"type":"Note","data":{"id":"n1","text":"hello world"}}`+"\n"+`{"edge":"About","from":"n1","to":"p000001","data":{"id":"a1"}}`),
		loading("", engine.Merge, manyNotes(400)), // enough of them for their texts to be compressed
		{"Query", func(g *Graph) error { _, err := search(g, "hello"); return err }},
		{"Query", func(g *Graph) error { _, err := firstByName(g); return err }},
		checkpoint,
		forking("side", ""),
		mutation(insertPerson, engine.WriteOptions{Branch: "side", Actor: "ann", IdempotencyKey: "k", Message: "before\nthe checkpoint"}, "zoe", 1),
		mutation(birthday, on(""), 77, 3),
		merging("side", "main", engine.MergeOptions{}),
		mutation(deletePerson, on(""), "p000002"),
		mutation(addTwo, on(""), "newcomer1", "p000001", "k1"),
		mutation(addTwo, on(""), "newcomer2", "p000003", "k2"),
		mutation(addTwo, on(""), "newcomer3", "newcomer1", "k3"),
		checkpoint,
		forking("one", ""),
		insert("one", "first of one", 1),
		forking("two", ""),
		insert("two", "first of two", 2),
		merging("one", "two", engine.MergeOptions{}),
		merging("two", "one", engine.MergeOptions{}),
		insert("one", "second of one", 3),
		insert("two", "second of two", 4),
		forking("kept", ""),
		insert("kept", "first of kept", 7),
		putProposal("kept", openedBy("ann")),
		watching("ann", "people", ""),
		watching("ann", "notes", ""),
		forking("merged", ""),
		insert("merged", "first of merged", 8),
		putProposal("merged", openedBy("bob")),
		mergingProposal("merged"),
		openingDraft("ann", ""),
		openingDraft("bob", "second"),
		inDraft("bob", "second", func(branch string) deed { return insert(branch, "first of second", 10) }),
		openingDraft("bob", ""),
		inDraft("bob", "", func(branch string) deed {
			return mutation(insertPerson, engine.WriteOptions{Branch: branch, Actor: "bob", IdempotencyKey: "k"}, "first of bob", 11)
		}),
		inDraft("bob", "", func(branch string) deed { return merging(branch, "main", engine.MergeOptions{Actor: "cid"}) }),
		checkpoint,
		unwatching("ann", "notes"),
		watching("bob", "people", ""),
		openingDraft("ann", "late"),
		inDraft("ann", "late", func(branch string) deed { return insert(branch, "first of late draft", 12) }),
		endingDraft("ann", "", engine.DraftEnd{State: engine.DraftExpired}),
		inDraft("bob", "second", func(branch string) deed { return merging(branch, "main", engine.MergeOptions{}) }),
		putProposal("kept", approvedBy("cid")),
		forking("late", ""),
		insert("late", "first of late", 9),
		putProposal("late", openedBy("dan")),
		mergingProposal("late"),
		forking("deep/er", "side"),
		loading("deep/er", engine.Merge, manyPeople(50, 30)),
		dropping("deep/er"),
		insert("side", "last", 5),
		mutation(insertPerson, engine.WriteOptions{Message: "after the checkpoint", Actor: "dan", Tool: "add_person"}, "very last", 6),
		forking("synced", "two"),
		synchronising("synced", "crm", manyPeople(100, 40), 0),
		mutation(birthday, on("synced"), 77, 13),
		forking("late-sync", "synced"),
		synchronising("synced", "erp", manyPeople(100, 3), 0),
		synchronising("synced", "crm", manyPeople(102, 36)+manyPeople(200, 30), 8),
		synchronising("late-sync", "hr", manyPeople(105, 2), 0),
	} {
		must(t, d.do(g))
	}
	must(t, g.Close())
}

// manyNotes returns notes that are similar.
func manyNotes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Note","data":{"id":"note%04d","text":"A note of some length, which has the number %d."}}`+"\n", i, i)
	}
	return b.String()
}
