package plan

import "strings"

// mutation writes a mutation.
func (p *printer) mutation(m *Mutation) {
	p.declare(m.Vars)
	for _, st := range m.Statements {
		p.statement(st)
	}
	if m.Returns != nil {
		p.line("return")
		p.depth++
		p.columns(m.Returns)
		p.depth--
	}
}

// statement writes a statement of a mutation.
func (p *printer) statement(st Statement) {
	switch st := st.(type) {
	case Insert:
		p.insert(st)
	case Update:
		p.line("update %s %s where %s", st.Entity, st.Type, p.preds(st.Where))
		p.depth++
		p.assigns(st.Set)
		p.depth--
	case Delete:
		p.line("delete %s %s where %s", st.Entity, st.Type, p.preds(st.Where))
	case ForEach:
		p.forEach(st)
	}
}

// insert writes an insert, an insert new or an upsert.
func (p *printer) insert(st Insert) {
	verb := "insert"
	switch {
	case st.Upsert:
		verb = "upsert"
	case st.New:
		verb = "insert new"
	}
	if st.As != nil {
		verb = p.vars[*st.As] + " = " + verb
	}
	p.line("%s %s %s", verb, st.Entity, st.Type)
	p.depth++
	for _, own := range []struct {
		name string
		expr Expr
	}{{"id", st.ID}, {"from", st.From}, {"to", st.To}} {
		if own.expr != nil {
			p.line("%s = %s", own.name, p.expr(own.expr))
		}
	}
	p.assigns(st.Set)
	p.depth--
}

// forEach writes a ForEach. The variables of its match have names of their own.
func (p *printer) forEach(st ForEach) {
	if st.Read == nil {
		p.line("for $%s in %s", st.Var, p.expr(st.List))
		p.depth++
	} else {
		p.line("for each match")
		p.depth++
		outer := p.vars
		p.nameVars(st.Read.Vars)
		p.read(st.Read)
		p.vars = outer
	}
	for _, inner := range st.Statements {
		p.statement(inner)
	}
	p.depth--
}

// assigns writes assignments, one a line.
func (p *printer) assigns(as []Assign) {
	for _, a := range as {
		p.line("%s: %s = %s", a.Name, a.Type, p.expr(a.Value))
	}
}

// preds formats the predicates of an update or a delete.
func (p *printer) preds(list []Pred) string {
	texts := make([]string, len(list))
	for i, pr := range list {
		texts[i] = pr.Name + " " + pr.Op.String() + " " + p.expr(pr.Value)
	}
	return strings.Join(texts, " and ")
}
