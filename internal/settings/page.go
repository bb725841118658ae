package settings

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Page returns the reference page of a file as Markdown. `schema` is the file name of the JSON
// Schema, which is in the same folder as the page.
func Page(file, schema string, s *strictyaml.Setting) []byte {
	b := &page{at: map[*strictyaml.Setting]string{}}
	fmt.Fprintf(b, "<!-- Printed from the code by make docs; DO NOT EDIT. -->\n\n# %s\n\n%s A key that this page does not name is an error.\n\n", file, s.Text)
	fmt.Fprintf(b, "[%s](%s) is the JSON Schema of the file. An editor with a YAML language server checks the file and completes\n"+
		"its keys if the first line of the file names the schema:\n\n    # yaml-language-server: $schema=PATH-OR-URL/%s\n", schema, schema, schema)
	keys(b, "", s)
	return []byte(b.String())
}

// page is a page that is being written.
type page struct {
	strings.Builder
	at map[*strictyaml.Setting]string // by setting with parts: the path where they are described
}

// keys describes the keys of a Mapping, and then the values below them. `path` is the path of the
// setting `s`, or "" for the whole file.
func keys(b *page, path string, s *strictyaml.Setting) {
	for _, k := range s.Keys {
		at := k.Key
		if path != "" {
			at = path + "." + k.Key
		}
		fmt.Fprintf(b, "\n## `%s`\n\n%s\n\n", at, k.Text)
		facts(b, k, k.Key+": "+k.Example)
		below(b, at, k)
	}
}

// below describes the parts of the value at a path, unless the page has them already.
func below(b *page, path string, s *strictyaml.Setting) {
	switch s.Type {
	case strictyaml.Mapping, strictyaml.Union:
		if first, known := b.at[s]; known {
			fmt.Fprintf(b, "\nIt is written like `%s`.\n", first)
			return
		}
		b.at[s] = path
	}
	switch s.Type {
	case strictyaml.Mapping:
		keys(b, path, s)
	case strictyaml.Map:
		if s.Each.Type != strictyaml.Text {
			below(b, path+".NAME", s.Each)
		}
	case strictyaml.List:
		below(b, path+"[]", s.Each)
	case strictyaml.Union:
		for _, form := range s.Forms {
			fmt.Fprintf(b, "\nAs a %s, such as `%s`: %s\n", typeOf(form), form.Example, form.Text)
		}
		for _, form := range s.Forms {
			below(b, path, form)
		}
	}
}

// facts writes the type, the default and the limits of a setting.
func facts(b *page, s *strictyaml.Setting, example string) {
	fmt.Fprintf(b, "- Type: %s\n", typeOf(s))
	if s.Required {
		b.WriteString("- Default: none; the key is required\n")
	} else {
		fmt.Fprintf(b, "- Default: %s\n", s.Default)
	}
	fmt.Fprintf(b, "- Limits: %s\n- Example: `%s`\n", Limits(s), example)
}

// typeOf returns the name of a setting's type.
func typeOf(s *strictyaml.Setting) string {
	switch s.Type {
	case strictyaml.Text:
		return "text"
	case strictyaml.Choice:
		return "word"
	case strictyaml.Int:
		return "whole number"
	case strictyaml.Bool:
		return "true or false"
	case strictyaml.List:
		return "list"
	case strictyaml.Mapping:
		return "section"
	case strictyaml.Map:
		return "section with keys that you choose"
	}
	var forms []string
	for _, f := range s.Forms {
		forms = append(forms, typeOf(f))
	}
	if forms == nil {
		return "any"
	}
	return strings.Join(forms, ", or ")
}

// Limits returns the limits of a setting in words.
func Limits(s *strictyaml.Setting) string {
	var all []string
	switch s.Type {
	case strictyaml.Choice:
		all = append(all, strings.Join(s.OneOf, ", "))
	case strictyaml.Int:
		if s.Min == s.Max {
			all = append(all, fmt.Sprint(s.Min))
		} else {
			all = append(all, fmt.Sprintf("%d to %d", s.Min, s.Max))
		}
	case strictyaml.Bool:
		all = append(all, "true, false")
	}
	if s.NotEmpty {
		all = append(all, "at least one entry")
	}
	if s.Limits != "" {
		all = append(all, s.Limits)
	}
	if all != nil {
		return strings.Join(all, "; ")
	}
	switch s.Type {
	case strictyaml.Mapping:
		return "the keys below"
	case strictyaml.Union:
		return "the forms below"
	case strictyaml.Map, strictyaml.List:
		return "any number of entries"
	}
	return ""
}
