package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// mentioned lists the names in the text of a policy.
type mentioned struct {
	entities  []types.EntityUID // entities except actions
	actions   []string          // names of actions
	branches  []string          // every string that could be a branch name, sorted
	protected bool              // the policy reads context.protected
}

// mentions collects the entities, actions and branches that a policy refers to.
func mentions(p *cedar.Policy) *mentioned {
	m := &mentioned{}
	tree := p.AST()
	m.scope(tree.Principal)
	m.scope(tree.Action)
	m.scope(tree.Resource)
	for _, c := range tree.Conditions {
		ast.Inspect(ast.NewNode(c.Body), m.node)
	}
	slices.Sort(m.branches)
	m.branches = slices.Compact(m.branches)
	return m
}

// scope notes the entities in the scope of a rule.
func (m *mentioned) scope(s ast.IsScopeNode) {
	switch s := s.(type) {
	case ast.ScopeTypeAll, ast.ScopeTypeIs:
	case ast.ScopeTypeEq:
		m.entity(s.Entity)
	case ast.ScopeTypeIn:
		m.entity(s.Entity)
	case ast.ScopeTypeIsIn:
		m.entity(s.Entity)
	case ast.ScopeTypeInSet:
		for _, e := range s.Entities {
			m.entity(e)
		}
	}
}

// entity notes an entity or an action.
func (m *mentioned) entity(e types.EntityUID) {
	if e.Type == actionType {
		m.actions = append(m.actions, string(e.ID))
	} else {
		m.entities = append(m.entities, e)
	}
}

// node records the names in one node of a condition. Most nodes contain none. It reports whether to
// visit the node's children.
func (m *mentioned) node(n ast.IsNode) bool {
	switch n := n.(type) {
	case ast.NodeValue:
		switch v := n.Value.(type) {
		case types.EntityUID:
			m.entity(v)
		case types.String:
			if v != "" {
				m.branches = append(m.branches, string(v))
			}
		}
	case ast.NodeTypeAccess:
		m.protected = m.protected || n.Value == protectedAttr
	case ast.NodeTypeHas:
		m.protected = m.protected || n.Value == protectedAttr
	case ast.NodeTypeLike:
		m.branches = append(m.branches, sample(n.Value))
	}
	return true
}

// sample returns a text that the pattern matches, with x for each wildcard.
func sample(p types.Pattern) string {
	// A pattern exposes its parts only as JSON.
	raw, err := p.MarshalJSON()
	if err != nil {
		panic(err) // cannot happen: a pattern is strings and wildcards
	}
	var parts []any
	if err := json.Unmarshal(raw, &parts); err != nil {
		panic(err) // cannot happen: raw was just marshalled
	}
	var b strings.Builder
	for _, part := range parts {
		if literal, ok := part.(map[string]any); ok {
			s, _ := literal["Literal"].(string)
			b.WriteString(s)
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}
