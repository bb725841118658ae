package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// ledger records the acknowledged writes. It also records the writes whose outcome is unknown
// because their answers were lost. It is safe for concurrent use.
type ledger struct {
	commits atomic.Int64 // acknowledged, on any branch

	mu       sync.Mutex
	own      map[string]*history // notes that only one client writes to, by slug
	shared   map[string][]write  // notes that all clients write to, by slug; unordered
	branches map[string]*history // all branches except main, by name
}

// absent is the text that stands for a note or branch that does not exist.
const absent = ""

// write is a write to a shared note.
type write struct {
	commit string // id of the commit that the write made
	text   string // text of the note after the write
	unsure bool   // its outcome is unknown, so it has no commit
}

// history is the sequence of one client's writes to a note or branch.
type history struct {
	text   string   // text after the last acknowledged write
	unsure []string // texts of the writes with an unknown outcome; one may be applied after later writes
}

// newLedger returns an empty ledger.
func newLedger() *ledger {
	return &ledger{own: map[string]*history{}, shared: map[string][]write{}, branches: map[string]*history{}}
}

// note records a write to a note that only one client writes to. `known` is false if the answer to
// the write was lost.
func (l *ledger) note(slug, text string, known bool) { l.put(l.own, slug, text, known) }

// branch records that a client created or deleted a branch. `text` is the constant `made` for a
// creation and the constant `absent` for a deletion. `known` is false if the answer was lost.
func (l *ledger) branch(name, text string, known bool) { l.put(l.branches, name, text, known) }

// put records a write to a key; `known` is false if the outcome of the write is unknown.
func (l *ledger) put(m map[string]*history, key, text string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := m[key]
	if h == nil {
		h = &history{}
		m[key] = h
	}
	if !known {
		h.unsure = append(h.unsure, text)
		return
	}
	h.text = text
}

// share records a write to a shared note.
func (l *ledger) share(slug string, w write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared[slug] = append(l.shared[slug], w)
}

// compare opens a store that no server has open. It returns the differences from the ledger, and
// the number of notes and branches that it compared.
func compare(ctx context.Context, dir string, l *ledger) (differences []string, checked int, err error) {
	g, err := embedded.Open(ctx, fs.OS(), filepath.Clean(dir), embedded.Options{})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := g.Verify(ctx); err != nil {
		return nil, 0, err
	}
	var out bytes.Buffer
	if _, err := g.Export(ctx, &out, engine.Target{}, engine.ExportOptions{Types: []string{"Note"}}); err != nil {
		return nil, 0, err
	}
	notes, err := readNotes(&out)
	if err != nil {
		return nil, 0, err
	}
	commits, err := g.Commits(ctx, "", engine.CommitRange{})
	if err != nil {
		return nil, 0, err
	}
	order := make(map[string]uint64, len(commits))
	for _, c := range commits {
		order[c.ID] = c.Seq
	}
	list, err := g.Branches(ctx)
	if err != nil {
		return nil, 0, err
	}
	branches := map[string]string{}
	for _, b := range list {
		if b.Name != "main" {
			branches[b.Name] = made
		}
	}
	differences, checked = l.differ(notes, branches, order)
	return differences, checked, nil
}

// readNotes parses an export and returns the texts of notes by slug.
func readNotes(out *bytes.Buffer) (map[string]string, error) {
	notes := map[string]string{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Data struct {
				Slug string `json:"slug"`
				Text string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%w: %s", err, lines.Bytes())
		}
		notes[line.Data.Slug] = line.Data.Text
	}
	return notes, lines.Err()
}

// differ compares the ledger with the notes and branches of a store. The map `order` holds the
// sequence number of each commit of main.
func (l *ledger) differ(notes, branches map[string]string, order map[string]uint64) (differences []string, checked int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	differ := func(what, key, found string, wanted []string) {
		checked++
		if !slices.Contains(wanted, found) {
			differences = append(differences, fmt.Sprintf("%s %s: found %q, wanted %q", what, key, found, wanted))
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(l.own)) {
		h := l.own[slug]
		differ("note", slug, notes[slug], append([]string{h.text}, h.unsure...))
	}
	for _, name := range slices.Sorted(maps.Keys(l.branches)) {
		h := l.branches[name]
		differ("branch", name, branches[name], append([]string{h.text}, h.unsure...))
	}
	for _, slug := range slices.Sorted(maps.Keys(l.shared)) {
		var last uint64
		var wanted []string
		for _, w := range l.shared[slug] {
			seq, ok := order[w.commit]
			switch {
			case w.unsure:
				wanted = append(wanted, w.text)
			case !ok:
				differences = append(differences, fmt.Sprintf("note %s: the acknowledged commit %s is not in the history of main", slug, w.commit))
			case seq > last:
				last = seq
			}
		}
		for _, w := range l.shared[slug] {
			if !w.unsure && last > 0 && order[w.commit] == last {
				wanted = append(wanted, w.text)
			}
		}
		differ("shared note", slug, notes[slug], wanted)
	}
	for _, slug := range slices.Sorted(maps.Keys(notes)) {
		if l.own[slug] == nil && l.shared[slug] == nil {
			differences = append(differences, fmt.Sprintf("note %s exists, but no client got the answer that it was written", slug))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(branches)) {
		if l.branches[name] == nil {
			differences = append(differences, fmt.Sprintf("branch %s exists, but no client got the answer that it was created", name))
		}
	}
	return differences, checked
}

// made is the text that stands for a branch that exists.
const made = "made"
