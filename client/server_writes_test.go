package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestApplySchema applies a schema. It also checks that the server refuses a schema that would lose
// data.
func TestApplySchema(t *testing.T) {
	g, ctx := startGraph(t), t.Context()
	old, err := g.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.ApplySchema(ctx, client.SchemaBody{SchemaSource: old.SchemaSource + "\nnode More { name: String @key }\n"})
	if err != nil || !a.Applied || a.GraphCommitID == nil || a.StepCount != 1 || a.URI != "omnigraph://code" {
		t.Errorf("%+v, %v", a, err)
	}
	lossy := client.SchemaBody{SchemaSource: strings.Replace(old.SchemaSource, "  content: Blob?\n", "", 1), DryRun: true}
	if a, err = g.ApplySchema(ctx, lossy); err != nil || !a.Destructive || a.Applied {
		t.Errorf("a plan: %+v, %v", a, err)
	}
	lossy.DryRun = false
	var refused *client.Error
	if _, err = g.ApplySchema(ctx, lossy); !asError(err, &refused) || refused.Code != client.CodeConflict || !refused.Is(client.ErrConflict) {
		t.Errorf("loss of data: %v", err)
	}
}

// TestWriteOnce sends the same write with the same key to a server twice.
func TestWriteOnce(t *testing.T) {
	g, ctx := startGraph(t), t.Context()
	body := client.MutateBody{Query: `query m() { insert Note { slug: "a", text: "t", created: datetime("2024-05-01T12:30:00Z") } }`}
	first, err := g.Mutate(ctx, body, client.IdempotencyKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := g.Mutate(ctx, body, client.IdempotencyKey("k"))
	if err != nil || second.Commit == nil || second.Commit.GraphCommitID != first.Commit.GraphCommitID {
		t.Errorf("the second write: %+v, %v; the first: %+v", second, err, first)
	}
	commits := 0
	for range g.AllCommits(ctx, client.CommitQuery{}) {
		commits++
	}
	if commits != 3 { // one each for the empty graph, the seed and the note
		t.Errorf("there are %d commits", commits)
	}
}

// TestLoadChanges loads changes of a followed database, and reads their position.
func TestLoadChanges(t *testing.T) {
	g, ctx := startGraph(t), t.Context()
	load := func(after, position, lines string) (*client.LoadAnswer, error) {
		return g.Load(ctx, strings.NewReader(lines), client.LoadQuery{Mode: client.ModePatch, Followed: "db", After: after, Position: position})
	}
	a, err := load("", "1", `{"type":"Note","data":{"slug":"a","text":"t","created":"2024-05-01T12:30:00Z"}}`)
	if err != nil || a.Position != "1" || a.Commit == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err = load("1", "2", `{"type":"Note","delete":"a"}`); err != nil || a.Position != "2" {
		t.Errorf("a delete: %+v, %v", a, err)
	}
	if a, err = load("", "", ""); err != nil || a.Position != "2" || a.Commit != nil {
		t.Errorf("the position: %+v, %v", a, err)
	}
	if _, err = load("1", "3", ""); !errors.Is(err, client.ErrConflict) {
		t.Errorf("after another position: %v, expected a conflict", err)
	}
}

// TestIteratorsOfAServer reads every list of a server page by page.
func TestIteratorsOfAServer(t *testing.T) {
	g, ctx := startGraph(t), context.Background()
	names := []string{}
	for row, err := range g.QueryRows(ctx, client.QueryBody{Query: "query q() { match { $p: Package } return { $p.name as name } order { $p.name } }"}, 1) {
		var p struct{ Name string }
		if err != nil || row.Decode(&p) != nil {
			t.Fatal(err)
		}
		names = append(names, p.Name)
	}
	if strings.Join(names, " ") != "a b" {
		t.Errorf("the packages are %v", names)
	}
	rows := 0
	for _, err := range g.InvokeRows(ctx, "heaviest_packages", client.InvokeBody{}, 1) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != 1 {
		t.Errorf("%d packages hold symbols, want 1", rows)
	}
	answer, err := g.InvokeAll(ctx, "heaviest_packages", client.InvokeBody{})
	if err != nil || answer.Mutation != nil || len(answer.Read.Rows) != 1 {
		t.Errorf("%+v, %v", answer, err)
	}
	answer, err = g.InvokeAll(ctx, "remove_note", client.InvokeBody{Params: map[string]any{"slug": "a"}, DryRun: true})
	if err != nil || answer.Read != nil || !answer.Mutation.DryRun {
		t.Errorf("%+v, %v", answer, err)
	}
	for _, err := range g.InvokeRows(ctx, "remove_note", client.InvokeBody{Params: map[string]any{"slug": "a"}}, 0) {
		if !isInvalid(err) {
			t.Errorf("a mutation as rows: %v", err)
		}
	}
	var commits []string
	for c, err := range g.AllCommits(ctx, client.CommitQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, c.GraphCommitID)
	}
	changes := 0
	for _, err := range g.AllChanges(ctx, commits[0], client.ChangeQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		changes++
	}
	if len(commits) != 2 || changes != 5 {
		t.Errorf("%d commits, the last with %d changes", len(commits), changes)
	}
	for b, err := range g.AllBranches(ctx) {
		if err != nil || b.Name != "main" || b.GraphCommitID != commits[0] {
			t.Errorf("branch %+v, %v", b, err)
		}
	}
}
