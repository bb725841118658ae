package e2e

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
)

const updateNote = `query up($slug: String, $text: String) { update Note set { text: $text } where slug = $slug }`

// readOwn reads a note of this worker at the commit that it saw last. The text must be the newest one.
func (w *worker) readOwn() {
	slug, ok := w.some()
	if !ok {
		return
	}
	if text, commit, ok := w.read(slug, w.seen); ok {
		if text != w.notes[slug] {
			w.f.t.Errorf("a client that stated commit %s reads %q in its note %s, and wrote %q", w.seen, text, slug, w.notes[slug])
		}
		w.seen = commit
	}
}

// readOverMCP reads notes with a tool.
func (w *worker) readOverMCP() {
	if _, code := w.tool("read over MCP", "notes_about", map[string]any{"params": map[string]any{"symbol": "example.com/p.F3"}}); code != "" && code != "lost" {
		w.f.t.Errorf("read over MCP: code %s", code)
	}
}

// insert inserts a note, and deletes the oldest one if there are too many.
func (w *worker) insert() {
	slug, text := w.name("own"), w.name("text")
	if w.write("insert", "/queries/add_note", map[string]any{"params": map[string]any{"slug": slug, "symbol": "example.com/p.F" + strconv.Itoa(rand.IntN(10)), "text": text}}) != "" {
		w.notes[slug], w.order = text, append(w.order, slug)
	}
	if len(w.order) > maxOwn {
		w.remove()
	}
}

// update updates a note of this worker.
func (w *worker) update() {
	if slug, ok := w.some(); ok {
		text := w.name("text")
		if w.write("update", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}}) != "" {
			w.notes[slug] = text
		}
	}
}

// updateOverMCP updates a note of this worker with a tool.
func (w *worker) updateOverMCP() {
	if slug, ok := w.some(); ok {
		text := w.name("text")
		if w.writeTool("update over MCP", "graph_mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}}) != "" {
			w.notes[slug] = text
		}
	}
}

// tick counts one further in the counting note of this worker.
func (w *worker) tick() {
	slug, next := w.tickSlug(w.n), w.ticks[w.n].Load()+1
	text := strconv.FormatInt(next, 10)
	if w.write("tick", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}}) != "" {
		w.notes[slug] = text
		w.ticks[w.n].Store(next)
	}
}

// remove deletes the oldest note of this worker.
func (w *worker) remove() {
	if len(w.order) == 0 {
		return
	}
	slug := w.order[0]
	if w.write("delete", "/queries/remove_note", map[string]any{"params": map[string]any{"slug": slug}}) != "" {
		delete(w.notes, slug)
		w.order = w.order[1:]
	}
}

