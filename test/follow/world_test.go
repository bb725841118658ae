// Package follow tests omnigraph import follow: the built command follows a PostgreSQL server. Both are killed, and so is the
// server that has the graph.
package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// bin and serverBin are the built commands.
var bin, serverBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "omnigraph-follow-test")
	if err != nil {
		panic(err)
	}
	bin, serverBin = filepath.Join(dir, "omnigraph"), filepath.Join(dir, "omnigraph-server")
	build := exec.Command("go", "build", "-o", dir, "github.com/omnigraph-go/omnigraph/cmd/omnigraph", "github.com/omnigraph-go/omnigraph/cmd/omnigraph-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const tables = `
CREATE TABLE people (id bigint PRIMARY KEY, name text NOT NULL, note text, age int);
ALTER TABLE people ALTER note SET STORAGE EXTERNAL;
CREATE TABLE knows (a bigint REFERENCES people ON UPDATE CASCADE ON DELETE CASCADE, b bigint REFERENCES people ON UPDATE CASCADE ON DELETE CASCADE, since int, PRIMARY KEY (a, b));
CREATE TABLE books (isbn text PRIMARY KEY, title text NOT NULL, owner bigint REFERENCES people ON UPDATE CASCADE ON DELETE SET NULL, pages int);
CREATE PUBLICATION omnigraph FOR TABLE people, knows, books;`

const schema = `
node Person { no: I64 @key  name: String  note: String?  age: I32?  extra: String? }
node Book { isbn: String @key  title: String  pages: I32? }
edge Knows: Person -> Person { since: I32?  @unique(src, dst) }
edge Owns: Person -> Book { pages: I32? }
edge Likes: Person -> Person { why: String? }
`

const importMap = `
sources:
  people: { read: { table: public.people }, maps: { node: Person, set: { no: id, name: name, note: note, age: age } } }
  knows: { read: { table: public.knows }, maps: { edge: Knows, from: { Person: { no: a } }, to: { Person: { no: b } }, set: { since: since } } }
  books:
    read: { table: public.books }
    maps:
      - { node: Book, set: { isbn: isbn, title: title, pages: pages } }
      - { edge: Owns, from: { Person: { no: owner } }, to: { Book: { isbn: isbn } }, set: { pages: pages } }
`

// world is a database and a graph that follows it.
type world struct {
	*testing.T
	server  *postgrestest.Server
	dir     string
	store   string
	graph   []string // the flags that name the graph
	address string   // of the database
}

// settings are those of the server.
var settings = []string{"wal_level=logical", "fsync=off", "max_wal_senders=4", "max_replication_slots=4"}

// newWorld starts a server and makes its tables and an empty graph.
func newWorld(t *testing.T, statements string) *world {
	t.Helper()
	w := &world{T: t, server: postgrestest.New(t, settings...), dir: t.TempDir()}
	w.address, w.store = w.server.URL(""), filepath.Join(w.dir, "graph")
	w.exec(statements)
	w.graph = []string{"--store", w.store}
	w.write("schema.pg", schema)
	w.write("import.yaml", importMap)
	w.omnigraph("init", "--schema", filepath.Join(w.dir, "schema.pg"), "--store", w.store)
	return w
}

// write writes a file.
func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// connect connects to the database.
func (w *world) connect() *pgx.Conn {
	w.Helper()
	conn, err := pgx.Connect(w.Context(), w.address)
	if err != nil {
		w.Fatal(err)
	}
	return conn
}

// exec runs statements, which are one transaction.
func (w *world) exec(statements string) {
	w.Helper()
	conn := w.connect()
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(w.Context(), statements).ReadAll(); err != nil {
		w.Fatalf("%s: %v", statements, err)
	}
}

// omnigraph runs the command, and returns its output.
func (w *world) omnigraph(args ...string) string {
	w.Helper()
	out, err := exec.CommandContext(w.Context(), bin, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("omnigraph %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// args returns the arguments that follow the database.
func (w *world) args(more ...string) []string {
	return slices.Concat([]string{"import", "follow", "--map", filepath.Join(w.dir, "import.yaml"), w.address}, w.graph, more)
}

// once follows the database up to its present state.
func (w *world) once(more ...string) (string, error) {
	out, err := exec.CommandContext(w.Context(), bin, w.args(append(more, "--once")...)...).CombinedOutput()
	return string(out), err
}

// caughtUp follows the database up to its present state, and compares.
func (w *world) caughtUp(more ...string) {
	w.Helper()
	if out, err := w.once(more...); err != nil {
		w.Fatalf("follow: %v\n%s", err, out)
	}
	w.compare()
}

// stops follows the database, and expects that it stops with a message.
func (w *world) stops(want string, more ...string) {
	w.Helper()
	out, err := w.once(more...)
	if err == nil || !strings.Contains(out, want) {
		w.Errorf("the follower ended with %v, expected the message %q:\n%s", err, want, out)
	}
}

// lines returns the entities of the graph of the types that the database has, as texts in order.
func (w *world) lines() []string {
	w.Helper()
	var out []string
	for line := range strings.Lines(w.export()) {
		var e struct {
			Type, Edge string
			From, To   string
			Data       map[string]any
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&e); err != nil {
			w.Fatal(err)
		}
		d := e.Data
		text := func(name string) string {
			if d[name] == nil {
				return "-"
			}
			return fmt.Sprint(d[name])
		}
		switch e.Type + e.Edge {
		case "Person":
			out = append(out, strings.Join([]string{"person", text("no"), text("name"), text("note"), text("age")}, "|"))
		case "Book":
			out = append(out, strings.Join([]string{"book", text("isbn"), text("title"), text("pages")}, "|"))
		case "Knows":
			out = append(out, strings.Join([]string{"knows", e.From, e.To, text("since")}, "|"))
		case "Owns":
			out = append(out, strings.Join([]string{"owns", e.From, e.To, text("pages")}, "|"))
		}
	}
	slices.Sort(out)
	return out
}

// export returns the entities of the graph as NDJSON.
func (w *world) export() string {
	w.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(w.Context(), bin, append([]string{"export"}, w.graph...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.Fatalf("export: %v\n%s", err, errs.String())
	}
	return string(out)
}

// rows returns the rows of the tables as lines returns the entities of the graph.
func (w *world) rows() []string {
	w.Helper()
	conn := w.connect()
	defer conn.Close(context.Background())
	rows, err := conn.Query(w.Context(), `
		SELECT concat_ws('|', 'person', id, name, coalesce(note, '-'), coalesce(age::text, '-')) FROM people
		UNION ALL SELECT concat_ws('|', 'book', isbn, title, coalesce(pages::text, '-')) FROM books
		UNION ALL SELECT concat_ws('|', 'knows', a, b, coalesce(since::text, '-')) FROM knows
		UNION ALL SELECT concat_ws('|', 'owns', owner, isbn, coalesce(pages::text, '-')) FROM books WHERE owner IS NOT NULL`)
	if err != nil {
		w.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// compare compares the graph with the tables.
func (w *world) compare() {
	w.Helper()
	got, want := w.lines(), w.rows()
	if slices.Equal(got, want) {
		return
	}
	shown := 0
	for _, x := range want {
		if !slices.Contains(got, x) && shown < 10 {
			shown++
			w.Errorf("the graph lacks %.100s", x)
		}
	}
	for _, x := range got {
		if !slices.Contains(want, x) && shown < 20 {
			shown++
			w.Errorf("the tables lack %.100s", x)
		}
	}
	w.Fatalf("the graph has %d entities, and the tables have %d", len(got), len(want))
}

// process is a follower that runs.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	done chan error
}

// start starts a follower.
func (w *world) start(more ...string) *process {
	w.Helper()
	p := &process{Cmd: exec.Command(bin, w.args(more...)...), done: make(chan error, 1)}
	p.Stdout, p.Stderr = &p.out, &p.out
	if err := p.Start(); err != nil {
		w.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	w.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// stop ends the follower with a signal.
func (w *world) stop(p *process, signal os.Signal) {
	w.Helper()
	if err := p.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		w.Fatalf("the follower does not stop:\n%s", p.out.String())
	}
}

// until waits until a condition holds.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	for end := clock.Now().Add(60 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if clock.Now().After(end) {
			w.Fatalf("%s: not within a minute", what)
		}
	}
}
