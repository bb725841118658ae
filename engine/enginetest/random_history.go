package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// history is a step about the history of a branch.
type history struct {
	back    int  // lists what the commit changed that lies so many before the head
	limit   int  // of the first page of the list
	cleanup bool // instead of a list
	keep    int  // commits of a cleanup
}

func (h *history) String() string {
	if h.cleanup {
		return fmt.Sprintf("cleanup that keeps %d commits", h.keep)
	}
	return fmt.Sprintf("changes %d commits back, %d on a page", h.back, h.limit)
}

func (d *drawer) drawHistory() *history {
	if d.percent(20) {
		return &history{cleanup: true, keep: d.IntN(10)}
	}
	return &history{back: d.IntN(10), limit: d.IntN(8)}
}

// commitBack is the commit of a branch so many before its head, or the first: a target
// for one of the two graphs, whose commits have ids of their own.
func (p *pair) commitBack(g engine.Graph, branch string, back int) engine.Target {
	at := engine.Target{Branch: branch}
	if back == 0 {
		return at
	}
	commits, err := g.Commits(p.ctx, branch, engine.CommitRange{Limit: back + 1})
	if err == nil {
		at.Commit = commits[len(commits)-1].ID
	} // else the branch is missing, as the call will say
	return at
}

// targetOf is the target of the step under way in one of the two graphs.
func (p *pair) targetOf(g engine.Graph) engine.Target { return p.commitBack(g, p.branch, p.back) }

// runHistory runs a step about history on both.
func (p *pair) runHistory(ctx context.Context, h *history) string {
	if h.cleanup {
		opts := engine.CleanupOptions{KeepCommits: h.keep}
		want, err := p.model.Cleanup(ctx, opts)
		must(err)
		got, err := p.engine.Cleanup(ctx, opts)
		if err != nil {
			return "cleanup: " + err.Error()
		}
		if w, g := fmt.Sprint(want.Commits, want.Kept), fmt.Sprint(got.Commits, got.Kept); w != g {
			return fmt.Sprintf("the engine's cleanup reclaims and keeps %s commits, the model's %s", g, w)
		}
		return ""
	}
	if absent, difference := p.missing(ctx); absent {
		return difference
	}
	want, wantErr := p.changes(ctx, p.model, h)
	got, gotErr := p.changes(ctx, p.engine, h)
	if wantErr != nil || gotErr != nil {
		return compareErrors(wantErr, gotErr)
	}
	if want != got {
		return fmt.Sprintf("changes differ\nmodel:\n%s\nengine:\n%s", want, got)
	}
	return ""
}

// changes lists what a commit changed, page by page, as text.
func (p *pair) changes(ctx context.Context, g engine.Graph, h *history) (string, error) {
	commits, err := g.Commits(ctx, p.branch, engine.CommitRange{Limit: h.back + 1})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	r := engine.ChangeRange{Limit: h.limit}
	for {
		page, err := g.Changes(ctx, commits[len(commits)-1].ID, r)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d: nodes %v edges %v\n", page.Commit.Seq, page.Nodes, page.Edges)
		for i := range page.List {
			b.WriteString(changeText(&page.List[i]))
		}
		if !page.More {
			return b.String(), nil
		}
		r.After = page.List[len(page.List)-1].Position()
	}
}

func changeText(c *engine.EntityChange) string {
	text := fmt.Sprintf("%s %s %s %q %q %q", c.Kind, c.Entity, c.Type, c.ID, c.From, c.To)
	for _, p := range c.Properties {
		text += fmt.Sprintf("; %s: %s, %s", p.Name, valueText(p.Old), valueText(p.New))
	}
	return text + "\n"
}
