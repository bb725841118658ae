package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
)

// mentioned is what the text of a policy names.
type mentioned struct {
	entities  []types.EntityUID
	actions   []string
	branches  []string // every string that could be a branch's name
	protected bool     // context.protected is asked for
}

// mentions walks a policy in Cedar's JSON form, which spells every node alike: an
// entity is {"type": …, "id": …}, a literal {"Value": …}, an access {"attr": …}.
func mentions(p *cedar.Policy) mentioned {
	var m mentioned
	b, err := p.MarshalJSON()
	if err != nil {
		panic(err) // a policy that was parsed, or built from a rule
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		panic(err) // what was just marshalled
	}
	delete(tree, "annotations")
	m.walk(tree)
	slices.Sort(m.branches)
	m.branches = slices.Compact(m.branches)
	return m
}

func (m *mentioned) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			m.walk(e)
		}
	case map[string]any:
		if t, id, ok := entity(v); ok {
			if t == string(actionType) {
				m.actions = append(m.actions, id)
			} else {
				m.entities = append(m.entities, uid(types.EntityType(t), id))
			}
			return
		}
		if attr, ok := v["attr"].(string); ok && attr == string(protectedAttr) {
			m.protected = true
		}
		if s, ok := v["Value"].(string); ok && s != "" {
			m.branches = append(m.branches, s)
		}
		if parts, ok := v["pattern"].([]any); ok {
			m.branches = append(m.branches, sample(parts))
		}
		for _, e := range v {
			m.walk(e)
		}
	}
}

// entity reads {"type": …, "id": …}.
func entity(v map[string]any) (typ, id string, ok bool) {
	typ, okType := v["type"].(string)
	id, okID := v["id"].(string)
	return typ, id, okType && okID && len(v) == 2
}

// sample is a text that a pattern takes: x stands for each wildcard.
func sample(parts []any) string {
	var b strings.Builder
	for _, p := range parts {
		if literal, ok := p.(map[string]any); ok {
			s, _ := literal["Literal"].(string)
			b.WriteString(s)
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}
