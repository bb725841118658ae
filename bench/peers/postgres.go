package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

// postgres is PostgreSQL over a Unix socket, with a server that the benchmark starts; see
// server.go.
type postgres struct{}

// name implements [peer].
func (postgres) name() string { return "PostgreSQL" }

// searches implements [peer].
func (postgres) searches(context.Context, string) (bool, error) { return true, nil }

// pgTables creates the tables.
const pgTables = `
CREATE TABLE person (id integer NOT NULL, slug text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, age integer NOT NULL, city text COLLATE "C" NOT NULL, bio text NOT NULL);
CREATE TABLE company (id integer NOT NULL, slug text COLLATE "C" NOT NULL, name text NOT NULL);
CREATE TABLE knows (src integer NOT NULL, dst integer NOT NULL, since date NOT NULL);
CREATE TABLE works_at (person integer NOT NULL, company integer NOT NULL);
CREATE TABLE post (id integer NOT NULL, slug text COLLATE "C" NOT NULL, text text NOT NULL, embedding real[]);
CREATE TABLE authored (post integer NOT NULL, person integer NOT NULL);
`

// The indexes are made after the rows are loaded. A hop reads only an index. The text index is for
// PostgreSQL's own search, which has no BM25. It exists because the other databases build one too.
const pgIndexes = `
ALTER TABLE person ADD PRIMARY KEY (id), ADD UNIQUE (slug);
ALTER TABLE company ADD PRIMARY KEY (id), ADD UNIQUE (slug);
ALTER TABLE knows ADD PRIMARY KEY (src, dst);
ALTER TABLE works_at ADD PRIMARY KEY (person, company);
ALTER TABLE post ADD PRIMARY KEY (id), ADD UNIQUE (slug);
ALTER TABLE authored ADD PRIMARY KEY (post);
CREATE INDEX ON knows (dst, src);
CREATE INDEX ON works_at (company, person);
CREATE INDEX ON authored (person);
CREATE INDEX ON post USING gin (to_tsvector('simple', text));
VACUUM ANALYZE;
CHECKPOINT;
`

// pgReads holds the SQL statement of each read, by the name of the work, such as w1.
var pgReads = map[string]string{
	"w1": `SELECT name, age, city, bio FROM person WHERE slug = $1`,
	"w2": `SELECT f.slug, f.name, f.age FROM person p JOIN knows k ON k.src = p.id JOIN person f ON f.id = k.dst
		WHERE p.slug = $1 ORDER BY f.name, f.id LIMIT 50`,
	"w3": `WITH p (id) AS MATERIALIZED (SELECT id FROM person WHERE slug = $1),
		f (id) AS MATERIALIZED (SELECT k.dst FROM p JOIN knows k ON k.src = p.id)
		SELECT count(DISTINCT k.dst) FROM f JOIN knows k ON k.src = f.id
		WHERE k.dst NOT IN (SELECT id FROM f) AND k.dst <> (SELECT id FROM p)`,
	"w4": `WITH p (id) AS MATERIALIZED (SELECT id FROM person WHERE slug = $1),
		a (id) AS MATERIALIZED (SELECT k.dst FROM p JOIN knows k ON k.src = p.id),
		b (id) AS MATERIALIZED (SELECT DISTINCT k.dst FROM a JOIN knows k ON k.src = a.id)
		SELECT count(*) FROM (SELECT id FROM a UNION SELECT id FROM b UNION SELECT k.dst FROM b JOIN knows k ON k.src = b.id) r
		WHERE r.id <> (SELECT id FROM p)`,
	"w5": `SELECT y.slug, y.name FROM person x JOIN works_at w ON w.person = x.id JOIN works_at v ON v.company = w.company
		JOIN person y ON y.id = v.person
		WHERE x.slug = $1 AND y.id <> x.id AND NOT EXISTS (SELECT 1 FROM knows k WHERE k.src = v.person AND k.dst = x.id)
		ORDER BY v.person LIMIT 20`,
	"w6": `SELECT c.slug, n.employees FROM
		(SELECT company, count(*) AS employees FROM works_at GROUP BY company ORDER BY employees DESC, company LIMIT 20) n
		JOIN company c ON c.id = n.company ORDER BY n.employees DESC, n.company`,
	"w7": `SELECT slug, name, age FROM person WHERE city = $1 AND age BETWEEN $2 AND $3 ORDER BY age, name, id LIMIT 20`,
}

// pgConn connects to the server in a folder.
func pgConn(ctx context.Context, dir string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, pgserver.SocketURL(dir))
}

// pgExec runs the statements of an SQL script.
func pgExec(ctx context.Context, conn *pgx.Conn, script string) error {
	for _, stmt := range strings.SplitAfter(script, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := conn.Exec(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(stmt), err)
		}
	}
	return nil
}

// dayTime returns a day as the time that SQL drivers expect.
func dayTime(days int) time.Time { return time.Unix(int64(days)*86_400, 0).UTC() }

