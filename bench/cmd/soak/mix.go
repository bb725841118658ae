package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
)

const (
	numShared = 16 // number of notes that all clients write to
	maxLive   = 40 // maximum number of a client's own notes; it then deletes the oldest
	loadSize  = 20 // notes per load
	fixed     = 40 // number of a client's own notes that its loads overwrite repeatedly
)

// crowd is the set of running clients.
type crowd struct {
	cancel context.CancelFunc // makes the clients stop
	done   sync.WaitGroup     // waits for the clients
}

// startCrowd starts the clients. Each runs in a goroutine of its own.
func startCrowd(ctx context.Context, p *serverproc.Server, b *book, l *ledger, o options) *crowd {
	ctx, cancel := context.WithCancel(ctx)
	g := &crowd{cancel: cancel}
	for n := range o.clients {
		// Of eight clients, five may do everything, two read, and one writes its own texts.
		actor := []string{everything, everything, reader, everything, indexer, everything, reader, everything}[n%8]
		c := newClient(n, actor, p, b, l, o.seed)
		g.done.Go(func() { c.work(ctx, o.think) })
	}
	return g
}

// wait waits until all clients have noticed that the server has stopped.
func (g *crowd) wait() { g.done.Wait() }

// stop cancels the clients and waits for them.
func (g *crowd) stop() {
	g.cancel()
	g.done.Wait()
}

// deed is an activity of a client that consists of one or more calls.
type deed struct {
	weight int                            // relative frequency of the deed
	do     func(*client, context.Context) // makes the calls
}

// deeds lists, for each actor, the activities of the clients that use this actor's token.
var deeds = map[string][]deed{
	everything: {
		{12, (*client).readStored}, {6, (*client).readAdHoc}, {8, (*client).readOverMCP}, {3, (*client).lists},
		{10, (*client).insert}, {8, (*client).update}, {6, (*client).updateOverMCP}, {6, (*client).remove},
		{8, (*client).updateShared}, {3, (*client).updateIfUnchanged}, {2, (*client).load}, {2, (*client).loadOverMCP}, {1, (*client).loadTwice},
		{2, (*client).mergeBranch}, {1, (*client).mergeShared}, {1, (*client).dropBranch}, {1, (*client).mistakes},
	},
	reader: {
		{12, (*client).readStored}, {6, (*client).readAdHoc}, {8, (*client).readOverMCP}, {3, (*client).lists}, {2, (*client).deniedWrites}, {1, (*client).mistakes},
	},
	indexer: {
		{4, (*client).readAdHoc}, {4, (*client).loadAnew}, {4, (*client).load}, {4, (*client).loadOverMCP}, {4, (*client).update}, {2, (*client).updateShared}, {1, (*client).loadTwice},
	},
}

// work performs one random deed after another until the context ends or the server stops.
func (c *client) work(ctx context.Context, think time.Duration) {
	defer c.close()
	total := 0
	for _, d := range deeds[c.actor] {
		total += d.weight
	}
	for ctx.Err() == nil && !c.gone(ctx) {
		n := c.rng.IntN(total)
		for _, d := range deeds[c.actor] {
			if n -= d.weight; n < 0 {
				d.do(c, ctx)
				break
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(c.rng.Float64() * 2 * float64(think))):
		}
	}
}

// gone reports whether the server got SIGTERM and accepts no more calls.
func (c *client) gone(ctx context.Context) bool {
	if !c.book.stopping.Load() {
		return false
	}
	status, _, _ := c.send(ctx, http.MethodGet, "/queries", "", "")
	return status == lost
}

// name returns a text that no other call of name returns.
func (c *client) name(what string) string {
	c.serial++
	return fmt.Sprintf("%s-%d-%d", what, c.n, c.serial)
}

// symbol draws the path of a symbol that notes can be about.
func (c *client) symbol() string { return symbolPath(c.rng.IntN(numSymbols)) }

// sharedSlug returns the slug of note i of those that all clients write to.
func sharedSlug(i int) string { return fmt.Sprintf("shared-%d", i) }

