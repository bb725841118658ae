package load

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// find returns the id of an entity whose line has none, or an empty id if one must be made. It fails if the line leaves
// open which entity it means; see [engine.LoadMode]. The function `val` returns the value of a property.
func (p *parser) find(t *schema.Type, from, to string, val func(i int) value.Value) (string, error) {
	if !p.opts.Mode.Finds() {
		return "", nil
	}
	if t.Entity == plan.Node {
		return "", fmt.Errorf("the id is missing, and %s has no key, so a second load would double the node; give an id, or load with the mode append", t.Name)
	}
	if p.opts.Changes {
		return "", errors.New("the id is missing; a change names its edge by the id")
	}
	rule, ok := t.Identity(val)
	switch {
	case ok:
		return p.edgeID(t, rule, from, to, val), nil
	case p.opts.NewEdges:
		return "", nil
	}
	why := fmt.Sprintf("%s has no @unique(src, dst)", t.Name)
	for i := range t.Unique {
		if t.IdentifiesEdges(i) {
			why = fmt.Sprintf("a property of its @unique(%s) is null", t.UniqueNames(i))
			break
		}
	}
	return "", fmt.Errorf("the id is missing, and %s, so a second load would double the edge; give an id, load with the mode append, or set new_edges", why)
}

// edgeID returns the id of the edge with the given values in a unique rule. The id is empty if the edge is new and another
// edge has the id that the values determine.
func (p *parser) edgeID(t *schema.Type, rule int, from, to string, val func(i int) value.Value) string {
	var edges *version.Table
	if base := p.opts.Base; base != nil && base.Edges(t.Index).Live() > 0 {
		edges = base.Edges(t.Index)
		src, hasSrc := base.Nodes(t.From).Lookup(from)
		dst, hasDst := base.Nodes(t.To).Lookup(to)
		if hasSrc && hasDst {
			if ord, ok := version.FindTuple(edges, rule, src, dst, val); ok {
				return edges.ID(ord)
			}
		}
	}
	id := p.schema.EdgeID(t, rule, from, to, val)
	if edges != nil {
		if _, taken := edges.Lookup(id); taken {
			return ""
		}
	}
	return id
}

// findMoved adds the rows of a chunk to `lost` that have the id of an edge between other nodes.
func (a *applier) findMoved(r *Rows, c *chunk, src, dst []uint32, lost *missing) {
	table := a.tx.Table(r.Type)
	if !a.mode.Finds() || a.in.opts.Changes || r.newID != nil || table.Live() == 0 {
		return
	}
	rd := reader{Rows: r}
	for i := 0; i < c.n && len(lost.moved) <= maxErrors; i++ {
		if i%cancelEvery == 0 && a.ctx.Err() != nil {
			return
		}
		if ord, ok := table.Lookup(rd.id(c.row(i))); ok {
			if s, d := table.Ends(ord); s != src[i] || d != dst[i] {
				lost.moved = append(lost.moved, uint32(c.row(i)))
			}
		}
	}
}

// failMoved records rows with the id of an edge between other nodes as faults.
func (a *applier) failMoved(r *Rows, rows []uint32) {
	table := a.tx.Table(r.Type)
	rd := reader{Rows: r}
	for _, row := range rows {
		id := strings.Clone(rd.id(int(row)))
		ord, _ := table.Lookup(id)
		src, dst := table.Ends(ord)
		_, from := a.tx.Schema().Nodes[r.Type.From].Label(a.tx.Table(a.tx.Schema().Nodes[r.Type.From]).ID(src))
		_, to := a.tx.Schema().Nodes[r.Type.To].Label(a.tx.Table(a.tx.Schema().Nodes[r.Type.To]).ID(dst))
		a.fail(rd.line(int(row)), "data.id", &engine.KeyConflict{Entity: "edge", Type: r.Type.Name, ID: id, Moved: true, From: strings.Clone(from), To: strings.Clone(to)})
	}
}
