package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// TestServer runs the tests that need a server.
func TestServer(t *testing.T) {
	slow.Test(t)
	s := server{postgrestest.New(t, "fsync=off").URL("")}
	t.Run("every type", s.testEveryType)
	t.Run("snapshot", s.testSnapshot)
	t.Run("import", s.testImport)
	t.Run("errors", s.testErrors)
}

// server is the URL of a server.
type server struct{ address string }

// database makes a database named after the test, runs statements in it, and returns its URL.
func (s server) database(t *testing.T, statements string) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()))
	execute(t, s.address, "CREATE DATABASE "+name)
	address := strings.Replace(s.address, "/postgres?", "/"+name+"?", 1)
	execute(t, address, statements)
	return address
}

// execute runs statements.
func execute(t *testing.T, address, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.PgConn().Exec(t.Context(), statements).ReadAll()
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// connect connects to a database until the test ends.
func connect(t *testing.T, address string) *Database {
	t.Helper()
	d, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// records reads all records of a source as texts.
func records(t *testing.T, f record.File, columns ...string) []string {
	t.Helper()
	r, err := record.Open(f, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Select(columns)
	var all []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for i := range rec.Values {
			texts = append(texts, rec.Values[i].String())
		}
		all = append(all, strings.Join(texts, "|"))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

const everyType = `
CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE TABLE every (
	id bigint PRIMARY KEY, i2 smallint, n numeric(20, 4), f double precision, b boolean, t text, c char(5), u uuid, by bytea,
	d date, ts timestamp, tz timestamptz, j jsonb, m mood, p positive, ints integer[], texts text[], moods mood[], ps positive[], iv interval);
INSERT INTO every VALUES
	(1, -3, 12345.6700, 1.5, true, E'a\tb\\n"', 'NL', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\x00ff',
	 '2024-02-29', '2024-05-01 10:00:00.123456', '2024-05-01 10:00:00+02', '{"a": [1]}', 'so so', 7, '{1,NULL,3}', '{"x y",""}', '{happy}', '{5}', '1 hour 30 minutes'),
	(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

func (s server) testEveryType(t *testing.T) {
	d := connect(t, s.database(t, everyType))
	f, err := d.Table("every")
	if err != nil {
		t.Fatal(err)
	}
	got := records(t, f, "id", "i2", "n", "f", "b", "t", "c", "u", "by", "d", "ts", "tz", "j", "m", "p", "ints", "texts", "moods", "ps", "iv")
	want := []string{
		"1|-3|12345.6700|1.5|true|a\tb\\n\"|NL|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|AP8=|2024-02-29|2024-05-01T10:00:00.123456|2024-05-01T08:00:00Z|{\"a\": [1]}|so so|7|[1,null,3]|[\"x y\",\"\"]|[\"happy\"]|[5]|PT1H30M",
		"2" + strings.Repeat("|", 19),
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// testSnapshot checks that all reads see the database as it was when it was opened, also after another reader was closed early.
func (s server) testSnapshot(t *testing.T) {
	address := s.database(t, `CREATE TABLE a AS SELECT generate_series(1, 10000) AS n; CREATE TABLE b (n int); INSERT INTO b VALUES (1)`)
	d := connect(t, address)
	a, err := d.Table("public.a")
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(a, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Select([]string{"n"})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, address, `DELETE FROM a WHERE n > 5; INSERT INTO b VALUES (2)`)
	b, err := d.Query("two", "SELECT n, n + 1 AS next FROM b ORDER BY n;\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := records(t, a, "n"); len(got) != 10000 {
		t.Errorf("found %d rows, expected 10,000", len(got))
	}
	if got := records(t, b, "next"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("found %v, expected the one row of the snapshot", got)
	}
}

// testImport checks an import of tables that makes nodes and edges, and what its faults say.
func (s server) testImport(t *testing.T) {
	address := s.database(t, `
		CREATE TABLE ports (code char(5) PRIMARY KEY, opened date);
		CREATE TABLE calls (line int, no int, port char(5), cost numeric, PRIMARY KEY (line, no));
		INSERT INTO ports VALUES ('NLRTM', '1872-12-31'), ('DEHAM', NULL);
		INSERT INTO calls VALUES (7, 1, 'NLRTM', 12.50), (7, 2, 'DEHAM', NULL), (8, 1, NULL, 'NaN')`)
	const schema = `node Port { code: String @key opened: Date? } node Call { no: String @key } edge CallsAt: Call -> Port { cost: F64? @unique(src, dst) }`
	const sources = `
sources:
  ports:
    read: { table: ports }
    maps: { node: Port, set: { code: code, opened: opened } }
  calls:
    read: { query: "SELECT line || '-' || no AS id, port, cost FROM calls ORDER BY line, no" }
    maps:
      - { node: Call, set: { no: id } }
      - { edge: CallsAt, from: { Call: { no: id } }, to: { Port: { code: port } }, set: { cost: cost } }
`
	read := func(maps string) (string, error) {
		m, faults := dataimport.Parse("import.yaml", []byte(maps))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		plan, faults := dataimport.NewPlan(m, compiled, dataimport.Options{})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		files := make([][]record.File, len(m.Sources))
		if err := connect(t, address).Attach(m, files); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(dataimport.New(plan, files, nil).Stream(t.Context()))
		return string(text), err
	}
	got, err := read(sources)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"Port","data":{"code":"NLRTM","opened":"1872-12-31"}}
{"type":"Port","data":{"code":"DEHAM","opened":null}}
{"type":"Call","data":{"no":"7-1"}}
{"type":"Call","data":{"no":"7-2"}}
{"type":"Call","data":{"no":"8-1"}}
{"edge":"CallsAt","from":"7-1","to":"NLRTM","data":{"cost":12.5}}
{"edge":"CallsAt","from":"7-2","to":"DEHAM","data":{"cost":null}}
`
	if got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	_, err = read("sources:\n  bad:\n    read: { table: public.calls }\n    maps: { edge: CallsAt, from: { Call: { no: no } }, to: { Port: { code: no } }, set: { cost: cost } }\n")
	if want := `table public.calls, row line=8, no=1, column cost, value "NaN": `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("found %v, expected %s…", err, want)
	}
}

func (s server) testErrors(t *testing.T) {
	address := s.database(t, `CREATE TABLE a (n int, s text)`)
	d := connect(t, address)
	for _, tt := range []struct {
		read func() error
		want string
	}{
		{func() error { _, err := d.Table("b"); return err }, "the database has no table or view b"},
		{func() error { _, err := d.Query("q", "SELECT n, s AS n FROM a"); return err }, "two columns of the query q are called n"},
		{func() error { _, err := d.Query("q", "SELECT x FROM a"); return err }, `column "x" does not exist`},
	} {
		if err := tt.read(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("found %v, expected %s", err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, err := Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	q, err := d.Query("long", "SELECT pg_sleep(60)::text AS s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(q, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Select([]string{"s"})
	cancel()
	if _, err := r.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the end of the context", err)
	}
	if err := r.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSecrets checks that no error shows a password.
func TestSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, address := range []string{
		"postgres://og:hunter2@127.0.0.1:1/db", "postgres://og:hunter2@127.0.0.1:port/db", "postgres://og:hunter2@%zz/db", "postgres://127.0.0.1/db?password=hunter2",
		"postgres://127.0.0.1/db?sslmode=hunter&sslpassword=hunter2", "postgres://og:hunter2@127.0.0.1:1/db?sslmode=bad", "mysql://og:hunter2@127.0.0.1/db", "postgres://127.0.0.1/db?a=%zzhunter2",
	} {
		d, err := Open(t.Context(), address)
		if err == nil {
			t.Error(address, d.Close())
			continue
		}
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, secret) {
			t.Errorf("%s: the error shows the password: %s", address, text)
		}
	}
	for in, want := range map[string]string{"postgres://og:hunter2@h/db?a=b": "postgres://og@h/db?a=b", "postgres:///db": "postgres:///db"} {
		if got := WithoutPassword(in); got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
	for _, address := range []string{"postgres://og:hunter2@h/db", "mysql://og:hunter2@h/db", "postgres://og:hunter2@%zz/db", "postgres://og@h/db?password=hunter2", "postgres://og@h/db?sslpassword=hunter2"} {
		if err := (&dataimport.Map{Database: address}).CheckDatabase(); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s in a map: found %v, expected a fault without the password", address, err)
		}
	}
}
