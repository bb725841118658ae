package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// candidates returns the entities that a variable can stand for.
func (ev *evaluation) candidates(v plan.Var) []*entity {
	all := ev.state.sorted(v.Entity, v.Type)
	if v.Entity == plan.Interface && ev.g.fault == InterfaceShort && len(all) > 0 {
		last := all[len(all)-1].typ
		all = slices.DeleteFunc(all, func(e *entity) bool { return e.typ == last && e.typ != all[0].typ })
	}
	return all
}

// typeName returns the name of the type of an entity, or null for nothing.
func (ev *evaluation) typeName(e *entity) value.Value {
	if e == nothing {
		return value.Null
	}
	return value.OfString(e.typ)
}

// tie returns the values by which the variable v breaks ties in an assignment. They identify its entity
// among those that the variable can stand for.
func (ev *evaluation) tie(v plan.VarID, env []*entity) []value.Value {
	id := idOf(env[v])
	if ev.query.Read.Vars[v].Entity != plan.Interface || ev.g.fault == TypesIgnored {
		return []value.Value{id}
	}
	return []value.Value{ev.typeName(env[v]), id}
}
