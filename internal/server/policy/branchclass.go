package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// textTests collects the tests of an attribute of the context, such as the branch, in the rules of a policy.
type textTests struct {
	attr     types.String    // the attribute
	literals []string        // every text that a rule compares with something, sorted
	patterns []types.Pattern // patterns of the operator like
	// opaque is true if a rule uses the attribute in another way. The rules may then treat every
	// value differently.
	opaque bool
}

// testsOf collects how the rules test an attribute.
func testsOf(attr types.String, all policies) textTests {
	b := textTests{attr: attr}
	for _, c := range all {
		b.add(c.policy)
	}
	slices.Sort(b.literals)
	b.literals = slices.Compact(b.literals)
	return b
}

// add collects the tests of one rule. The rule is opaque unless every access to the attribute is
// an operand of one of the tests in the switch.
func (b *textTests) add(p *cedar.Policy) {
	used, known := 0, 0
	for _, c := range p.AST().Conditions {
		ast.Inspect(ast.NewNode(c.Body), func(n ast.IsNode) bool {
			switch n := n.(type) {
			case ast.NodeValue:
				if s, ok := n.Value.(types.String); ok {
					b.literals = append(b.literals, string(s))
				}
			case ast.NodeTypeAccess:
				if n.Value == b.attr {
					used++
				}
			case ast.NodeTypeEquals:
				known += b.compared(n.BinaryNode)
			case ast.NodeTypeNotEquals:
				known += b.compared(n.BinaryNode)
			case ast.NodeTypeContains:
				if b.is(n.Right) && isTexts(n.Left) {
					known++
				}
			case ast.NodeTypeLike:
				if b.is(n.Arg) {
					known++
					b.patterns = append(b.patterns, n.Value)
				}
			}
			return true
		})
	}
	b.opaque = b.opaque || used != known
}

// compared returns 1 if n compares the attribute with a literal text, and 0 otherwise.
func (b *textTests) compared(n ast.BinaryNode) int {
	if b.is(n.Left) && isText(n.Right) || isText(n.Left) && b.is(n.Right) {
		return 1
	}
	return 0
}

// is reports whether a node reads the attribute.
func (b *textTests) is(n ast.IsNode) bool {
	a, ok := n.(ast.NodeTypeAccess)
	return ok && a.Value == b.attr
}

// reads reports whether a rule reads an attribute of the context.
func reads(attr types.String, all policies) bool {
	found := false
	for _, c := range all {
		for _, condition := range c.policy.AST().Conditions {
			ast.Inspect(ast.NewNode(condition.Body), func(n ast.IsNode) bool {
				a, ok := n.(ast.NodeTypeAccess)
				found = found || ok && a.Value == attr
				return true
			})
		}
	}
	return found
}

// isText reports whether a node is a literal text.
func isText(n ast.IsNode) bool {
	v, ok := n.(ast.NodeValue)
	if !ok {
		return false
	}
	_, ok = v.Value.(types.String)
	return ok
}

// isTexts reports whether a node is a set of literal texts.
func isTexts(n ast.IsNode) bool {
	set, ok := n.(ast.NodeTypeSet)
	return ok && !slices.ContainsFunc(set.Elements, func(e ast.IsNode) bool { return !isText(e) })
}

// BranchClass implements access.Authorizer. A name that is protected has a class of its own; otherwise it has that of
// textTests.
func (p *Policy) BranchClass(name string) string {
	if p.isProtected(name) {
		return name
	}
	return p.tests.class(name)
}

// class returns the class of a value. A value that occurs literally in a rule has a class of its own. All other values that match the
// same patterns are in one class.
func (b *textTests) class(name string) string {
	if _, literal := slices.BinarySearch(b.literals, name); b.opaque || literal {
		return name
	}
	// The class begins with a space, so that it cannot be a name.
	class := make([]byte, 1, 1+len(b.patterns))
	class[0] = ' '
	for _, pattern := range b.patterns {
		match := byte('0')
		if pattern.Match(types.String(name)) {
			match = '1'
		}
		class = append(class, match)
	}
	return string(class)
}
