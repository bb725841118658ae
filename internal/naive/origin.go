package naive

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// author is what the origins of entities say of a commit.
type author struct {
	commit   engine.Commit
	proposal string // the proposal that merged the commit or brought it to another branch
}

// sign gives the entities that a commit has put their origins: those that it made or changed, compared with the state before it,
// except those that a merge carries from its source.
func (t *tx) sign(c engine.Commit) {
	by := &author{c, c.Proposal}
	if t.g.authors == nil {
		t.g.authors = map[string]*author{}
	}
	t.g.authors[c.ID] = by
	if c.Proposal != "" {
		known := t.g.ancestors(c.Parents[0], map[string]bool{})
		for id := range t.g.ancestors(c.Parents[1], map[string]bool{}) {
			if a := t.g.authors[id]; a != nil && !known[id] && a.proposal == "" {
				a.proposal = c.Proposal
			}
		}
	}
	if t.carriesAll {
		return
	}
	before := t.before
	if t.adopted != nil {
		before = t.adopted
	}
	for _, typ := range shapes(t.after.schema) {
		for id, e := range t.after.of(typ.kind, typ.name) {
			was := before.of(typ.kind, typ.name)[id]
			if e == was || t.carries[e] && t.g.fault != MergeSigns {
				continue
			}
			signed := *e
			switch {
			case was == nil:
				signed.made, signed.changed = by, by
			case sameEntity(was, e):
				signed.made, signed.changed = was.made, was.changed
			default:
				signed.made, signed.changed = was.made, by
			}
			if t.g.fault == MadeByLast {
				signed.made = signed.changed
			}
			t.after.of(typ.kind, typ.name)[id] = &signed
		}
	}
}

// origin returns a fact about the origin of an entity.
func (ev *evaluation) origin(o plan.Origin) value.Value {
	e := ev.env[o.Var]
	by := e.changed
	if o.Fact.Made() {
		by = e.made
	}
	if by == nil {
		return value.Null
	}
	text := ""
	switch o.Fact {
	case plan.OriginAt, plan.OriginMadeAt:
		return value.OfDateTime(value.DateTimeOf(by.commit.Time))
	case plan.OriginActor, plan.OriginMadeBy:
		text = by.commit.Actor
	case plan.OriginProposal:
		text = by.proposal
	case plan.OriginSource:
		text = by.commit.Source
	case plan.OriginTool:
		text = by.commit.Tool
	}
	if text == "" {
		return value.Null
	}
	return value.OfString(text)
}
