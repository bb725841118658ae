package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/contract"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
)

// This file is about queries that were proposed on a server and merged. They live in the revision, and not in the files of the
// cluster, until gq pull writes them there.

// ProposedQuery is a query that was proposed on a server.
type ProposedQuery struct {
	Name     string // of the query and of its tool
	Text     string // its .gq text
	Proposal string // the id of its proposal
}

// proposedFile returns the name of the file of a proposed query in its contract.
func proposedFile(name string) string { return "proposed/" + name + ".gq" }

// ProposedQueries lists the proposed queries of the graph, by name. g may be nil.
func (g *Graph) ProposedQueries() []ProposedQuery {
	if g == nil || g.Proposed == nil {
		return nil
	}
	var all []ProposedQuery
	for _, f := range g.Proposed.Files {
		name := strings.TrimSuffix(strings.TrimPrefix(f.Name, "proposed/"), ".gq")
		all = append(all, ProposedQuery{name, f.Text, g.Proposed.Proposals[name]})
	}
	return all
}

// compileProposed compiles proposed queries for a schema. It returns nil if there are none.
func compileProposed(graph string, schema *catalog.Schema, source compile.Source, claims plan.Claims, strict bool, queries []ProposedQuery) (*Stored, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	queries = slices.SortedFunc(slices.Values(queries), func(a, b ProposedQuery) int { return strings.Compare(a.Name, b.Name) })
	s := &Stored{Strict: strict, Proposals: map[string]string{}}
	var texts []compile.Source
	for _, q := range queries {
		f := QueryFile{proposedFile(q.Name), q.Text}
		s.Files, texts = append(s.Files, f), append(texts, compile.Source{Name: f.Name, Text: f.Text})
		s.Proposals[q.Name] = q.Proposal
	}
	compiled, found := (compile.Options{Claims: claims}).CompileQueries(schema, texts...)
	if found.HasErrors() {
		return nil, found
	}
	found, err := s.build(model.Input{Graph: graph, Schema: schema, Source: source, Queries: compiled, ReservedTools: true})
	if err := errors.Join(err, found.Err()); err != nil {
		return nil, err
	}
	return s, nil
}

// Add returns the revision that follows r and has another proposed query of a graph, with the changes of its tools as gq breaking
// finds them. It returns nil if r has this text of this proposal already. It changes nothing else, and replaces no query but another
// text of the same proposal: then, and if the graph is not in the revision, which may be nil, the error is an *engine.Conflict. It is a
// diag.List if the text has faults.
func (r *Revision) Add(graph string, q ProposedQuery, claims plan.Claims) (*Revision, []breaking.Change, error) {
	g := r.Graph(graph)
	if g == nil {
		return nil, nil, &engine.Conflict{Reason: "no revision has graph " + graph + ", so the server cannot add a query to it; run omnigraph cluster apply"}
	}
	was, _ := g.Proposed.contract()
	applied, err := g.Stored.contract()
	if err != nil {
		return nil, nil, err
	}
	others := g.ProposedQueries()
	own := slices.IndexFunc(others, func(o ProposedQuery) bool { return o.Name == q.Name && o.Proposal == q.Proposal && q.Proposal != "" })
	if own >= 0 {
		if others[own].Text == q.Text {
			return nil, nil, nil
		}
		others = slices.Delete(others, own, own+1)
	}
	for _, o := range slices.Concat(applied.Queries, was.Queries) {
		if (o.Name == q.Name || o.Tool == q.Name) && own < 0 {
			return nil, nil, &engine.Conflict{Reason: fmt.Sprintf("the graph has the stored query %s (tool %s), and a proposed query replaces none; choose another name", o.Name, o.Tool)}
		}
	}
	if slices.Contains(model.ReservedTools(), q.Name) {
		return nil, nil, &engine.Conflict{Reason: q.Name + " is the name of a built-in tool; choose another name"}
	}
	source := compile.Source{Name: RevisionFile, Text: g.Source}
	schema, found := compile.StoredSchema(source)
	if found.HasErrors() {
		return nil, nil, found
	}
	added := *g
	strict := g.Stored != nil && g.Stored.Strict
	if added.Proposed, err = compileProposed(graph, schema, source, claims, strict, append(others, q)); err != nil {
		return nil, nil, err
	}
	is, err := added.Proposed.contract()
	if err != nil {
		return nil, nil, err
	}
	next := *r
	next.Graphs = slices.Clone(r.Graphs)
	next.Graphs[slices.IndexFunc(next.Graphs, func(o Graph) bool { return o.ID == graph })] = added
	next.Number, next.Config = r.Number+1, next.digest()
	return &next, breaking.Compare(was, is), nil
}