// updateCommon updates a note that all workers write to.
func (w *worker) updateCommon() {
	slug, text := w.commonSlug(rand.IntN(numCommon)), w.name("text")
	w.shared(w.write("update, shared", "/mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}}), slug, text)
}

// updateIfUnchanged updates such a note unless main has changed since this worker read it.
func (w *worker) updateIfUnchanged() {
	slug, text := w.commonSlug(rand.IntN(numCommon)), w.name("text")
	if _, head, ok := w.read(slug, "latest"); ok {
		w.shared(w.writeTool("update, if unchanged", "graph_mutate", map[string]any{"query": updateNote, "params": map[string]any{"slug": slug, "text": text}, "if_commit": head}), slug, text)
	}
}

// load loads new texts of half of the notes of this worker.
func (w *worker) load() {
	slugs := w.order[len(w.order)/2:]
	if len(slugs) == 0 {
		return
	}
	data, texts := w.lines(slugs)
	if w.writeText("load", "/load/ndjson?mode=merge", "application/x-ndjson", data, "") != "" {
		for slug, text := range texts {
			w.notes[slug] = text
		}
	}
}

// loadOverMCP does the same with a tool.
func (w *worker) loadOverMCP() {
	slugs := w.order[:len(w.order)/2]
	if len(slugs) == 0 {
		return
	}
	data, texts := w.lines(slugs)
	if w.writeTool("load over MCP", "graph_load", map[string]any{"data": data, "mode": "merge"}) != "" {
		for slug, text := range texts {
			w.notes[slug] = text
		}
	}
}

// loadTwice appends a note that exists, and one that does not. The load must fail and change neither.
func (w *worker) loadTwice() {
	slug, ok := w.some()
	if !ok {
		return
	}
	never := w.name("never")
	data, _ := w.lines([]string{never, slug})
	w.expect("load, append twice", w.call("load, append twice", http.MethodPost, "/load/ndjson?mode=append", "application/x-ndjson", data, "Idempotency-Key", w.name("key")), http.StatusConflict)
}

// createBranch makes a branch. An earlier attempt may have made it and lost its answer: no other worker uses
// its name. The call has no idempotency key. So an attempt that a stopped server gets late may make the branch
// once more after its deletion.
func (w *worker) createBranch() (branch string, ok bool) {
	branch = w.name("b")
	a := w.post("branch create", "/branches", map[string]any{"name": branch})
	allowed := []int{http.StatusOK}
	if a.unsure {
		w.unsure[branch] = true
		allowed = append(allowed, http.StatusConflict)
	}
	if !w.expect("branch create", a, allowed...) {
		return "", false
	}
	w.kept[branch] = true
	return branch, true
}

// dropNamed deletes a branch. An earlier attempt may have deleted it and lost its answer.
func (w *worker) dropNamed(branch string) {
	a := w.call("branch delete", http.MethodDelete, branchPath(branch), "", "")
	allowed := []int{http.StatusOK}
	if a.unsure {
		allowed = append(allowed, http.StatusNotFound)
	}
	if w.expect("branch delete", a, allowed...) {
		delete(w.kept, branch)
	}
}

// loadOnto loads notes onto a new branch and changes one of them there.
func (w *worker) loadOnto(slugs []string) (branch string, texts map[string]string, ok bool) {
	branch, ok = w.createBranch()
	if !ok {
		return "", nil, false
	}
	data, texts := w.lines(slugs)
	if w.writeText("branch load", "/load/ndjson?mode=append&branch="+url.QueryEscape(branch), "application/x-ndjson", data, branch) == "" {
		return "", nil, false
	}
	texts[slugs[0]] = w.name("text")
	ok = w.writeOn(branch, slugs[0], texts[slugs[0]]) != ""
	return branch, texts, ok
}

// writeOn changes a note on a branch.
func (w *worker) writeOn(branch, slug, text string) string {
	body := `{"query":` + strconv.Quote(updateNote) + `,"params":{"slug":` + strconv.Quote(slug) + `,"text":` + strconv.Quote(text) + `},"branch":` + strconv.Quote(branch) + `}`
	return w.writeText("branch update", "/mutate", "application/json", body, branch)
}

// merge merges a branch into main. It returns an empty commit if the branch conflicts with main and may do so.
func (w *worker) merge(operation, branch string, statuses ...int) (commit string) {
	a := w.post(operation, "/branches/merge", map[string]any{"source": branch}, "Idempotency-Key", w.name("key"))
	if !w.expect(operation, a, statuses...) || a.status != http.StatusOK {
		return ""
	}
	commit = commitOf(a.body)
	if commit == "" {
		w.f.t.Errorf("%s: the answer names no commit: %.500s", operation, a.body)
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.commits[commit] == "" {
		w.commits[commit] = operation + " " + branch // otherwise main was fast-forwarded to a commit of the branch
	}
	w.onMain[commit], w.seen = true, commit
	return commit
}

// mergeBranch adds notes through a branch.
func (w *worker) mergeBranch() {
	slugs := []string{w.name("own"), w.name("own")}
	branch, texts, ok := w.loadOnto(slugs)
	if !ok || w.merge("branch merge", branch, http.StatusOK) == "" {
		return
	}
	for _, slug := range slugs {
		w.notes[slug], w.order = texts[slug], append(w.order, slug)
	}
	w.dropNamed(branch)
}

// mergeCommon changes a note on a branch that other workers change on main. The merge may conflict.
func (w *worker) mergeCommon() {
	slug, text := w.commonSlug(rand.IntN(numCommon)), w.name("text")
	branch, ok := w.createBranch()
	if !ok || w.writeOn(branch, slug, text) == "" {
		return
	}
	w.shared(w.merge("branch merge, shared", branch, http.StatusOK, http.StatusConflict), slug, text)
	w.dropNamed(branch)
}

// dropBranch deletes a branch that has changes.
func (w *worker) dropBranch() {
	slugs := []string{w.name("never"), w.name("never")}
	if branch, _, ok := w.loadOnto(slugs); ok {
		w.dropNamed(branch)
	}
}
