package omnigraph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// branchNames lists the files of the server, the client and the commands that may make a tool.Branch of a text, each
// with the place that the text comes from. A text in a call is the name that a caller gives, and may stand for another
// branch: use Env.Branch.
var branchNames = map[string]string{
	"server/tool/branch.go":                           "declares the type",
	"server/tool/drafts.go":                           "a call without drafts, in which a name stands for itself",
	"internal/server/servedgraph/drafts.go":           "the entrance of each call",
	"internal/server/servedgraph/listen.go":           "stored proposals",
	"internal/server/servedgraph/webhooks.go":         "stored watches",
	"internal/server/servedgraph/near.go":             "the list of branches",
	"internal/server/policy/regained.go":              "the branches that policies name",
	"internal/server/servedgraph/access.go":           "the branch of another actor that access_explain is about, and the branches of commits",
	"internal/server/access/control.go":               "the branches of commits, and a draft that does not exist yet",
	"internal/server/access/visibility.go":            "the list of branches, and the names in the policy",
	"internal/server/operations/branch.go":            "a new branch, and the branches of commits",
	"internal/server/operations/branchlist.go":        "the list of branches",
	"internal/server/operations/feed.go":              "the branches of commits",
	"internal/server/operations/proposal.go":          "stored proposals",
	"internal/server/operations/protectedstart.go":    "the branches of commits, and targets that name a resolved branch",
	"internal/server/internal/restricted/graph.go":    "targets and options that name a resolved branch, and the branches of commits",
	"internal/server/internal/restricted/branches.go": "stored proposals, and calls of the engine that name resolved branches",
	"internal/server/encoding/feedcursor.go":          "the branch that the server has put into a cursor",
	"internal/server/mcp/listen.go":                   "the branch that the server has put into a state",
	"cmd/omnigraph/copy.go":                           "the list of branches",
	"cmd/omnigraph/internal/policies/explain.go":      "a question about a policy, which no graph resolves",
}

// TestBranchResolvedOnce checks that the server and the commands decide in one place which branch is main, and that they
// make branches and targets of the server of no other texts than those that branchNames lists.
func TestBranchResolvedOnce(t *testing.T) {
	constants := map[string]int{} // how often a file names main
	made := map[string]bool{}     // the files that make branches
	for _, root := range []string{"server", "internal/server", "client", "cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || path == "cmd/gq"): // gq works on branches of git
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if n := namesOfMain(file); n > 0 {
				constants[path] = n
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if calledName(n) == "BranchNamed" {
						made[path] = true
					}
				case *ast.FuncDecl:
					if n.Name.Name == "BranchNamed" {
						made[path] = true
					}
				case *ast.CompositeLit:
					if strings.HasPrefix(path, "internal/") && targetsBranch(n) {
						t.Errorf("%s makes an engine.Target with a branch: use the method At of tool.Branch", files.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]int{"server/tool/branch.go": 1}; !maps.Equal(constants, want) {
		t.Errorf("main is named in %v, expected %v: use the zero tool.Branch or BranchName.OrMain", constants, want)
	}
	for _, path := range slices.Sorted(maps.Keys(made)) {
		if branchNames[path] == "" {
			t.Errorf("%s calls tool.BranchNamed: call Env.Branch for a name in a call, or add the file to branchNames with the place that the name comes from", path)
		}
	}
	for path := range branchNames {
		if !made[path] {
			t.Errorf("%s does not call tool.BranchNamed: remove it from branchNames", path)
		}
	}
}

// namesOfMain counts the places where a file decides about main: each use of engine.MainBranch, and each text "main"
// that is a constant, an operand of a comparison, an argument of cmp.Or, or returned.
func namesOfMain(file *ast.File) (n int) {
	count := func(list ...ast.Expr) {
		for _, e := range list {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Value == strconv.Quote("main") {
				n++
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if node.Sel.Name == "MainBranch" {
				n++
			}
		case *ast.ValueSpec:
			count(node.Values...)
		case *ast.AssignStmt:
			count(node.Rhs...)
		case *ast.ReturnStmt:
			count(node.Results...)
		case *ast.BinaryExpr:
			count(node.X, node.Y)
		case *ast.CaseClause:
			count(node.List...)
		case *ast.CallExpr:
			if calledName(node) == "Or" {
				count(node.Args...)
			}
		}
		return true
	})
	return n
}

// calledName returns the name of the function or method that a call calls, without its package.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// targetsBranch reports whether a literal is an engine.Target with a branch.
func targetsBranch(lit *ast.CompositeLit) bool {
	typ, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || typ.Sel.Name != "Target" {
		return false
	}
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := pair.Key.(*ast.Ident)
		return ok && key.Name == "Branch"
	})
}
