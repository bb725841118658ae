package foreign

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// bind makes a variable known. The type may be "".
func (r *rewriter) bind(name, typ string) string {
	if name == "" || name == "_" {
		return "$_"
	}
	refuse.If(len(r.order) >= maxVars)
	if old, ok := r.vars[name]; !ok {
		r.vars[name] = typ
		r.order = append(r.order, name)
	} else if old == "" {
		r.vars[name] = typ
	}
	return "$" + naming.Lower(name)
}

// fresh binds a new variable whose name is the first letter of its type, and which the text does not use.
func (r *rewriter) fresh(typ string) string {
	name := naming.Lower(typ[:1])
	for used := true; used; {
		if _, used = r.vars[name]; used || r.inText(name) || r.BindsLater(name) {
			used = true
			name += naming.Lower(typ[:1])
		}
	}
	r.bind(name, typ)
	return name
}

// inText reports whether the text has a variable or a parameter of a name.
func (r *rewriter) inText(name string) bool {
	if r.dollars == nil {
		r.dollars = map[string]bool{}
		all := slices.Clone(r.Tokens)
		for _, f := range r.fragments {
			all = append(all, f.tokens...)
		}
		for _, t := range all {
			if t.Kind == lex.Dollar {
				r.dollars[t.Text] = true
			}
		}
	}
	return r.dollars[name]
}

// firstNode returns a variable that every match binds.
func (r *rewriter) firstNode() string {
	for _, v := range r.order {
		if r.Schema.Node(r.vars[v]) != nil || r.Schema.Interface(r.vars[v]) != nil {
			return v
		}
	}
	for _, v := range r.order { // the edges alone
		if slices.Contains(r.tables, v) {
			return v
		}
	}
	panic(refuse.GiveUp{})
}

// first returns a variable that every match binds, for count(*).
func (r *rewriter) first() string {
	v := r.firstNode()
	if r.Schema.Edge(r.vars[v]) != nil {
		return "$" + naming.Lower(v) + ".id"
	}
	return "$" + naming.Lower(v)
}
