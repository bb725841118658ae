// Package codesource says whether the files that a graph of source code was read from have changed since.
//
// Such a graph has nodes Module with the properties folder, commit and read_at, and nodes File with the property stamp, as the
// schema in queries/code has them. The server reads no source code: it compares the sizes and times of the files.
package codesource

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/source/freshness"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxFiles is the number of files of one graph that are compared at most.
const maxFiles = 1_000_000

// timeLimit bounds one check.
const timeLimit = 5 * time.Second

// kept is the number of commits whose files are kept in memory.
const kept = 4

// Reader says how the code differs from what one graph was read from. It is safe for concurrent use.
type Reader struct {
	graph  engine.Graph
	folder string // the only folder in which it looks at files; empty for none

	mu      sync.Mutex
	records map[string]*record // by commit
	order   []string           // the commits in records, the oldest first
}

// New returns a reader for a graph that looks at files below a folder only, or at none if the folder is empty.
func New(g engine.Graph, folder string) *Reader {
	if real, err := filepath.EvalSymlinks(folder); err == nil && folder != "" {
		folder = real
	}
	return &Reader{graph: g, folder: folder, records: map[string]*record{}}
}

// record is what the graph at a commit remembers.
type record struct {
	modules []freshness.Index // empty if the graph remembers no folder
	others  int               // modules that were indexed without their folder
	shared  flight
}

// At returns how the code differs from what the graph at a commit remembers, or nil if the graph is not one of source code
// that was read from a folder. It leaves out what it cannot find out.
func (r *Reader) At(ctx context.Context, commit string) *tool.SourceState {
	rec := r.recordAt(ctx, commit)
	if rec == nil || len(rec.modules) == 0 {
		return nil
	}
	return rec.shared.do(func() *tool.SourceState {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeLimit) // others may wait for the result
		defer cancel()
		return r.check(ctx, rec)
	})
}

// check compares all modules of a record with their folders.
func (r *Reader) check(ctx context.Context, rec *record) *tool.SourceState {
	s := &tool.SourceState{Indexed: rec.modules[0].Commit, Branch: freshness.WorkBranch(rec.modules[0].Folder)}
	behind, dirty := false, 0
	for i := range rec.modules {
		m := &rec.modules[i]
		switch {
		case r.folder == "":
			s.Unknown = "the configuration of the server names no folder with the code (source)"
			return s
		case !within(r.folder, m.Folder):
			s.Unknown = "a module was read from a folder that is not below the one that the configuration of the server names (source)"
			return s
		}
		state, err := m.Check(ctx)
		if err != nil {
			s.Unknown = "the check of the files was cut off"
			return s
		}
		if state.Unknown != "" {
			s.Unknown = state.Unknown
		}
		if state.Missing {
			return s
		}
		dirty += len(state.Changed)
		if len(s.Changed) < 3 {
			s.Changed = append(s.Changed, state.Changed[:min(3-len(s.Changed), len(state.Changed))]...)
		}
		differs := state.Head != "" && m.Commit != "" && state.Head != m.Commit
		if s.Head == "" || differs && !behind {
			s.Indexed, s.Head = m.Commit, state.Head
		}
		behind = behind || differs
	}
	if rec.others > 0 && s.Unknown == "" {
		s.Unknown = strconv.Itoa(rec.others) + " modules were indexed without their folder"
	}
	s.Behind, s.Dirty, s.Known = behind, dirty, true
	return s
}

// within reports whether a path is that of a folder or below it.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// recordAt returns what the graph at a commit remembers, or nil if it cannot be read.
func (r *Reader) recordAt(ctx context.Context, commit string) *record {
	r.mu.Lock()
	rec := r.records[commit]
	r.mu.Unlock()
	if rec != nil {
		return rec
	}
	rec, err := r.read(ctx, engine.Target{Commit: commit})
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.records[commit]; old != nil {
		return old
	}
	if len(r.order) == kept {
		delete(r.records, r.order[0])
		r.order = r.order[1:]
	}
	r.records[commit], r.order = rec, append(r.order, commit)
	return rec
}

