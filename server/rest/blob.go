package rest

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// blob answers with the bytes of a Blob, or a part of them.
func (x *exchange) blob() error {
	p := blobPlace{
		entity: plan.Node, typ: x.query.Get("type"), id: x.query.Get("id"), property: x.query.Get("property"),
	}
	if x.query.Get("entity") == plan.Edge.String() {
		p.entity = plan.Edge
	}
	var content []byte
	answer, err := x.do(&service.Look{At: x.target(), Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (_ any, err error) {
		content, err = p.read(ctx, env.Graph, engine.Target{Commit: c.ID})
		return nil, err
	}}, service.Encoding{})
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("ETag", entityTag(answer.Commit))
	h.Set("Cache-Control", cacheable)
	// Whoever stored the bytes is not to run scripts in the browser of whoever looks at
	// them: they are never shown, whatever they are.
	h.Set("Content-Type", mediaBytes)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": p.property}))
	w := &ranged{ResponseWriter: x.w}
	http.ServeContent(w, x.r, "", time.Time{}, bytes.NewReader(content))
	if w.refused != 0 {
		if w.refused == http.StatusRequestedRangeNotSatisfiable {
			h.Set("Content-Range", "bytes */"+strconv.Itoa(len(content))) // also of a range that is malformed
		}
		h.Del("Content-Disposition")
		h.Del("Content-Security-Policy")
		h.Del("ETag")
		h.Del("Content-Length")
		code, message := service.BadRequest, "header Range: no part of it is within the "+h.Get("Content-Range")
		if w.refused == http.StatusPreconditionFailed {
			code, message = "", "the blob is of commit "+answer.Commit+", which the condition in the header leaves out"
		}
		return &httpError{envelope.New(w.refused, code, message)}
	}
	return nil
}

// ranged takes from http.ServeContent the faults that it answers in a form of its own.
type ranged struct {
	http.ResponseWriter
	refused int // the status of the fault
}

func (w *ranged) WriteHeader(status int) {
	if status >= 400 {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *ranged) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// blobPlace is where a blob is.
type blobPlace struct {
	entity            plan.Entity
	typ, id, property string
}

// read returns the bytes. Blobs are no values in the language, but engines return them.
func (p *blobPlace) read(ctx context.Context, g engine.Graph, at engine.Target) ([]byte, error) {
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return nil, err
	}
	q, err := p.plan(schema.Catalog)
	if err != nil {
		return nil, err
	}
	result, err := g.Query(ctx, q, engine.Args{value.OfString(p.id)}, at)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		b, err := result.Next(ctx)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			return nil, &engine.NotFound{What: p.entity.String() + " " + p.typ, Name: p.id}
		case b.Len == 0:
			continue
		}
		v := b.Columns[0].Value(0)
		if v.IsNull() {
			return nil, &engine.NotFound{What: "blob of " + p.entity.String() + " " + p.typ, Name: p.id}
		}
		return v.Bytes(), nil
	}
}

// plan is the read of the property of the entity whose id is the one argument.
func (p *blobPlace) plan(s *catalog.Schema) (*plan.Query, error) {
	var prop *catalog.Property
	r := &plan.Read{Limit: plan.NoLimit}
	use := plan.Use{Entity: p.entity, Type: p.typ}
	var v plan.VarID
	switch p.entity {
	case plan.Node:
		t := s.Node(p.typ)
		if t == nil {
			return nil, &engine.NotFound{What: "node type", Name: p.typ}
		}
		prop = t.Property(p.property)
		r.Vars = []plan.Var{{Name: "n", Entity: plan.Node, Type: t.Name}}
		r.Match = []plan.Clause{plan.Bind{Var: v}}
		r.Ties = []plan.VarID{v}
	case plan.Edge:
		t := s.Edge(p.typ)
		if t == nil {
			return nil, &engine.NotFound{What: "edge type", Name: p.typ}
		}
		prop, v = t.Property(p.property), 2
		use.Type, use.From, use.To = t.Name, t.From, t.To
		r.Vars = []plan.Var{{Name: "a", Entity: plan.Node, Type: t.From}, {Name: "b", Entity: plan.Node, Type: t.To}, {Name: "e", Entity: plan.Edge, Type: t.Name}}
		r.Match = []plan.Clause{plan.Traverse{From: 0, To: 1, Edge: t.Name, EdgeVar: v, Min: 1, Max: 1}}
		r.Ties = []plan.VarID{0, 1, v}
	}
	if prop == nil {
		return nil, &engine.NotFound{What: "property of " + use.Type, Name: p.property}
	}
	if prop.Type.Kind != value.Blob || prop.Type.List {
		return nil, &tool.ArgumentError{Path: "property", Detail: use.Type + "." + prop.Name + " is of type " + prop.Type.String() + ", wanted a Blob", Help: "read it with POST …/query"}
	}
	r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.ID{Var: v}, Right: plan.ParamRef{Index: 0}, Unless: plan.NoParam}})
	r.Columns = []plan.Column{{Name: prop.Name, Expr: plan.Prop{Var: v, Name: prop.Name, Type: prop.Type}, Type: prop.Type}}
	property := use
	property.Property, property.Value, property.From, property.To = prop.Name, prop.Type, "", ""
	return &plan.Query{
		Name: "blob", Params: []plan.Param{{Name: "id", Type: value.Of(value.String)}}, Read: r, Uses: []plan.Use{use, property},
	}, nil
}