// load implements [peer].
func (postgres) load(ctx context.Context, dir string, from source) (err error) {
	conn, err := pgConn(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err := pgExec(ctx, conn, pgTables); err != nil {
		return err
	}
	g := rowsOf(from.graph)
	for _, t := range []struct {
		table   string
		columns []string
		rows    iter.Seq[[]any]
	}{
		{"person", []string{"id", "slug", "name", "age", "city", "bio"}, each(g.persons(), func(p person) []any {
			return []any{p.id, p.slug, p.Name, p.Age, p.City, p.Bio}
		})},
		{"company", []string{"id", "slug", "name"}, each(g.companies(), func(c company) []any {
			return []any{c.id, c.slug, c.Name}
		})},
		{"post", []string{"id", "slug", "text", "embedding"}, each(g.AllPosts(), func(p social.Post) []any {
			return []any{p.Number, g.PostSlug(p.Number), p.Text, p.Vector}
		})},
		{"knows", []string{"src", "dst", "since"}, each(g.knows(), func(k social.Acquaintance) []any {
			return []any{k.From, k.To, dayTime(k.Since)}
		})},
		{"works_at", []string{"person", "company"}, each(g.worksAt(), func(e social.Edge) []any { return []any{e.From, e.To} })},
		{"authored", []string{"post", "person"}, each(g.authored(), func(e social.Edge) []any { return []any{e.To, e.From} })},
	} {
		next, stop := iter.Pull(t.rows)
		_, err := conn.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
			row, _ := next() // nil at the end of the rows, which ends the copy
			return row, nil
		}))
		stop()
		if err != nil {
			return fmt.Errorf("copy %s: %w", t.table, err)
		}
	}
	return pgExec(ctx, conn, pgIndexes)
}

// each returns the values of every row.
func each[T any](rows iter.Seq[T], values func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for r := range rows {
			if !yield(values(r)) {
				return
			}
		}
	}
}

// open implements [peer].
func (postgres) open(ctx context.Context, dir string) (session, error) {
	conn, err := pgConn(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &pgSession{conn: conn, dir: dir}, nil
}

// pgSession is a connection to PostgreSQL.
type pgSession struct {
	conn *pgx.Conn   // the connection for reads
	more []*pgx.Conn // connections for concurrent writers
	dir  string      // folder of the server's socket
}

// close implements [session].
func (s *pgSession) close() error {
	var err error
	for _, c := range append(s.more, s.conn) {
		err = errors.Join(err, c.Close(context.Background()))
	}
	return err
}

// version implements [session].
func (s *pgSession) version(ctx context.Context) (v string, err error) {
	err = s.conn.QueryRow(ctx, "SHOW server_version").Scan(&v)
	return v, err
}

// prepare implements [session].
func (s *pgSession) prepare(ctx context.Context, w *work) (statement, error) {
	text, ok := pgReads[w.id]
	switch {
	case !ok && w.id == "w8":
		return nil, absent("its ranking is not BM25")
	case !ok:
		return nil, absent("vectors need the extension pgvector")
	}
	if _, err := s.conn.Prepare(ctx, w.id, text); err != nil {
		return nil, err
	}
	return func(ctx context.Context, args []any, keep *[][]any) (int, error) {
		return pgRead(ctx, s.conn, w.id, args, keep)
	}, nil
}

// pgRead runs a prepared statement and reads every value of every row. If `keep` is not nil, pgRead
// appends the rows to it.
func pgRead(ctx context.Context, conn *pgx.Conn, name string, args []any, keep *[][]any) (n int, err error) {
	rows, err := conn.Query(ctx, name, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
		// Read the bytes of the values in the binary format. A client cannot do less work than
		// this.
		for _, raw := range rows.RawValues() {
			sink += int64(len(raw))
		}
		if keep != nil {
			values, err := rows.Values()
			if err != nil {
				return n, err
			}
			for i, v := range values {
				values[i] = plain(v)
			}
			*keep = append(*keep, values)
		}
	}
	return n, rows.Err()
}

// writers returns commit functions that each have their own connection and commit with one
// statement, in one round trip.
func (s *pgSession) writers(ctx context.Context, n int) ([]commitFunc, error) {
	const text = `WITH added AS (INSERT INTO person VALUES ($1, $2, 'Added Person', 30, 'added', 'added while measuring') RETURNING id)
		INSERT INTO knows SELECT added.id, f.id, $3 FROM added, person f WHERE f.slug = $4`
	var out []commitFunc
	for range n {
		conn, err := pgConn(ctx, s.dir)
		if err != nil {
			return nil, err
		}
		s.more = append(s.more, conn)
		if _, err := conn.Prepare(ctx, "w10", text); err != nil {
			return nil, err
		}
		out = append(out, func(ctx context.Context, person int, slug, friend string, day int) error {
			_, err := conn.Exec(ctx, "w10", person, slug, dayTime(day), friend)
			return err
		})
	}
	return out, nil
}
