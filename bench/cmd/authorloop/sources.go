package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tables is the number of node types. Each has a file with one query of every shape.
const tables = 100

// typeText declares the types of table N.
const typeText = `node TN {
  slug: String @key @description("A short name of one N.")
  name: String @description("Its name.")
  kind: enum(small, large, other)
  size: I32
  serial: I64?
  note: String?
  at: DateTime
}
edge LinksN: TN -> TN { since: Date? }
`

// shapes are the templates of the queries of a table. N stands for the number of the table.
var shapes = []string{
	`query get_N($slug: String) @description("Get one N by its slug.") {
  match { $t: TN { slug: $slug } }
  return { $t.slug, $t.name, $t.kind, $t.size, $t.serial, $t.note, $t.at }
}`,
	`query list_N() @description("List all N by slug.") {
  match { $t: TN }
  return { $t }
  order { $t.slug }
  limit 100
}`,
	`query by_kind_N($kind: String) @description("List the N of a kind.") {
  match { $t: TN { kind: $kind } }
  return { $t.slug, $t.name }
}`,
	`query bigger_N($size: I32, $name: String?) @description("List the N above a size.") {
  match { $t: TN $t.size > $size $t.name = $name? }
  return { $t.slug, $t.size }
}`,
	`query count_N() @description("Count the N of each kind.") {
  match { $t: TN }
  return { $t.kind as kind, count($t) as n, max($t.size) as biggest }
}`,
	`query linked_N($slug: String) @description("List the N that one leads to.") {
  match { $t: TN { slug: $slug } $t linksN{1,3} $other }
  return { $other.slug as slug, $other.at as at }
  order { $other.at desc }
  limit 10
}`,
	`query unlinked_N() @description("List the N that lead nowhere.") {
  match { $t: TN not { $t linksN $other } }
  return { $t.slug, $t.note, $t.serial }
}`,
	`query put_N($slug: String, $name: String, $kind: String, $size: I32, $serial: I64?, $note: String?, $at: DateTime)
  @description("Add an N, or replace it.")
{
  insert TN { slug: $slug, name: $name, kind: $kind, size: $size, serial: $serial, note: $note, at: $at }
}`,
	`query link_N($from: String, $to: String) @description("Link two N.") {
  insert LinksN { from: $from, to: $to, since: date("2026-01-01") }
}`,
	`query rename_N($slug: String, $name: String) @description("Rename an N.") {
  update TN set { name: $name } where slug = $slug
}`,
}

// edit is a change that an author makes to the file of a table.
type edit struct {
	name string // what the author edits, in words
	// apply returns the text of a file after the edit. The edit puts `unique` into a name or a
	// text, so that no earlier build had the same files.
	apply func(text, unique string) string
}

// edits are the changes that the command measures.
var edits = []edit{
	{"the body", replace("$t.size > $size", "$t.size >= $size $t.slug != \"%s\"")},
	{"a parameter", replace("$name: String?)", "$name: String?, $more_%s: I32?)")},
	{"a column", replace("return { $t.slug, $t.name }", "return { $t.slug, $t.name, $t.size as size_%s }")},
	{"a description", replace("by its slug.", "by its slug; %s.")},
	{"a query more", func(text, unique string) string {
		return text + "\nquery more_" + unique + "($slug: String) @description(\"One more.\") {\n  match { $t: " + typeName(text) + " { slug: $slug } }\n  return { $t.name }\n}\n"
	}},
}

// replace returns an edit that replaces the text `old`. The new text is `format` with the argument
// `unique` filled in.
func replace(old, format string) func(text, unique string) string {
	return func(text, unique string) string { return strings.Replace(text, old, fmt.Sprintf(format, unique), 1) }
}

// typeName returns the first type that a file of queries uses.
func typeName(text string) string {
	_, rest, _ := strings.Cut(text, "$t: ")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// numbered replaces N with the number of a table.
func numbered(text string, table int) string {
	n := fmt.Sprint(table)
	return strings.NewReplacer("TN", "T"+n, "LinksN", "Links"+n, "linksN", "links"+n, "_N", "_t"+n, " N", " T"+n).Replace(text)
}

// schemaText returns the schema of all tables.
func schemaText() string {
	var b strings.Builder
	for i := range tables {
		b.WriteString(numbered(typeText, i))
	}
	return b.String()
}

// queryText returns the text of the query file of a table.
func queryText(table int) string {
	return numbered(strings.Join(shapes, "\n\n")+"\n", table)
}

// queryFile returns the path of the file with the queries of a table.
func queryFile(table int) string { return fmt.Sprintf("queries/t%d.gq", table) }

// clusterText is the module's cluster.yaml.
const clusterText = `version: 1
metadata: { name: author }
storage: ./data
graphs:
  big:
    schema: schema.pg
    queries: queries/
    mcp: { meta_threshold: %d }
`

// mainText is the program that the module builds.
const mainText = `// Command server serves the graph.
package main

import (
	"example.org/author/generated/big"

	"github.com/omnigraph-go/omnigraph/server/launch"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func main() { launch.Main(launch.Program{Catalogs: []*tool.Catalog{big.Catalog()}}) }
`

// module is the path of the Go module that this repository holds.
const module = "github.com/omnigraph-go/omnigraph"

// writeModule writes an author's module into dir, with the dependencies of the checkout at root.
func writeModule(dir, root string) error {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	files := map[string]string{
		"go.mod": strings.Replace(string(mod), "module "+module, "module example.org/author", 1) +
			fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root),
		"go.sum": string(sum), "schema.pg": schemaText(), "cmd/server/main.go": mainText,
	}
	for i := range tables {
		files[queryFile(i)] = queryText(i)
	}
	for name, text := range files {
		if err := write(dir, name, text); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the module and makes its folder. `name` is its path with slashes.
func write(dir, name, text string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
