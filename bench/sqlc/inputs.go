package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tables is the number of tables, and of types. Each has one query of every shape.
const tables = 100

// typeText is a node type of the schema.
const typeText = `node T%d {
  slug: String @key
  name: String @description("Its name.")
  kind: String
  size: I32
  serial: I64?
  note: String?
  at: DateTime
}
`

// tableText is the table that corresponds to typeText.
const tableText = `CREATE TABLE t%d (
  slug TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  serial BIGINT,
  note TEXT,
  at TIMESTAMPTZ NOT NULL
);
`

// shapes lists the queries of every table in both languages. N stands for the number of the table.
var shapes = []struct{ gq, sql string }{
	{`query get_tN($slug: String) @description("Get one by its slug.") { match { $t: TN { slug: $slug } } return { $t.slug, $t.name, $t.kind, $t.size, $t.serial, $t.note, $t.at } }`,
		"-- name: GetTN :one\n-- Get one by its slug.\nSELECT slug, name, kind, size, serial, note, at FROM tN WHERE slug = $1;"},
	{`query list_tN() @description("List them.") { match { $t: TN } return { $t.slug, $t.name, $t.kind, $t.size, $t.serial, $t.note, $t.at } order { $t.slug } limit 100 }`,
		"-- name: ListTN :many\n-- List them.\nSELECT slug, name, kind, size, serial, note, at FROM tN ORDER BY slug LIMIT 100;"},
	{`query by_kind_tN($kind: String) { match { $t: TN { kind: $kind } } return { $t.slug, $t.name } }`,
		"-- name: ByKindTN :many\nSELECT slug, name FROM tN WHERE kind = $1;"},
	{`query bigger_tN($size: I32, $name: String) { match { $t: TN { name: $name } $t.size > $size } return { $t.slug, $t.size } }`,
		"-- name: BiggerTN :many\nSELECT slug, size FROM tN WHERE name = $2 AND size > $1;"},
	{`query count_tN() { match { $t: TN } return { $t.kind as kind, count($t) as n, max($t.size) as biggest } }`,
		"-- name: CountTN :many\nSELECT kind, count(*) AS n, max(size) AS biggest FROM tN GROUP BY kind;"},
	{`query since_tN($at: DateTime) { match { $t: TN $t.at >= $at } return { $t.slug, $t.at } order { $t.at desc } limit 10 }`,
		"-- name: SinceTN :many\nSELECT slug, at FROM tN WHERE at >= $1 ORDER BY at DESC LIMIT 10;"},
	{`query noted_tN($note: String) { match { $t: TN { note: $note } } return { $t.slug, $t.note, $t.serial } }`,
		"-- name: NotedTN :many\nSELECT slug, note, serial FROM tN WHERE note = $1;"},
	{`query put_tN($slug: String, $name: String, $kind: String, $size: I32, $serial: I64?, $note: String?, $at: DateTime) { insert TN { slug: $slug, name: $name, kind: $kind, size: $size, serial: $serial, note: $note, at: $at } }`,
		"-- name: PutTN :exec\nINSERT INTO tN (slug, name, kind, size, serial, note, at) VALUES ($1, $2, $3, $4, $5, $6, $7);"},
	{`query rename_tN($slug: String, $name: String) { update TN set { name: $name } where slug = $slug }`,
		"-- name: RenameTN :exec\nUPDATE tN SET name = $2 WHERE slug = $1;"},
	{`query remove_tN($slug: String) { delete TN where slug = $slug }`,
		"-- name: RemoveTN :exec\nDELETE FROM tN WHERE slug = $1;"},
}

// sqlcConfig is the text of the configuration file of sqlc.
const sqlcConfig = `version: "2"
sql:
- engine: postgresql
  schema: schema.sql
  queries: sql
  gen: {go: {package: db, out: db}}
`

// writeInputs writes the sources for both tools into dir, with one file of queries for each table.
func writeInputs(dir string) error {
	var types, tableTexts strings.Builder
	files := map[string]string{"sqlc.yaml": sqlcConfig}
	for i := range tables {
		fmt.Fprintf(&types, typeText, i)
		fmt.Fprintf(&tableTexts, tableText, i)
		var gq, sql strings.Builder
		for _, s := range shapes {
			number := fmt.Sprint(i)
			fmt.Fprintf(&gq, "%s\n\n", strings.NewReplacer("tN", "t"+number, "TN", "T"+number).Replace(s.gq))
			fmt.Fprintf(&sql, "%s\n\n", strings.NewReplacer("tN", "t"+number, "TN", "T"+number).Replace(s.sql))
		}
		files[fmt.Sprintf("gq/t%d.gq", i)] = gq.String()
		files[fmt.Sprintf("sql/t%d.sql", i)] = sql.String()
	}
	files["schema.pg"], files["schema.sql"] = types.String(), tableTexts.String()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