// wrote records in the ledger a write to one of the client's own notes, unless the server refused
// it.
func (c *client) wrote(o *outcome, slug, text string) {
	if o.ok() || o.unsure() {
		c.ledger.note(slug, text, o.ok())
	}
}

const (
	readNotesAbout = `query notes($symbol: String) { match { $s: Symbol { path: $symbol } $n about $s } return { $n.slug as slug, $n.text as text } order { $n.slug } limit 50 }` // the notes about a symbol
	updateNote     = `query up($slug: String, $text: String) { update Note set { text: $text } where slug = $slug }`                                                              // changes the text of a note
)

// readStored runs a stored query over REST.
func (c *client) readStored(ctx context.Context) {
	c.post(ctx, "read, stored", "/queries/notes_about", map[string]any{"params": map[string]any{"symbol": c.symbol()}})
}

// readAdHoc sends the text of a query over REST.
func (c *client) readAdHoc(ctx context.Context) {
	c.post(ctx, "read, ad hoc", "/query", map[string]any{"query": readNotesAbout, "params": map[string]any{"symbol": c.symbol()}})
}

// readOverMCP sends the text of a query over MCP.
func (c *client) readOverMCP(ctx context.Context) {
	c.tool(ctx, "read over MCP", "graph_query", map[string]any{"query": readNotesAbout, "params": map[string]any{"symbol": c.symbol()}})
}

// lists lists branches or commits, or describes the state of main.
func (c *client) lists(ctx context.Context) {
	if c.rng.IntN(2) == 0 {
		path := []string{"/branches", "/commits?limit=20", "/snapshot"}[c.rng.IntN(3)]
		c.rest(ctx, "list", http.MethodGet, path, "", "")
		return
	}
	name := []string{"branch_list", "commit_list", "graph_snapshot"}[c.rng.IntN(3)]
	c.tool(ctx, "list over MCP", name, map[string]any{})
}

// insert inserts a note of the client.
func (c *client) insert(ctx context.Context) {
	slug, text := c.name("own"), c.name("text")
	o := c.post(ctx, "insert", "/queries/add_note", map[string]any{"params": map[string]any{"slug": slug, "symbol": c.symbol(), "text": text}})
	c.wrote(o, slug, text)
	if o.ok() {
		c.live = append(c.live, slug)
	}
	if len(c.live) > maxLive {
		c.remove(ctx)
	}
}

// some returns one of the client's own notes, or "" if it has none.
func (c *client) some() string {
	if len(c.live) == 0 {
		return ""
	}
	return c.live[c.rng.IntN(len(c.live))]
}

// update updates one of the client's own notes.
func (c *client) update(ctx context.Context) {
	if slug, text := c.some(), c.name("text"); slug != "" {
		o := c.post(ctx, "update", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}})
		c.wrote(o, slug, text)
	}
}

// updateOverMCP updates one of the client's own notes by calling a tool.
func (c *client) updateOverMCP(ctx context.Context) {
	if slug, text := c.some(), c.name("text"); slug != "" {
		o := c.tool(ctx, "update over MCP", "graph_mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}, "idempotency_key": c.name("key")})
		c.wrote(o, slug, text)
	}
}

// remove deletes the oldest of the client's own notes.
func (c *client) remove(ctx context.Context) {
	if len(c.live) == 0 {
		return
	}
	slug := c.live[0]
	o := c.post(ctx, "delete", "/queries/remove_note", map[string]any{"params": map[string]any{"slug": slug}})
	c.wrote(o, slug, absent)
	if o.ok() {
		c.live = c.live[1:]
	}
}

// updateShared updates a note that other clients write to as well.
func (c *client) updateShared(ctx context.Context) {
	slug, text := sharedSlug(c.rng.IntN(numShared)), c.name("text")
	o := c.post(ctx, "update, shared", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}})
	c.shared(o, slug, text)
}

// shared records the outcome of an update of a shared note.
func (c *client) shared(o *outcome, slug, text string) {
	if o.ok() || o.unsure() {
		c.ledger.share(slug, write{commit: commitOf(o), text: text, unsure: !o.ok()})
	}
}

