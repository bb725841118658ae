//go:build duckdb_use_lib

package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"

	"github.com/duckdb/duckdb-go/v2"
)

// duckDB is DuckDB as a shared library in this process, with its defaults: as many threads as there
// are processors.
type duckDB struct{}

// newDuckDB returns DuckDB. The error is always nil.
func newDuckDB() (peer, error) { return duckDB{}, nil }

// name implements [peer].
func (duckDB) name() string { return "DuckDB" }

// searches implements [peer].
func (duckDB) searches(context.Context, string) (bool, error) { return false, nil }

// duckTables creates the tables.
const duckTables = `
CREATE TABLE person (id INTEGER NOT NULL, slug VARCHAR NOT NULL, name VARCHAR NOT NULL, age INTEGER NOT NULL, city VARCHAR NOT NULL, bio VARCHAR NOT NULL);
CREATE TABLE company (id INTEGER NOT NULL, slug VARCHAR NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE knows (src INTEGER NOT NULL, dst INTEGER NOT NULL, since DATE NOT NULL);
CREATE TABLE works_at (person INTEGER NOT NULL, company INTEGER NOT NULL);
CREATE TABLE post (id INTEGER NOT NULL, slug VARCHAR NOT NULL, text VARCHAR NOT NULL, embedding FLOAT[64]);
CREATE TABLE authored (post INTEGER NOT NULL, person INTEGER NOT NULL);
`

// The indexes serve lookups by a constant; joins are hash joins in any case. The table "knows" is
// sorted by src, so that DuckDB can also skip its row groups.
const duckIndexes = `
CREATE UNIQUE INDEX person_slug ON person (slug);
CREATE UNIQUE INDEX person_id ON person (id);
CREATE INDEX knows_src ON knows (src);
CREATE INDEX works_person ON works_at (person);
CREATE INDEX works_company ON works_at (company);
ANALYZE;
CHECKPOINT;
`

// duckReads are the statements of the reads by id of the work.
var duckReads = map[string]string{
	"w1": `SELECT name, age, city, bio FROM person WHERE slug = ?`,
	"w2": `SELECT f.slug, f.name, f.age FROM knows k JOIN person f ON f.id = k.dst
		WHERE k.src = (SELECT id FROM person WHERE slug = ?) ORDER BY f.name, f.id LIMIT 50`,
	"w3": `WITH p AS MATERIALIZED (SELECT id FROM person WHERE slug = ?),
		f AS MATERIALIZED (SELECT dst AS id FROM knows WHERE src = (SELECT id FROM p))
		SELECT count(DISTINCT k.dst) FROM f JOIN knows k ON k.src = f.id
		WHERE k.dst NOT IN (SELECT id FROM f) AND k.dst <> (SELECT id FROM p)`,
	"w4": `WITH p AS MATERIALIZED (SELECT id FROM person WHERE slug = ?),
		a AS MATERIALIZED (SELECT dst AS id FROM knows WHERE src = (SELECT id FROM p)),
		b AS MATERIALIZED (SELECT DISTINCT k.dst AS id FROM a JOIN knows k ON k.src = a.id)
		SELECT count(*) FROM (SELECT id FROM a UNION SELECT id FROM b UNION SELECT k.dst FROM b JOIN knows k ON k.src = b.id)
		WHERE id <> (SELECT id FROM p)`,
	"w5": `WITH x AS MATERIALIZED (SELECT id FROM person WHERE slug = ?)
		SELECT y.slug, y.name FROM works_at v JOIN person y ON y.id = v.person
		WHERE v.company IN (SELECT company FROM works_at WHERE person = (SELECT id FROM x)) AND v.person <> (SELECT id FROM x)
		AND v.person NOT IN (SELECT src FROM knows WHERE dst = (SELECT id FROM x))
		ORDER BY v.person LIMIT 20`,
	"w6": `SELECT c.slug, n.employees FROM
		(SELECT company, count(*) AS employees FROM works_at GROUP BY company ORDER BY employees DESC, company LIMIT 20) n
		JOIN company c ON c.id = n.company ORDER BY n.employees DESC, n.company`,
	"w7": `SELECT slug, name, age FROM person WHERE city = ? AND age BETWEEN ? AND ? ORDER BY age, name, id LIMIT 20`,
	"w9": `SELECT slug, array_cosine_distance(embedding, ?::FLOAT[64]) AS distance FROM post
		WHERE embedding IS NOT NULL ORDER BY distance LIMIT 10`,
}

