package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// end is an end of an edge as a line gives it: the id of a node, or an object with the type and the id of a
// node.
type end struct {
	object bool   // whether it is an object
	typ    string // the member `type` of an object
	text   string // the id; after checkEnd, the id of the entity at the end, which may be a reference
}

// end reads an end of an edge.
func (p *parser) end(field string) (out end, ok bool) {
	if p.dec.PeekKind() != '{' {
		out.text, ok = p.text(p.dec, field)
		return out, ok
	}
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail(field, syntax(err, ""))
		return out, false
	}
	out.object = true
	var hasType, hasID bool
	for p.dec.PeekKind() != '}' {
		name, ok := p.name(p.dec)
		if !ok {
			return out, false
		}
		switch name {
		case "type":
			out.typ, ok = p.text(p.dec, field+".type")
			hasType = true
		case "id":
			out.text, ok = p.text(p.dec, field+".id")
			hasID = true
		default:
			p.fail(field+"."+name, errors.New("the member is unknown; an end has the members type and id"))
			ok = false
		}
		if !ok {
			return out, false
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail(field, syntax(err, ""))
		return out, false
	}
	if !hasType || !hasID {
		p.fail(field, errors.New("the object lacks a member; give the type and the id of the node"))
		return out, false
	}
	return out, true
}

// checkEnd checks that an end has the form that its edge type requires, and sets the id of the entity at the
// end.
func (p *parser) checkEnd(field string, t *schema.Type, e *end) {
	switch {
	case t.Of == nil && e.object:
		p.fail(field, fmt.Errorf("found an object, expected a string: the id of the %s", t.Name))
	case t.Of == nil:
	case !e.object:
		p.fail(field, fmt.Errorf(`found a string, expected an object: {"type": …, "id": …} of a node that implements %s`, t.Of.Type.Name))
	default:
		if wrong := t.CheckEnd(value.OfRecord([]value.Value{value.OfString(e.typ), value.OfString(e.text)})); wrong != "" {
			p.fail(field+".type", errors.New(wrong))
			return
		}
		e.text = schema.RefID(e.typ, e.text)
	}
}

// endForm says what an end of an edge consists of.
func endForm(t *schema.Type) string {
	if t.Of == nil {
		return "id"
	}
	return "type and the id"
}

// refer creates the references that the edges of a chunk need at an end, unless they exist. It creates none for a
// node that does not exist. In a bulk load the references become a part of the commit.
func (a *applier) refer(r *Rows, c *chunk, t *schema.Type, ids func(*batch) *column.Builder) error {
	refs := a.tx.Table(t)
	rd := reader{Rows: r}
	var missing []string
	for i := range c.n {
		if i%cancelEvery == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		b, at := rd.at(c.row(i))
		ref := view(ids(b).Raw(at))
		if _, ok := refs.Lookup(ref); ok {
			continue
		}
		typ, id := schema.SplitRef(ref)
		if _, ok := a.tx.Table(t.Of.Member(typ)).Lookup(id); ok {
			missing = append(missing, strings.Clone(ref))
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if !a.bulk {
		for _, ref := range missing {
			a.tx.Put(t, version.Row{ID: ref})
		}
		return nil
	}
	if len(missing) == 0 {
		return nil
	}
	made, err := a.make(t, &segment.Draft{N: uint32(len(missing)), ID: func() (*column.Column, error) {
		out := column.NewBuilder(textType)
		for _, ref := range missing {
			if err := out.AppendString(ref); err != nil {
				return nil, err
			}
		}
		return out.Finish(nil), nil
	}})
	if err != nil {
		return err
	}
	parts := []version.Part{{Type: t, Segment: made}}
	a.references = append(a.references, parts...)
	return a.tx.PutSegments(parts)
}

// takes reports whether the input has nodes of a type that may be at an end with the type t.
func (a *applier) takes(t *schema.Type) bool {
	if t.Of == nil {
		return a.in.Nodes[t.Index] != nil
	}
	return slices.ContainsFunc(t.Of.Members, func(m schema.Member) bool { return a.in.Nodes[m.Type.Index] != nil })
}
