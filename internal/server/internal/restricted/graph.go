// Package restricted is a graph as an actor sees it whose rights are to a part of it: the states under its rights, and no operation
// that is about a whole branch.
package restricted

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Config says whose rights hold on which graph.
type Config struct {
	Whole engine.Graph   // the graph without rights
	Main  *engine.Schema // the schema of main, for which the rights are
	Cache *Cache

	// Rights returns the rights of the caller to an action on a branch; nil for rights to all of it, and for none at all, which
	// other checks see to.
	Rights func(action tool.Action, branch tool.Branch) *engine.Rights

	// MayChange reports whether the policy allows the caller to change some of a branch.
	MayChange func(branch tool.Branch) bool

	// CheckCopy returns an error if the caller may see more of a branch that starts as a copy of another one than of that one. The text
	// says what makes the copy.
	CheckCopy func(what string, from, made tool.Branch) error

	// At is the branch of the states that the call names by their commits, apart from those of a comparison. If it is nil, they are on the
	// branches where they were made.
	At    *tool.Branch
	Reads tool.Action // tool.Read, or tool.Export for a call that exports
	Actor string      // the caller, as proposals name their authors
}

// Graph is an [engine.Graph] under the rights of one call. It has no embedded graph, so that a new method of the contract does not compile
// before this package says what it means here.
type Graph struct {
	Config
	asked map[question]*engine.Rights // the answers of Rights
	// of has the branches of commits that a comparison or a proposal has named: the states are read as those of these branches.
	of    map[string]tool.Branch
	shown map[string]bool // the answers of Shows, by the ids of the proposals
}

// question is a question about rights.
type question struct {
	action tool.Action
	branch tool.Branch
}

var _ engine.Graph = (*Graph)(nil)

// New returns the graph for one call, which uses it in one goroutine at a time.
func New(c Config) *Graph {
	return &Graph{Config: c, asked: map[question]*engine.Rights{}, of: map[string]tool.Branch{}, shown: map[string]bool{}}
}

// of returns the graph under the rights of a call that g is, or that g wraps and returns from a method Unwrap, or nil.
func of(g engine.Graph) *Graph {
	for {
		switch is := g.(type) {
		case *Graph:
			return is
		case interface{ Unwrap() engine.Graph }:
			g = is.Unwrap()
		default:
			return nil
		}
	}
}

// Whole returns the graph without the rights of the caller, for answers that say nothing of hidden entities.
func Whole(g engine.Graph) engine.Graph {
	if r := of(g); r != nil {
		return r.Config.Whole
	}
	return g
}

// Digest returns the digest of the rights with which a call reads; "" for rights to all.
func Digest(g engine.Graph) string {
	if r := of(g); r != nil {
		return DigestOn(r, r.base())
	}
	return ""
}

// DigestOn is like Digest, for a branch.
func DigestOn(g engine.Graph, branch tool.Branch) string {
	if r := of(g); r != nil {
		if rights := r.rights(r.Reads, branch); rights != nil {
			return rights.Digest
		}
	}
	return ""
}

