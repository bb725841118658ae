package wiretypes

import (
	"fmt"
	"slices"
	"strings"
)

// Header is the first line of a generated file, after the characters that begin a comment.
const Header = "Code generated from the Go package client; DO NOT EDIT."

// typescript is what types look like in TypeScript.
var typescript = &language{
	scalars: map[string]string{"string": "string", "integer": "number", "number": "number", "boolean": "boolean"},
	unknown: "Value", row: "Row", params: "Params", null: "null",
	list: func(of string) string {
		if strings.Contains(of, " ") {
			of = "(" + of + ")"
		}
		return of + "[]"
	},
	literals: func(values []string) string { return quoted(values, " | ") },
	object: func(l *language, ps properties) string {
		var parts []string
		for _, p := range ps {
			parts = append(parts, p.name+": "+l.typeOf(p.schema, ""))
		}
		return "{ " + strings.Join(parts, "; ") + " }"
	},
}

// TypeScript returns the types as a module of TypeScript.
func (t *Types) TypeScript() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\nimport type { Params, Row, Value } from \"./values.js\";\n", Header)
	for _, name := range t.names {
		s := t.schemas[name]
		b.WriteString("\n")
		jsdoc(&b, "", s.Description)
		fmt.Fprintf(&b, "export interface %s {\n", name)
		for _, p := range s.Properties {
			jsdoc(&b, "  ", p.schema.Description)
			typ := typescript.typeOf(p.schema, name)
			if slices.Contains(s.Required, p.name) {
				fmt.Fprintf(&b, "  %s: %s;\n", p.name, typ)
			} else {
				fmt.Fprintf(&b, "  %s?: %s | undefined;\n", p.name, typ)
			}
		}
		b.WriteString("}\n")
	}
	return []byte(b.String())
}

// jsdoc writes a comment, unless the text is empty.
func jsdoc(b *strings.Builder, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

// TypeScriptErrors returns the classes of errors as a module of TypeScript.
func TypeScriptErrors(refusals []Refusal) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\nimport { ServerError } from \"./errors.js\";\n", Header)
	for _, r := range refusals {
		fmt.Fprintf(&b, "\n/** Status %d: %s. */\nexport class %s extends ServerError {\n  override readonly name = %q;\n}\n", r.Status, r.Text, r.Class, r.Class)
	}
	b.WriteString("\n/** The class of the error of each status. */\nexport const byStatus: { readonly [status: number]: typeof ServerError } = {\n")
	for _, r := range refusals {
		fmt.Fprintf(&b, "  %d: %s,\n", r.Status, r.Class)
	}
	b.WriteString("};\n")
	return []byte(b.String())
}