// updateIfUnchanged updates a shared note on the condition that main has no newer commit than the
// one that it read.
func (c *client) updateIfUnchanged(ctx context.Context) {
	slug, text := sharedSlug(c.rng.IntN(numShared)), c.name("text")
	read := c.post(ctx, "read, ad hoc", "/query", map[string]any{"query": readNotesAbout, "params": map[string]any{"symbol": c.symbol()}})
	head := headOf(read)
	if head == "" {
		return
	}
	o := c.tool(ctx, "update, if unchanged", "graph_mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}, "if_commit": head})
	c.shared(o, slug, text)
}

// lines returns the NDJSON for a load of notes, and the new text that it makes for each note.
func (c *client) lines(slugs []string) (data string, texts []string) {
	var b strings.Builder
	for _, slug := range slugs {
		text := c.name("text")
		texts = append(texts, text)
		fmt.Fprintf(&b, `{"type":"Note","data":{"slug":%q,"text":%q,"created":"2026-01-01T00:00:00Z"}}`+"\n", slug, text)
	}
	return b.String(), texts
}

// fixedSlugs draws notes from those that the client's loads overwrite repeatedly.
func (c *client) fixedSlugs() []string {
	var slugs []string
	for _, i := range c.rng.Perm(fixed)[:loadSize] {
		slugs = append(slugs, fmt.Sprintf("fixed-%d-%d", c.n, i))
	}
	return slugs
}

// load loads new texts of some of the client's notes over REST.
func (c *client) load(ctx context.Context) {
	slugs := c.fixedSlugs()
	data, texts := c.lines(slugs)
	o := c.rest(ctx, "load", http.MethodPost, "/load/ndjson?mode=merge", "application/x-ndjson", data)
	for i, slug := range slugs {
		c.wrote(o, slug, texts[i])
	}
}

// loadAnew loads one new note, which then counts as one of the client's own notes.
func (c *client) loadAnew(ctx context.Context) {
	if len(c.live) == maxLive {
		return
	}
	slug := c.name("own")
	data, texts := c.lines([]string{slug})
	o := c.rest(ctx, "load", http.MethodPost, "/load/ndjson?mode=append", "application/x-ndjson", data)
	c.wrote(o, slug, texts[0])
	if o.ok() {
		c.live = append(c.live, slug)
	}
}

// loadOverMCP loads new texts of some of the client's notes by calling a tool.
func (c *client) loadOverMCP(ctx context.Context) {
	slugs := c.fixedSlugs()
	data, texts := c.lines(slugs)
	o := c.tool(ctx, "load over MCP", "graph_load", map[string]any{"data": data, "mode": "merge", "idempotency_key": c.name("key")})
	for i, slug := range slugs {
		c.wrote(o, slug, texts[i])
	}
}

// loadTwice loads two notes in the append mode: one that exists, and one that does not. The load
// must fail and change neither.
func (c *client) loadTwice(ctx context.Context) {
	slug := c.some()
	if slug == "" {
		return
	}
	never := c.name("never")
	data, texts := c.lines([]string{never, slug})
	o := c.rest(ctx, "load, append twice", http.MethodPost, "/load/ndjson?mode=append", "application/x-ndjson", data)
	c.ledger.note(never, absent, true)
	if o.unsure() {
		c.ledger.note(never, texts[0], false)
	}
}

// mistakes sends requests that must fail.
func (c *client) mistakes(ctx context.Context) {
	c.post(ctx, "bad query", "/query", map[string]any{"query": "query q() { match { $n: Nothing } return { $n.slug } }"})
	c.post(ctx, "unknown query", "/queries/nothing", map[string]any{})
}

// deniedWrites sends writes that the policy denies.
func (c *client) deniedWrites(ctx context.Context) {
	never := c.name("never")
	c.ledger.note(never, absent, true)
	c.post(ctx, "denied", "/mutate", map[string]any{"query": `query m($s: String) { insert Note { slug: $s, text: "denied", created: now() } }`, "params": map[string]any{"s": never}})
	c.tool(ctx, "denied over MCP", "branch_create", map[string]any{"name": never})
}