// Filters returns the names of the row filters with which a call reads the branch that it is about and others, in order.
func Filters(g *Graph, others ...tool.Branch) (names []string) {
	add := func(filters []*engine.RowFilter) {
		for _, f := range filters {
			names = append(names, f.Name)
		}
	}
	for _, branch := range append(others, g.base()) {
		rights := g.rights(g.Reads, branch)
		if rights == nil {
			continue
		}
		for _, types := range []map[string]*engine.TypeRights{rights.Nodes, rights.Edges} {
			for _, t := range types {
				for _, list := range t.Any {
					add(list)
				}
				add(t.All)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// base returns the branch that the call is about.
func (g *Graph) base() tool.Branch {
	if g.At == nil {
		return tool.Branch{}
	}
	return *g.At
}

// rights returns the rights of the caller to an action on a branch.
func (g *Graph) rights(action tool.Action, branch tool.Branch) *engine.Rights {
	q := question{action, branch}
	r, known := g.asked[q]
	if !known {
		r = g.Rights(action, branch)
		g.asked[q] = r
	}
	return r
}

// whole returns a *wireerror.PartOnly if the caller may read, or change if the action is tool.Change, only a part of one of the branches.
func (g *Graph) whole(what string, action tool.Action, branches ...tool.Branch) error {
	for _, b := range branches {
		if g.rights(action, b) != nil {
			return &wireerror.PartOnly{What: what, Action: action, Branch: b}
		}
	}
	return nil
}

// branchOf returns the branch whose rights hold for a target.
func (g *Graph) branchOf(ctx context.Context, at engine.Target) (tool.Branch, error) {
	branch, named := g.of[at.Commit]
	switch {
	case at.Branch != "" || at.Commit == "":
		return tool.BranchNamed(at.Branch), nil
	case named:
		return branch, nil
	case g.At != nil:
		return *g.At, nil
	}
	c, err := g.Config.Whole.Commit(ctx, at.Commit)
	return tool.BranchNamed(c.Branch), err
}

// under returns a target with the rights of the caller, and the schema there, which is not reduced.
func (g *Graph) under(ctx context.Context, at engine.Target) (engine.Target, *engine.Schema, error) {
	branch, err := g.branchOf(ctx, at)
	if err != nil {
		return at, nil, err
	}
	s, err := g.Config.Whole.Schema(ctx, at)
	if err != nil {
		return at, nil, err
	}
	at.Rights = g.Cache.rights(g.rights(g.Reads, branch), g.Main, s)
	return at, s, nil
}

// Schema implements [engine.Graph]. If the rights hide a part of the schema, the source is empty, and the digest is that of the rest.
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	at, s, err := g.under(ctx, at)
	if err != nil {
		return nil, err
	}
	return g.Cache.Schema(s, at.Rights), nil
}

// Snapshot implements [engine.Graph].
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	at, _, err := g.under(ctx, at)
	if err != nil {
		return nil, err
	}
	s, err := g.Config.Whole.Snapshot(ctx, at)
	if err != nil || at.Rights == nil {
		return s, err
	}
	seen := *s
	seen.Commit = g.withoutHiddenMessage(s.Commit)
	seen.Nodes, seen.Edges = visible(s.Nodes, at.Rights.Nodes), visible(s.Edges, at.Rights.Edges)
	return &seen, nil
}

// visible returns the counts of the types that are not hidden.
func visible(counts []engine.TypeCount, rights map[string]*engine.TypeRights) []engine.TypeCount {
	var seen []engine.TypeCount
	for _, c := range counts {
		if t := rights[c.Type]; t == nil || !t.None {
			seen = append(seen, c)
		}
	}
	return seen
}

// planned is like under, for a plan. The error is a *engine.SchemaMismatch if the plan names something hidden. Callers reduce a plan
// before, so that they know its columns; see [Plan].
func (g *Graph) planned(ctx context.Context, q *plan.Query, at engine.Target) (engine.Target, error) {
	at, s, err := g.under(ctx, at)
	if err != nil || !hidesNames(at.Rights) {
		return at, err
	}
	return at, admits(q, s.Catalog, g.Cache.Schema(s, at.Rights).Catalog)
}

// Plan returns what a plan is for the caller of a read, or nil if it names something hidden; see [Cache.Plan].
func Plan(g engine.Graph, q *plan.Query) *plan.Query {
	if r := of(g); r != nil {
		return PlanOn(r, q, r.base())
	}
	return q
}

// PlanOn is like Plan, for a read of a branch.
func PlanOn(g engine.Graph, q *plan.Query, branch tool.Branch) *plan.Query {
	if r := of(g); r != nil {
		return r.Cache.Plan(q, r.Main, r.rights(r.Reads, branch))
	}
	return q
}

// Bind implements [engine.Graph].
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	at, err := g.planned(ctx, q, at)
	if err != nil {
		return err
	}
	return g.Config.Whole.Bind(ctx, q, at)
}

// Query implements [engine.Graph].
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	at, err := g.planned(ctx, q, at)
	if err != nil {
		return nil, err
	}
	return g.Config.Whole.Query(ctx, q, args, at)
}

// Explain implements [engine.Graph]. The estimates are withheld, because they are made from all entities.
func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	at, err := g.planned(ctx, q, at)
	if err != nil {
		return nil, err
	}
	e, err := g.Config.Whole.Explain(ctx, q, args, at, analyze)
	if err == nil && at.Rights != nil {
		withoutFigures(e.Plan)
	}
	return e, err
}

// withoutFigures removes the estimates, and the row counts of the steps below the root, which says how many rows the caller gets.
func withoutFigures(plan []*engine.Operator) {
	for _, o := range plan {
		o.Estimate = 0
		for _, c := range o.Children {
			c.Rows = nil
		}
		withoutFigures(o.Children)
	}
}