// read reads the modules and the files that the graph remembers. A schema without them gives an empty record.
func (r *Reader) read(ctx context.Context, at engine.Target) (*record, error) {
	rec := &record{}
	schema, err := r.graph.Schema(ctx, at)
	if err != nil {
		return nil, err
	}
	module, file := columns(schema.Catalog, "Module", "path", "folder", "commit", "read_at", "main"), columns(schema.Catalog, "File", "path", "stamp")
	if module == nil || file == nil {
		return rec, nil
	}
	var paths []string
	err = r.rows(ctx, "Module", module, at, func(row []value.Value) {
		switch {
		case row[4].Kind() != value.Bool || !row[4].Bool():
		case row[1].Kind() != value.String || !filepath.IsAbs(row[1].Str()):
			rec.others++
		default:
			m := freshness.Index{Folder: filepath.Clean(strings.Clone(row[1].Str())), Files: map[string]string{}}
			if row[2].Kind() == value.String {
				m.Commit = strings.Clone(row[2].Str())
			}
			if row[3].Kind() == value.DateTime {
				m.Read = time.UnixMicro(row[3].Int())
			}
			rec.modules, paths = append(rec.modules, m), append(paths, strings.Clone(row[0].Str()))
		}
	})
	if err != nil || len(rec.modules) == 0 || r.folder == "" {
		return rec, err
	}
	err = r.rows(ctx, "File", file, at, func(row []value.Value) {
		if row[1].Kind() != value.String {
			return
		}
		if m, name := freshness.Place(paths, row[0].Str()); m >= 0 {
			rec.modules[m].Files[strings.Clone(name)] = strings.Clone(row[1].Str())
		}
	})
	return rec, err
}

// columns returns columns of properties of a node type, or nil if the type lacks one.
func columns(s *catalog.Schema, node string, names ...string) []plan.Column {
	n := s.Node(node)
	if n == nil {
		return nil
	}
	var out []plan.Column
	for _, name := range names {
		p := n.Property(name)
		if p == nil || p.Type.List {
			return nil
		}
		out = append(out, plan.Column{Name: name, Expr: plan.Prop{Name: name, Type: p.Type}, Type: p.Type})
	}
	return out
}

// rows calls visit for each node of a type. The values are valid only during the call.
func (r *Reader) rows(ctx context.Context, node string, columns []plan.Column, at engine.Target, visit func([]value.Value)) error {
	q := &plan.Query{Name: "source", Read: &plan.Read{
		Vars: []plan.Var{{Name: "n", Entity: plan.Node, Type: node}}, Match: []plan.Clause{plan.Bind{}},
		Columns: columns, Ties: []plan.VarID{0}, Limit: maxFiles,
	}}
	result, err := r.graph.Query(ctx, q, nil, at)
	if err != nil {
		return err
	}
	defer result.Close()
	row := make([]value.Value, len(columns))
	for {
		b, err := result.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		for i := range b.Len {
			for c := range columns {
				row[c] = b.Columns[c].Value(i)
			}
			visit(row)
		}
	}
}

// flight shares the result of a check among the calls that wait for it before it begins. So each call gets the result of
// a check that began after the call, and at most one check runs at a time.
type flight struct {
	mu      sync.Mutex
	waiting *shared
	running sync.Mutex
}

// shared is a result that several calls wait for.
type shared struct {
	done  chan struct{}
	state *tool.SourceState
}

func (f *flight) do(check func() *tool.SourceState) *tool.SourceState {
	f.mu.Lock()
	c := f.waiting
	if c != nil {
		f.mu.Unlock()
		<-c.done
		return c.state
	}
	c = &shared{done: make(chan struct{})}
	f.waiting = c
	f.mu.Unlock()
	defer close(c.done)
	f.running.Lock()
	defer f.running.Unlock()
	f.mu.Lock()
	f.waiting = nil
	f.mu.Unlock()
	c.state = check()
	return c.state
}
