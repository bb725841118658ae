package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// otherPlans are the stored queries of revisions for the schemas of those revisions; see [servedgraph.Config.Plans].
type otherPlans struct {
	reading sync.Mutex // held while the storage is read, so that one call reads it and others wait; before mu

	mu     sync.Mutex
	served []plansOf            // of the last generations, the latest last
	read   []plansOf            // of the prepared and the recorded revision, when the storage was read last
	looked map[string]time.Time // when the storage was read last for a schema, by its digest
}

// plansOf are the queries of a graph of one revision.
type plansOf struct {
	number        uint64 // of the revision
	graph, schema string // the id, and the digest
	source        string // text of the schema
	catalog       *tool.Catalog
}

const (
	// plansPause is the time between two looks into the storage for the same schema, and plansTime bounds one.
	plansPause = time.Second
	plansTime  = 5 * time.Second

	maxPlans  = 4   // generations whose queries of a graph are kept
	maxLooked = 100 // digests in otherPlans.looked
)

// keep remembers the queries that a generation serves.
func (p *otherPlans) keep(g *generation) {
	if g.revision == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range g.revision.Graphs {
		of := &g.revision.Graphs[i]
		c := catalogOf(g.catalogs, of.ID)
		if c == nil {
			continue
		}
		newer := 1
		kept := []plansOf{}
		for _, k := range slices.Backward(p.served) {
			if k.graph == of.ID {
				if newer++; newer > maxPlans {
					continue
				}
			}
			kept = append(kept, k)
		}
		slices.Reverse(kept)
		p.served = append(kept, plansOf{g.revision.Number, of.ID, of.Schema, of.Source, c})
	}
}

// plansFor returns the function Plans of a graph.
func plansFor(s *Server, o *Options, graph string) servedgraph.Plans {
	own := o.applied.Graph(graph)
	if s.storage == nil || o.CompiledOnly || own == nil {
		return nil
	}
	moved := map[string]map[string]bool{} // by digest; guarded by p.mu
	return func(ctx context.Context, digest string, query tool.StoredQuery) (_ tool.StoredQuery, renamed bool) {
		p := &s.plans
		if err := p.look(ctx, s.storage, o, digest); err != nil {
			o.Log.Warn("the server cannot read the plans for the schema that an apply has set", "graph", graph, "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		c := p.find(graph, digest)
		if c == nil {
			return nil, false
		}
		if moved[digest] == nil {
			moved[digest] = movedNames(own.Source, c.source)
		}
		uses := false
		for _, u := range query.Plan().Uses {
			for _, name := range []string{u.Type, u.Property} {
				again, ok := moved[digest][name]
				uses, renamed = uses || ok, renamed || again
			}
		}
		if !uses {
			return query, false
		}
		for _, q := range c.catalog.Queries {
			if q.Info().Name == query.Info().Name {
				return q, renamed
			}
		}
		return nil, renamed
	}
}

// look reads the plans of the recorded and the prepared revision, unless the storage was read for this schema a moment ago.
func (p *otherPlans) look(ctx context.Context, c *reconcile.Cluster, o *Options, digest string) error {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.mu.Lock()
	due := clock.Since(p.looked[digest]) >= plansPause
	p.mu.Unlock()
	if !due {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, plansTime)
	defer cancel()
	read, err := readPlans(ctx, c, o)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.looked) >= maxLooked || p.looked == nil {
		p.looked = map[string]time.Time{}
	}
	p.looked[digest] = clock.Now()
	if err == nil {
		p.read = read
	}
	return err
}

// find returns the queries of a graph for a schema in the latest revision that has it, or nil. The caller holds p.mu.
func (p *otherPlans) find(graph, schema string) (found *plansOf) {
	for _, list := range [][]plansOf{p.served, p.read} {
		for i := range list {
			if k := &list[i]; k.graph == graph && k.schema == schema && (found == nil || k.number >= found.number) {
				found = k
			}
		}
	}
	return found
}

// movedNames returns the names of types and properties that do not mean the same in two schemas: the renamed, the dropped, and those that
// change their type. A name counts in every type. It is true for the names in a rename.
func movedNames(from, to string) map[string]bool {
	names := map[string]bool{}
	a, faults := compile.StoredSchema(compile.Source{Name: "from.pg", Text: from})
	b, also := compile.StoredSchema(compile.Source{Name: "to.pg", Text: to})
	if faults.HasErrors() || also.HasErrors() {
		return names // another version wrote one; the plan binds by names
	}
	for _, s := range catalog.Diff(a, b).Steps {
		name := cmp.Or(s.Property, s.Type)
		switch {
		case s.Was != "":
			names[s.Was], names[name] = true, true
		case s.Drop != "", s.Code == catalog.DropInterface, s.From != "" && s.To != "":
			if _, renamed := names[name]; !renamed {
				names[name] = false
			}
		}
	}
	delete(names, "") // a Use of a type has no property
	return names
}

// readPlans reads the queries of the recorded revision and of the prepared one.
func readPlans(ctx context.Context, c *reconcile.Cluster, o *Options) (all []plansOf, err error) {
	recorded, err := c.Revision(ctx)
	if err != nil {
		return nil, err
	}
	prepared, err := c.Prepared(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range []*reconcile.Revision{recorded, prepared} {
		for i := 0; r != nil && i < len(r.Graphs); i++ {
			g := &r.Graphs[i]
			stored, _, err := g.Catalog(o.Cluster.Server.Claims)
			proposed, _, also := g.ProposedCatalog(o.Cluster.Server.Claims)
			if errors.Join(err, also) != nil {
				continue // the server says so when it serves the revision
			}
			both := &tool.Catalog{Graph: g.ID}
			for _, from := range []*tool.Catalog{stored, proposed} {
				if from != nil {
					both.Queries = append(both.Queries, from.Queries...)
				}
			}
			all = append(all, plansOf{r.Number, g.ID, g.Schema, g.Source, both})
		}
	}
	return all, nil
}
