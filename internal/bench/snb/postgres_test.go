package snb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// fillPostgres starts a server with a network.
func fillPostgres(t *testing.T, n *snb.Network) *pgx.Conn {
	t.Helper()
	s := postgrestest.New(t, "fsync=off", "jit=off", "shared_buffers=256MB", "work_mem=64MB")
	conn, err := pgx.Connect(t.Context(), s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), relational.Create); err != nil {
		t.Fatal(err)
	}
	for _, table := range relational.Tables(n) {
		var rows [][]any
		for r := range table.Rows {
			rows = append(rows, r)
		}
		if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{table.Name}, table.Columns, pgx.CopyFromRows(rows)); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
	}
	for _, script := range []string{relational.Indexes, "ANALYZE"} {
		if _, err := conn.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// updatePostgres runs updates.
func updatePostgres(t *testing.T, conn *pgx.Conn, updates []snb.Update) {
	t.Helper()
	for _, u := range updates {
		if _, err := conn.Exec(t.Context(), relational.Updates[u.Query], sqlArgs(t, u.Args)...); err != nil {
			t.Fatalf("%s%v: %v", u.Query, u.Args, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

// compareTables checks that each table has the rows of a network.
func compareTables(t *testing.T, conn *pgx.Conn, n *snb.Network) {
	t.Helper()
	for _, table := range relational.Tables(n) {
		var want []string
		for r := range table.Rows {
			want = append(want, fmt.Sprint(r))
		}
		rows, err := conn.Query(t.Context(), "SELECT "+strings.Join(table.Columns, ", ")+" FROM "+table.Name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(values))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) == 0 {
			t.Errorf("the network has no row of %s", table.Name)
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Errorf("after the updates, %s has %d rows and the network %d; the first difference is in row %d:\n%s\nexpected\n%s",
					table.Name, len(got), len(want), i, at(got, i), at(want, i))
				break
			}
		}
	}
}

// at returns element i, or a text that says that there is none.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(no row)"
}

// sqlArgs returns arguments in the form that the driver accepts.
func sqlArgs(t *testing.T, args []any) []any {
	t.Helper()
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case snb.Millis:
			out[i] = int64(a)
		case snb.Day:
			out[i] = a.Time()
		case []snb.Position:
			records := make([]map[string]int64, len(a))
			for k, p := range a {
				records[k] = map[string]int64{"organisation": p.Organisation, "year": p.Year}
			}
			text, err := json.Marshal(records)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = string(text)
		default:
			out[i] = a
		}
	}
	return out
}

// sqlRows runs the SQL of a read.
func sqlRows(t *testing.T, conn *pgx.Conn, name string, args []any) [][]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), relational.Reads[name], sqlArgs(t, args)...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if _, ok := v.(time.Time); ok {
				t.Fatalf("%s returns a time; the statement must return a number", name)
			}
		}
		out = append(out, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return texts(out)
}
