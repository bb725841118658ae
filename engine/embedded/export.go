package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// exportBatch is the number of lines that Export writes between two checks of the context.
const exportBatch = 1024

// Export writes the entities at the target to w as NDJSON, one line per entity, and returns the
// target's commit. opts.Types selects node and edge types by name; an empty list selects all. The
// error for an unknown type is a *engine.BadArgument.
func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (_ engine.Commit, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	snap, done, err := g.read(ctx, at, nil)
	if err != nil {
		return engine.Commit{}, err
	}
	defer done()
	wanted := map[*schema.Type]bool{}
	for _, name := range opts.Types {
		node, edge := snap.Schema.Type(plan.Node, name), snap.Schema.Type(plan.Edge, name)
		if node == nil && edge == nil {
			return engine.Commit{}, &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
		}
		wanted[node], wanted[edge] = true, true
	}
	buf := bufio.NewWriterSize(w, 1<<16)
	for _, t := range snap.Tables() {
		if t.Type.Of != nil || len(opts.Types) > 0 && !wanted[t.Type] {
			continue
		}
		if err := export(ctx, buf, snap, t, opts.StringIntegers, rights.Hidden(at.Rights, t.Type)); err != nil {
			return engine.Commit{}, err
		}
	}
	return snap.Commit, buf.Flush()
}

// export writes the entities of a table in id order. If quoted is true, integers of 64 bits become strings. It leaves out the
// hidden properties.
func export(ctx context.Context, w *bufio.Writer, s *version.Snapshot, t *version.Table, quoted bool, hidden map[int]bool) error {
	ords := make([]uint32, t.Live())
	n, _ := t.Scan(0, ords)
	ords = ords[:n]
	if !t.Sorted() {
		slices.SortFunc(ords, func(a, b uint32) int { return strings.Compare(t.ID(a), t.ID(b)) })
	}
	var line []byte
	for i, ord := range ords {
		if i%exportBatch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var err error
		if line, err = appendEnvelope(line[:0], s, t, ord, quoted, hidden); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendEnvelope appends the line of one entity. It omits nulls. It returns a *engine.Unsupported
// for a number that is not finite.
func appendEnvelope(dst []byte, s *version.Snapshot, t *version.Table, ord uint32, quoted bool, hidden map[int]bool) ([]byte, error) {
	text := func(dst []byte, s string) []byte {
		dst, _ = jsontext.AppendQuote(dst, s) // the load has replaced invalid UTF-8 in the same way
		return dst
	}
	dst = append(dst, `{"type":`...)
	if t.Type.Entity == plan.Edge {
		dst = append(dst[:0], `{"edge":`...)
	}
	dst = text(dst, t.Type.Name)
	if t.Type.Entity == plan.Edge {
		src, dstOrd := t.Ends(ord)
		end := func(name string, of *schema.Type, ord uint32) {
			typ, id := of.Label(s.Nodes(of.Index).ID(ord))
			dst = append(dst, `,"`+name+`":`...)
			if of.Of == nil {
				dst = text(dst, id)
				return
			}
			dst = text(append(dst, `{"type":`...), typ)
			dst = append(text(append(dst, `,"id":`...), id), '}')
		}
		end("from", s.Schema.EndType(t.Type, false), src)
		end("to", s.Schema.EndType(t.Type, true), dstOrd)
	}
	dst = append(dst, `,"data":{`...)
	if _, own := t.Type.Prop("id"); !own {
		dst = text(append(dst, `"id":`...), t.ID(ord))
		dst = append(dst, ',')
	}
	for p, prop := range t.Type.Props {
		if hidden[p] {
			continue
		}
		v := t.Value(ord, p)
		if v.IsNull() {
			if prop.Default != nil { // a load would give a line without the property its default
				dst = append(text(dst, prop.Name), ":null,"...)
			}
			continue
		}
		dst = append(text(dst, prop.Name), ':')
		var ok bool
		if dst, ok = appendValue(dst, v, quoted); !ok {
			return nil, &engine.Unsupported{Construct: fmt.Sprintf("exporting %s %q, whose property %s is not a finite number,", t.Type.Name, t.ID(ord), prop.Name)}
		}
		dst = append(dst, ',')
	}
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	dst = append(dst, '}')
	if claims := t.Claims(ord); claims != "" && len(hidden) == 0 { // a membership names properties
		dst = text(append(dst, `,"sources":`...), claims)
	}
	return append(dst, "}\n"...), nil
}

// appendValue appends a value in the form that a load accepts. ok is false if JSON has no form
// for the value.
func appendValue(dst []byte, v value.Value, quoted bool) (out []byte, ok bool) {
	if v.IsList() {
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, ok = appendValue(dst, e, quoted); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	}
	switch k := v.Kind(); k.Storage() {
	case value.InVector:
		dst = append(dst, '[')
		for i, f := range v.Vector() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, ok = appendFloat(dst, float64(f), 32); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	case value.InFloat32:
		return appendFloat(dst, v.Float(), 32)
	case value.InFloat64:
		return appendFloat(dst, v.Float(), 64)
	default:
		if k.JSON() != value.JSONText && !(quoted && k.JSON() == value.JSONWide) {
			return value.AppendText(dst, v), true
		}
	}
	dst, _ = jsontext.AppendQuote(dst, value.AppendText(nil, v))
	return dst, true
}

// appendFloat appends a finite number. Unlike the canonical text, it keeps the sign of 0. ok is
// false if the number is not finite.
func appendFloat(dst []byte, f float64, bits int) (out []byte, ok bool) {
	if f == 0 && math.Signbit(f) {
		return append(dst, "-0"...), true
	}
	return value.AppendFloat(dst, f, bits), !math.IsNaN(f) && !math.IsInf(f, 0)
}
