package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// branchTests collects the tests of branch names in the rules of a policy.
type branchTests struct {
	literals []string        // every text that a rule compares with something, sorted
	patterns []types.Pattern // patterns of the operator like
	// opaque is true if a rule uses the branch name in another way. The rules may then treat every
	// branch differently.
	opaque bool
}

// branchTestsOf collects how the rules test branch names.
func branchTestsOf(all policies) branchTests {
	var b branchTests
	for _, c := range all {
		b.add(c.policy)
	}
	slices.Sort(b.literals)
	b.literals = slices.Compact(b.literals)
	return b
}

// add collects the tests of one rule. The rule is opaque unless every access to context.branch is
// an operand of one of the tests in the switch.
func (b *branchTests) add(p *cedar.Policy) {
	used, known := 0, 0
	for _, c := range p.AST().Conditions {
		ast.Inspect(ast.NewNode(c.Body), func(n ast.IsNode) bool {
			switch n := n.(type) {
			case ast.NodeValue:
				if s, ok := n.Value.(types.String); ok {
					b.literals = append(b.literals, string(s))
				}
			case ast.NodeTypeAccess:
				if n.Value == branchAttr {
					used++
				}
			case ast.NodeTypeEquals:
				known += comparesBranch(n.BinaryNode)
			case ast.NodeTypeNotEquals:
				known += comparesBranch(n.BinaryNode)
			case ast.NodeTypeContains:
				if isBranch(n.Right) && isTexts(n.Left) {
					known++
				}
			case ast.NodeTypeLike:
				if isBranch(n.Arg) {
					known++
					b.patterns = append(b.patterns, n.Value)
				}
			}
			return true
		})
	}
	b.opaque = b.opaque || used != known
}

// comparesBranch returns 1 if n compares the branch with a literal text, and 0 otherwise.
func comparesBranch(n ast.BinaryNode) int {
	if isBranch(n.Left) && isText(n.Right) || isText(n.Left) && isBranch(n.Right) {
		return 1
	}
	return 0
}

// isBranch reports whether a node reads the attribute branch.
func isBranch(n ast.IsNode) bool {
	a, ok := n.(ast.NodeTypeAccess)
	return ok && a.Value == branchAttr
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

// BranchClass implements access.Authorizer. A name that occurs literally in a rule, or that is
// protected, has a class of its own. All other names that match the same patterns are in one class.
func (p *Policy) BranchClass(name string) string {
	if _, literal := slices.BinarySearch(p.tests.literals, name); p.tests.opaque || literal || p.isProtected(name) {
		return name
	}
	// The class begins with a space, so that it cannot be a branch name.
	class := make([]byte, 1, 1+len(p.tests.patterns))
	class[0] = ' '
	for _, pattern := range p.tests.patterns {
		match := byte('0')
		if pattern.Match(types.String(name)) {
			match = '1'
		}
		class = append(class, match)
	}
	return string(class)
}
