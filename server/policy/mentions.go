package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// mentioned is what the text of a policy names.
type mentioned struct {
	entities  []types.EntityUID // but actions
	actions   []string
	branches  []string // every string that could be a branch's name, sorted
	protected bool     // context.protected is asked for
}

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

func (m *mentioned) entity(e types.EntityUID) {
	if e.Type == actionType {
		m.actions = append(m.actions, string(e.ID))
	} else {
		m.entities = append(m.entities, e)
	}
}

// node takes note of one node of a condition; most say nothing by themselves.
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

// sample is a text that a pattern takes: x stands for each wildcard.
func sample(p types.Pattern) string {
	// A pattern shows its parts in JSON alone.
	raw, err := p.MarshalJSON()
	if err != nil {
		panic(err) // strings and wildcards
	}
	var parts []any
	if err := json.Unmarshal(raw, &parts); err != nil {
		panic(err) // what was just marshalled
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