// load implements [peer].
func (duckDB) load(ctx context.Context, dir string, from source) (err error) {
	s, err := openDuck(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := execAll(ctx, s.conn, duckTables); err != nil {
		return err
	}
	g := rowsOf(from.graph)
	for _, t := range []struct {
		table string
		fill  func(add func(...driver.Value) bool)
	}{
		{"person", func(add func(...driver.Value) bool) {
			for p := range g.persons() {
				if !add(int32(p.id), p.slug, p.Name, int32(p.Age), p.City, p.Bio) {
					return
				}
			}
		}},
		{"company", func(add func(...driver.Value) bool) {
			for c := range g.companies() {
				if !add(int32(c.id), c.slug, c.Name) {
					return
				}
			}
		}},
		{"post", func(add func(...driver.Value) bool) {
			for p := range g.AllPosts() {
				var vector any
				if p.Vector != nil {
					vector = p.Vector
				}
				if !add(int32(p.Number), g.PostSlug(p.Number), p.Text, vector) {
					return
				}
			}
		}},
		{"knows", func(add func(...driver.Value) bool) {
			for k := range g.knows() {
				if !add(int32(k.From), int32(k.To), dayTime(k.Since)) {
					return
				}
			}
		}},
		{"works_at", func(add func(...driver.Value) bool) {
			for e := range g.worksAt() {
				if !add(int32(e.From), int32(e.To)) {
					return
				}
			}
		}},
		{"authored", func(add func(...driver.Value) bool) {
			for e := range g.authored() {
				if !add(int32(e.To), int32(e.From)) {
					return
				}
			}
		}},
	} {
		to, err := duckdb.NewAppenderFromConn(s.conn, "", t.table)
		if err != nil {
			return err
		}
		var failed error
		t.fill(func(row ...driver.Value) bool {
			failed = to.AppendRow(row...)
			return failed == nil
		})
		if err := errors.Join(failed, to.Close()); err != nil {
			return err
		}
	}
	return execAll(ctx, s.conn, duckIndexes)
}

// open implements [peer].
func (duckDB) open(ctx context.Context, dir string) (session, error) { return openDuck(ctx, dir) }

// openDuck opens the database in a folder; it makes an empty one if there is none.
func openDuck(ctx context.Context, dir string) (*duckSession, error) {
	c, err := duckdb.NewConnector(filepath.Join(dir, "graph.duckdb"), nil)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &duckSession{connector: c, conn: conn}, nil
}

// duckSession is an open DuckDB database.
type duckSession struct {
	connector *duckdb.Connector // makes connections
	conn      driver.Conn       // the connection for reads
	more      []driver.Conn     // connections for concurrent writers
}

// close implements [session].
func (s *duckSession) close() error {
	var err error
	for _, c := range s.more {
		err = errors.Join(err, c.Close())
	}
	return errors.Join(err, s.conn.Close(), s.connector.Close())
}

// version implements [session].
func (s *duckSession) version(ctx context.Context) (string, error) {
	p, err := prepare(ctx, s.conn, "SELECT version()")
	if err != nil {
		return "", err
	}
	var rows [][]any
	if _, err := p.statement(1, nil)(ctx, nil, &rows); err != nil {
		return "", err
	}
	return rows[0][0].(string), p.stmt.Close()
}

// prepare implements [session].
func (s *duckSession) prepare(ctx context.Context, w *work) (statement, error) {
	text, ok := duckReads[w.id]
	if !ok {
		return nil, absent("full-text search is an extension that the library does not contain")
	}
	p, err := prepare(ctx, s.conn, text)
	if err != nil {
		return nil, err
	}
	return p.statement(w.columns, nil), nil
}

// writers returns commit functions that each have their own connection.
func (s *duckSession) writers(ctx context.Context, n int) ([]commitFunc, error) {
	var out []commitFunc
	for range n {
		conn, err := s.connector.Connect(ctx)
		if err != nil {
			return nil, err
		}
		s.more = append(s.more, conn)
		var stmts [4]*prepared
		for i, text := range []string{
			"BEGIN",
			"INSERT INTO person VALUES (?, ?, 'Added Person', 30, 'added', 'added while measuring')",
			"INSERT INTO knows SELECT ?, id, ? FROM person WHERE slug = ?",
			"COMMIT",
		} {
			if stmts[i], err = prepare(ctx, conn, text); err != nil {
				return nil, err
			}
		}
		out = append(out, func(ctx context.Context, person int, slug, friend string, day int) error {
			return errors.Join(
				stmts[0].exec(ctx),
				stmts[1].exec(ctx, int64(person), slug),
				stmts[2].exec(ctx, int64(person), dayTime(day), friend),
				stmts[3].exec(ctx),
			)
		})
	}
	return out, nil
}
