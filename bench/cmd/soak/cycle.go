package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
)

// cycle creates a branch, over REST or MCP, and calls the function `write` with it. It reports
// whether both succeeded.
func (c *client) cycle(ctx context.Context, write func(branch string) bool) (branch string, ok bool) {
	c.branches = []branching{overREST{c}, overMCP{c}}[c.rng.IntN(2)]
	branch = c.name("soak/b")
	o := c.branches.create(ctx, "branch create", branch)
	if o.ok() || o.unsure() {
		c.ledger.branch(branch, made, o.ok())
	}
	return branch, o.ok() && write(branch)
}

// drop deletes a branch and records the outcome in the ledger.
func (c *client) drop(ctx context.Context, branch string) {
	o := c.branches.delete(ctx, "branch delete", branch)
	if o.ok() || o.unsure() {
		c.ledger.branch(branch, absent, o.ok())
	}
}

// loadOnto loads new notes onto a branch, and then changes one of them on that branch.
func (c *client) loadOnto(ctx context.Context, branch string, slugs []string) (texts []string, ok bool) {
	data, texts := c.lines(slugs)
	if o := c.rest(ctx, "branch load", http.MethodPost, "/load/ndjson?mode=append&branch="+url.QueryEscape(branch), "application/x-ndjson", data); !o.ok() {
		return nil, false
	}
	texts[0] = c.name("text")
	o := c.post(ctx, "branch update", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slugs[0], "text": texts[0]}, "branch": branch})
	if !o.ok() {
		return nil, false
	}
	o = c.post(ctx, "branch read", "/query", map[string]any{
		"query": `query q($slug: String) { match { $n: Note { slug: $slug } } return { $n.text as text } }`, "params": map[string]any{"slug": slugs[0]}, "branch": branch,
	})
	if o.ok() && textOf(o) != texts[0] {
		c.book.complain("branch %s: note %s was acknowledged as %q and is read as %q", branch, slugs[0], texts[0], textOf(o))
	}
	return texts, o.ok()
}

// newSlugs returns unused slugs for notes.
func (c *client) newSlugs(what string) []string {
	slugs := make([]string, 3)
	for i := range slugs {
		slugs[i] = c.name(what)
	}
	return slugs
}

// mergeBranch adds new notes to main through a branch.
func (c *client) mergeBranch(ctx context.Context) {
	slugs := c.newSlugs("own")
	var texts []string
	branch, ok := c.cycle(ctx, func(branch string) (ok bool) {
		texts, ok = c.loadOnto(ctx, branch, slugs)
		return ok
	})
	if !ok {
		return // if the branch was created, it stays; the ledger has recorded it
	}
	o := c.branches.merge(ctx, "branch merge", branch)
	for i, slug := range slugs {
		c.wrote(o, slug, texts[i])
		if o.ok() {
			c.live = append(c.live, slug)
		}
	}
	if o.ok() {
		c.drop(ctx, branch)
	}
	for len(c.live) > maxLive && o.ok() {
		before := len(c.live)
		if c.remove(ctx); len(c.live) == before {
			return
		}
	}
}

// mergeShared changes a shared note on a branch, and sometimes also on main. The server must refuse
// the merge if main has another text.
func (c *client) mergeShared(ctx context.Context) {
	slug, text := sharedSlug(c.rng.IntN(numShared)), c.name("text")
	branch, ok := c.cycle(ctx, func(branch string) bool {
		return c.post(ctx, "branch update", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}, "branch": branch}).ok()
	})
	if !ok {
		return
	}
	if c.rng.IntN(2) == 0 {
		c.updateShared(ctx)
	}
	c.shared(c.branches.merge(ctx, "branch merge, shared", branch), slug, text)
	c.drop(ctx, branch)
}

// dropBranch deletes a branch that has changes.
func (c *client) dropBranch(ctx context.Context) {
	slugs := c.newSlugs("never")
	for _, slug := range slugs {
		c.ledger.note(slug, absent, true)
	}
	branch, ok := c.cycle(ctx, func(branch string) bool {
		_, ok := c.loadOnto(ctx, branch, slugs)
		return ok
	})
	if ok {
		c.drop(ctx, branch)
	}
}

// textOf returns the text in the only row of a read.
func textOf(o *outcome) string {
	var answer struct {
		Rows []struct {
			Text string `json:"text"`
		} `json:"rows"`
	}
	if json.Unmarshal(o.body, &answer) != nil || len(answer.Rows) != 1 {
		return ""
	}
	return answer.Rows[0].Text
}

// headOf returns the id of the commit that a read used.
func headOf(o *outcome) string {
	var answer struct {
		Commit string `json:"graph_commit_id"`
	}
	if json.Unmarshal(o.body, &answer) != nil {
		return ""
	}
	return answer.Commit
}

// prepare creates the shared notes, which all clients write to.
func prepare(ctx context.Context, p *serverproc.Server, l *ledger) error {
	c := newClient(-1, everything, p, newBook(), l, 0)
	defer c.close()
	for i := range numShared {
		text := c.name("text")
		o := c.post(ctx, "insert", "/queries/add_note", map[string]any{"params": map[string]any{"slug": sharedSlug(i), "symbol": c.symbol(), "text": text}})
		if !o.ok() {
			return fmt.Errorf("status %d: %s %w", o.status, o.body, o.err)
		}
		c.shared(o, sharedSlug(i), text)
	}
	return nil
}
