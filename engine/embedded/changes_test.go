package embedded

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestChangesInPages reads the changes of two large commits page by page, in turns. The pages must have
// the same changes as the whole lists. The graph must keep the difference of the commit that was read in
// part, and forget it after the last page.
func TestChangesInPages(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	defer g.Close()
	var commits []string
	for _, first := range []int{0, 2_000} {
		if err := loadText(g, engine.Merge, manyPeople(first, 1_500)); err != nil {
			t.Fatal(err)
		}
		head, err := g.Commits(ctx, "", engine.CommitRange{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, head[0].ID)
	}
	whole, pages := map[string][]engine.EntityChange{}, map[string][]engine.EntityChange{}
	for _, c := range commits {
		all, err := g.Changes(ctx, c, engine.ChangeRange{})
		if err != nil || len(all.List) < 1_500 || g.partRead.Load() != nil {
			t.Fatalf("%d changes, %v, kept: %v", len(all.List), err, g.partRead.Load() != nil)
		}
		whole[c] = all.List
	}
	after, open := map[string]engine.ChangePosition{}, len(commits)
	for turn := 0; open > 0; turn++ {
		c := commits[turn/2%2] // two pages of one commit, then two of the other
		if len(pages[c]) == len(whole[c]) {
			continue
		}
		page, err := g.Changes(ctx, c, engine.ChangeRange{After: after[c], Limit: 400})
		if err != nil {
			t.Fatal(err)
		}
		pages[c] = append(pages[c], page.List...)
		after[c] = page.List[len(page.List)-1].Position()
		switch kept := g.partRead.Load(); {
		case page.More && (kept == nil || kept.Known().Total() != int64(len(whole[c]))):
			t.Error("the graph does not keep a difference that was read in part")
		case !page.More:
			open--
		}
	}
	if !reflect.DeepEqual(pages, whole) {
		t.Error("the pages have other changes than the whole lists")
	}
	if g.partRead.Load() != nil {
		t.Error("the graph still keeps a difference after its last page")
	}
}

// TestChangesReadInPart reads only the first page of a large commit. The graph must not keep its states
// for good.
func TestChangesReadInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := create(t, fs.NewMem(), Options{})
		defer g.Close()
		if err := loadText(g, engine.Merge, manyPeople(0, 1_500)); err != nil {
			t.Fatal(err)
		}
		head, err := g.Commits(ctx, "", engine.CommitRange{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		page, err := g.Changes(ctx, head[0].ID, engine.ChangeRange{Limit: 400})
		if err != nil || !page.More || g.partRead.Load() == nil {
			t.Fatalf("more %v, kept %v, %v", page.More, g.partRead.Load() != nil, err)
		}
		time.Sleep(2 * partReadTime)
		if synctest.Wait(); g.partRead.Load() != nil {
			t.Error("the graph still keeps the difference")
		}
	})
}
