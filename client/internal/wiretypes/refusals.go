package wiretypes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
)

// Refusal is the class of the errors with one HTTP status.
type Refusal struct {
	Class  string // its name, such as NotFoundError
	Status int
	Text   string // what the status means
}

// Refusals reads the sentinel errors of package client from the source of error.go.
func Refusals(source []byte) ([]Refusal, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", source, 0)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{} // name of a sentinel -> its text
	var pairs []*ast.KeyValueExpr
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		switch v := spec.Values[0].(type) {
		case *ast.CallExpr: // errors.New(text)
			if text, ok := v.Args[0].(*ast.BasicLit); ok {
				texts[spec.Names[0].Name], _ = strconv.Unquote(text.Value)
			}
		case *ast.CompositeLit:
			if spec.Names[0].Name == "sentinels" {
				for _, e := range v.Elts {
					pairs = append(pairs, e.(*ast.KeyValueExpr))
				}
			}
		}
		return true
	})
	statuses := map[string]int{} // name of a constant of net/http without Status -> its value
	for status := range 600 {
		if text := http.StatusText(status); text != "" {
			statuses[strings.NewReplacer(" ", "", "-", "").Replace(text)] = status
		}
	}
	var refusals []Refusal
	for _, p := range pairs {
		constant, name := p.Key.(*ast.SelectorExpr).Sel.Name, p.Value.(*ast.Ident).Name
		status, known := statuses[strings.TrimPrefix(constant, "Status")]
		if !known || texts[name] == "" {
			return nil, fmt.Errorf("the sentinel %s of http.%s has no status or no text", name, constant)
		}
		refusals = append(refusals, Refusal{strings.TrimPrefix(name, "Err") + "Error", status, texts[name]})
	}
	return refusals, nil
}