// Export implements [engine.Graph].
func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	at, s, err := g.under(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	seen := g.Cache.Schema(s, at.Rights).Catalog
	for _, name := range opts.Types {
		if edge := s.Catalog.Edge(name); s.Catalog.Node(name) != nil && seen.Node(name) == nil || edge != nil && edge.Name == name && seen.Edge(name) == nil {
			return engine.Commit{}, noType(name)
		}
	}
	c, err := g.Config.Whole.Export(ctx, w, at, opts)
	return g.withoutHiddenMessage(c), err
}

// withoutHiddenMessage returns a commit as the caller may see it: without its message, which may tell of hidden data, unless the caller may read
// all of the branch that the commit was made on and of the one that the call is about.
func (g *Graph) withoutHiddenMessage(c engine.Commit) engine.Commit {
	if g.whole("", tool.Read, tool.BranchNamed(c.Branch), g.base()) != nil || g.rights(g.Reads, g.base()) != nil {
		c.Message = ""
	}
	return c
}

// Commits implements [engine.Graph].
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	all, err := g.Config.Whole.Commits(ctx, branch, r)
	for i := range all {
		all[i] = g.withoutHiddenMessage(all[i])
	}
	return all, err
}

// Commit implements [engine.Graph].
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	c, err := g.Config.Whole.Commit(ctx, id)
	return g.withoutHiddenMessage(c), err
}

// Changes implements [engine.Graph]. It is whole or refused.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	at, _, err := g.under(ctx, engine.Target{Commit: commit})
	if err != nil {
		return nil, err
	}
	r.Rights = at.Rights
	return g.Config.Whole.Changes(ctx, commit, r)
}

// Mutate implements [engine.Graph].
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if _, err := g.planned(ctx, q, tool.BranchNamed(opts.Branch).At()); err != nil && !isClosed(err) {
		return engine.Change{}, err
	}
	g.confine(ctx, &opts)
	c, err := g.Config.Whole.Mutate(ctx, q, args, opts)
	c.Effects = visibleEffects(c.Effects, opts.Reads)
	return c, withoutNames(err, opts.Reads)
}

// Load implements [engine.Graph].
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if opts.Mode == engine.Overwrite || opts.Mode == engine.Sync { // they delete what the input lacks
		if err := g.wholeWrite("a load in the mode "+opts.Mode.String(), tool.BranchNamed(opts.Branch)); err != nil {
			return nil, err
		}
	}
	g.confine(ctx, &opts.WriteOptions)
	res, err := g.Config.Whole.Load(ctx, r, opts)
	if err == nil {
		res.Effects = visibleEffects(res.Effects, opts.Reads)
	}
	return res, withoutNames(err, opts.Reads)
}

// isClosed reports whether the branch of a write belonged to a draft that has ended. The write may repeat one that was made before.
func isClosed(err error) bool {
	var closed *engine.DraftClosed
	return errors.As(err, &closed)
}

// confine adds the rights of the caller to the options of a write.
func (g *Graph) confine(ctx context.Context, opts *engine.WriteOptions) {
	branch := tool.BranchNamed(opts.Branch)
	reads, writes := g.rights(tool.Read, branch), g.rights(tool.Change, branch)
	if reads == nil && writes == nil {
		return
	}
	s, err := g.Config.Whole.Schema(ctx, branch.At())
	if err != nil {
		s = g.Main // the write fails too, unless it repeats one that was made before the draft ended
	}
	opts.Reads, opts.Writes = g.Cache.rights(reads, g.Main, s), g.Cache.rights(writes, g.Main, s)
}

// wholeWrite returns a *wireerror.PartOnly unless the caller may read and change all of a branch.
func (g *Graph) wholeWrite(what string, branch tool.Branch) error {
	if err := g.whole(what, tool.Read, branch); err != nil {
		return err
	}
	return g.whole(what, tool.Change, branch)
}

// ApplySchema implements [engine.Graph].
func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	if err := g.wholeWrite("applying a schema", tool.BranchNamed(opts.Branch)); err != nil {
		return nil, err
	}
	return g.Config.Whole.ApplySchema(ctx, source, schema, opts)
}

// Cleanup implements [engine.Graph].
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	return g.Config.Whole.Cleanup(ctx, opts)
}
