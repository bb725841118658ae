package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// TestImportPostgreSQLGuide runs the statements and commands of docs/import-postgres.md in order, on a server in place of the one in
// the guide, and checks its maps.
func TestImportPostgreSQLGuide(t *testing.T) {
	slow.Test(t)
	text, err := os.ReadFile("../../docs/import-postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	address := postgrestest.New(t, "fsync=off").URL("")
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	var commands, files strings.Builder
	commands.WriteString("set -eu\n")
	blocks, maps := 0, 0
	for _, m := range regexp.MustCompile("(?s)```(sh|sql|yaml) ?([^\n]*)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		body := strings.ReplaceAll(m[3], "postgres://reader@db.example.com/shop", address)
		switch m[1] {
		case "sql":
			if _, err := conn.PgConn().Exec(t.Context(), body).ReadAll(); err != nil {
				t.Fatal(err)
			}
		case "sh":
			blocks++
			commands.WriteString(strings.ReplaceAll(body, address, "'"+address+"'"))
		case "yaml":
			maps++
			if _, faults := dataimport.Parse(m[2], []byte(m[3])); len(faults) > 0 {
				t.Error(faults)
			}
			fmt.Fprintf(&files, "-- %s --\n%s", m[2], body)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if blocks < 2 || maps < 2 {
		t.Errorf("the guide has %d blocks of commands and %d maps", blocks, maps)
	}
	script := filepath.Join(t.TempDir(), "guide.txtar")
	write(t, script, `exec sh guide.sh
exec omnigraph export --store data/shop
stdout '"email":"ann@example.com","joined":"2024-05-01T08:00:00.000Z"'
stdout '"edge":"OrderCustomer","from":"7","to":"1"'
stdout '"id":7,"status":"paid","total":"12.50","tags":\["gift"\]'
grep 'status: enum\(open, paid\)' schema.pg
grep '@range\(total, 0..\)' schema.pg
grep 'read: . table: public.orders .' import.yaml

# Faults name the row by its key; no message shows a password.
! exec omnigraph import --store data/shop --map bad.yaml
stderr 'table public.orders, row id=8, column status, value "open": expected a number'
! exec omnigraph import --store data/shop --map orders.yaml postgres://reader:hunter2@127.0.0.1:1/shop
stderr 'connecting to the database'
! stderr hunter2
! exec omnigraph import --store data/shop --map secret.yaml
stderr 'database in the map has a password, which a file must not hold'
! stderr hunter2
! exec omnigraph import infer --out none postgres://reader:hunter2@127.0.0.1:1/shop
! stderr hunter2
! exec omnigraph import --store data/shop --map orders.yaml 'https://user:hunter2@127.0.0.1:1/paid orders'
stderr 'fits 0 sources'
-- guide.sh --
`+commands.String()+files.String()+`-- bad.yaml --
database: `+address+`
sources:
  orders:
    read: { table: orders }
    maps: { node: Order, set: { id: id, status: status, total: { column: status, null: [paid] } } }
-- secret.yaml --
database: postgres://reader:hunter2@db.example.com/shop
sources:
  orders: { read: { table: orders }, maps: { node: Order, set: { id: id, status: status } } }
`)
	testscript.Run(t, testscript.Params{Files: []string{script}, RequireExplicitExec: true, Setup: setup})
}