// contract decodes the contract. s may be nil.
func (s *Stored) contract() (*contract.Contract, error) {
	c := &contract.Contract{}
	if s == nil {
		return c, nil
	}
	return c, json.Unmarshal(s.Contract, c)
}

// publishPatience is how long Publish waits for an apply or a starting server.
const publishPatience = 10 * time.Second

// Publish records a revision with another proposed query of a graph, unless the recorded one has it already; see [Revision.Add].
func (c *Cluster) Publish(ctx context.Context, graph string, q ProposedQuery, claims plan.Claims, actor string) error {
	const pause = 20 * time.Millisecond
	for until := clock.Now().Add(publishPatience); ; {
		recorded, err := c.publish(ctx, graph, q, claims, actor)
		var held *engine.Unavailable
		again := errors.As(err, &held) || recorded && errors.As(err, new(*engine.Conflict)) // another apply was faster
		if !again || clock.Now().After(until) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// publish tries once. It reports whether it tried to record a revision.
func (c *Cluster) publish(ctx context.Context, graph string, q ProposedQuery, claims plan.Claims, actor string) (recorded bool, err error) {
	lock, err := c.Lock()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	r, err := c.Revision(ctx)
	if err != nil {
		return false, err
	}
	next, _, err := r.Add(graph, q, claims)
	if err != nil || next == nil {
		return false, err
	}
	next.Applied, next.Actor, next.Message = c.now().UnixMicro(), actor, "add the proposed query "+q.Name
	return true, c.record(ctx, next)
}

// ProposedFaults is the error if proposed queries of a graph do not fit the next schema.
type ProposedFaults struct{ Err error }

func (e *ProposedFaults) Error() string {
	return "the revision has proposed queries that do not fit the schema; write them into the module with gq pull and correct them, or drop all proposed queries with --prune: " + e.Err.Error()
}

// Unwrap returns the faults of the queries.
func (e *ProposedFaults) Unwrap() error { return e.Err }

// keepProposed puts the proposed queries of the recorded graph, which may be nil, into the next revision, or those of the earlier revision
// if the sources are its content. It leaves out those that the files of the graph have by now, and all if the sources prune.
func (g *Source) keepProposed(before *Graph, s *Sources) (kept, dropped []string, err error) {
	g.Proposed = nil
	var keep []ProposedQuery
	all := before.ProposedQueries()
	if s.again {
		now := all
		all = g.earlier.ProposedQueries()
		for _, q := range now {
			if !slices.ContainsFunc(all, func(o ProposedQuery) bool { return o.Name == q.Name }) && !slices.Contains(g.Queries, q.Name) {
				dropped = append(dropped, q.Name)
			}
		}
	}
	for _, q := range all {
		switch {
		case slices.Contains(g.Queries, q.Name):
		case s.Prune:
			dropped = append(dropped, q.Name)
		default:
			keep, kept = append(keep, q), append(kept, q.Name)
		}
	}
	if keep == nil {
		return kept, dropped, nil
	}
	strict := g.Stored != nil && g.Stored.Strict
	if g.Proposed, err = compileProposed(g.ID, g.Schema, compile.Source{Name: g.File, Text: g.Text}, s.Claims, strict, keep); err != nil {
		g.Proposed = before.Proposed
		return kept, dropped, &ProposedFaults{err}
	}
	return kept, dropped, nil
}

// proposedNames returns the names of the proposed queries of a graph of a revision, which may be nil.
func (r *Revision) proposedNames(graph string) (names []string) {
	for _, q := range r.Graph(graph).ProposedQueries() {
		names = append(names, q.Name)
	}
	return names
}
