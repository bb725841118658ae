package notes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// pathKey is the key of the types of a graph of source code, whose values end with a name that people use alone.
const pathKey = "path"

// pathTypes are the types of such a graph whose nodes may be named by the end of their path.
var pathTypes = []string{"Symbol", "Package", "File"}

// withPath are the reads, by type, that answer with a row if a path exists. Most calls name a whole path and need no more than that, so
// the plans are made once: an engine keeps the program of a plan by its address.
var withPath = func() map[string]*plan.Query {
	text := value.Of(value.String)
	path := plan.Prop{Name: pathKey, Type: text}
	reads := map[string]*plan.Query{}
	for _, kind := range pathTypes {
		reads[kind] = &plan.Query{Name: "near", Params: []plan.Param{{Name: pathKey, Type: text}}, Read: &plan.Read{
			Vars:    []plan.Var{{Name: "n", Entity: plan.Node, Type: kind}},
			Match:   []plan.Clause{plan.Bind{}, plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: path, Right: plan.ParamRef{}, Unless: plan.NoParam}}},
			Columns: []plan.Column{{Name: "key", Expr: path, Type: text}}, Ties: []plan.VarID{0}, Limit: 1,
		}}
	}
	return reads
}()

// WholePaths replaces the arguments of a stored read of a graph of source code that are ends of paths, such as Shelf.Find for
// example.com/shop/stock.Shelf.Find, if exactly one path ends so, after a slash or a dot. It returns the arguments, and a note for
// each that it replaced. Call it only for a caller that may read the whole branch.
func WholePaths(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) (engine.Args, []string) {
	var said []string
	look := &lookup{ctx: ctx, graph: g, at: at}
	whole := args
	for _, clause := range q.Read.Match {
		f, _ := clause.(plan.Filter)
		c, _ := f.Cond.(plan.Compare)
		of, isProp := c.Left.(plan.Prop)
		param, isParam := c.Right.(plan.ParamRef)
		if !isProp || !isParam || c.Op != plan.Eq || of.Name != pathKey || args[param.Index].Kind() != value.String {
			continue
		}
		v := q.Read.Vars[of.Var]
		if v.Entity != plan.Node || !slices.Contains(pathTypes, v.Type) {
			continue
		}
		short := args[param.Index].Str()
		path := look.pathWith(v.Type, short)
		if path == "" {
			continue
		}
		if len(said) == 0 {
			whole = slices.Clone(args)
		}
		whole[param.Index] = value.OfString(path)
		said = append(said, fmt.Sprintf("%s %s was read as %s, the only %s whose path ends with it", q.Params[param.Index].Name, quote(short), strconv.Quote(path), v.Type))
	}
	return whole, said
}

// pathWith returns the only path of a type that ends with a text, or "" if the text is itself a path, or if there is no such path or
// several. It returns "" for the graphs that do not hold source code.
func (l *lookup) pathWith(kind, text string) string {
	schema, err := l.graph.Schema(l.ctx, l.at)
	if err != nil || text == "" || len(text) > maxQuoted {
		return ""
	}
	module, typ := schema.Catalog.Node("Module"), schema.Catalog.Node(kind)
	if module == nil || module.Property("not_covered") == nil || typ == nil || !slices.Equal(typ.Key, []string{pathKey}) {
		return ""
	}
	if exists, err := l.exists(withPath[kind], value.OfString(text)); err != nil || exists {
		return ""
	}
	key := property(typ, pathKey)
	ends := compare(plan.Matches, key, value.OfString("[/.]"+regexp.QuoteMeta(strings.TrimPrefix(text, "/"))+"$"))
	found, err := l.keys(typ, 2, nil, compare(plan.Contains, key, value.OfString(text)), ends)
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// exists reports whether a read has a row.
func (l *lookup) exists(q *plan.Query, arg value.Value) (bool, error) {
	r, err := l.graph.Query(l.ctx, q, engine.Args{arg}, l.at)
	if err != nil {
		return false, err
	}
	defer r.Close()
	b, err := r.Next(l.ctx)
	return b != nil && b.Len > 0, err
}
