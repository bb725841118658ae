package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"
)

// sqlite is SQLite with FTS5 and sqlite-vec, compiled into this program.
type sqlite struct{}

// name implements [peer].
func (sqlite) name() string { return "SQLite" }

// searches implements [peer].
func (sqlite) searches(context.Context, string) (bool, error) { return true, nil }

// loadVec adds the extension sqlite-vec to every connection.
var loadVec = sync.OnceFunc(vec.Auto)

// Persons have an integer with the same order as their key. So an edge is two integers, and
// tie-breaks compare no texts. The table "knows" is clustered by (src, dst), so that a hop is one
// range scan of one tree; no query looks for acquaintances without a given src.
const sqliteTables = `
PRAGMA page_size = 8192;
PRAGMA journal_mode = WAL;
CREATE TABLE person (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, age INTEGER NOT NULL, city TEXT NOT NULL, bio TEXT NOT NULL) STRICT;
CREATE TABLE company (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
CREATE TABLE knows (src INTEGER NOT NULL, dst INTEGER NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (src, dst)) STRICT, WITHOUT ROWID;
CREATE TABLE works_at (person INTEGER NOT NULL, company INTEGER NOT NULL, PRIMARY KEY (person, company)) STRICT, WITHOUT ROWID;
CREATE TABLE post (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;
CREATE TABLE authored (post INTEGER PRIMARY KEY, person INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE post_text USING fts5 (text, content = 'post', content_rowid = 'id', tokenize = 'unicode61');
CREATE VIRTUAL TABLE post_vector USING vec0 (post INTEGER PRIMARY KEY, embedding float[64] distance_metric=cosine);
`

// The indexes are made after the rows are loaded, which is faster. There are backward indexes too,
// because the engine follows edges in both directions.
const sqliteIndexes = `
CREATE INDEX knows_dst ON knows (dst, src);
CREATE INDEX works_company ON works_at (company, person);
CREATE INDEX authored_person ON authored (person);
INSERT INTO post_text (post_text) VALUES ('rebuild');
INSERT INTO post_text (post_text) VALUES ('optimize');
ANALYZE;
PRAGMA wal_checkpoint (TRUNCATE);
`

// sqliteReads are the statements of the reads by id of the work.
var sqliteReads = map[string]string{
	"w1": `SELECT name, age, city, bio FROM person WHERE slug = ?`,
	"w2": `SELECT f.slug, f.name, f.age FROM person p JOIN knows k ON k.src = p.id JOIN person f ON f.id = k.dst
		WHERE p.slug = ? ORDER BY f.name, f.id LIMIT 50`,
	// Find the friends once, then the friends of each friend; leave out the friends themselves.
	"w3": `WITH p (id) AS MATERIALIZED (SELECT id FROM person WHERE slug = ?),
		f (id) AS MATERIALIZED (SELECT k.dst FROM p CROSS JOIN knows k ON k.src = p.id)
		SELECT count(DISTINCT k.dst) FROM f CROSS JOIN knows k ON k.src = f.id
		WHERE k.dst NOT IN (SELECT id FROM f) AND k.dst <> (SELECT id FROM p)`,
	// One step per level. A recursive query would keep a node once per level, and it cannot stop at
	// nodes that it has already visited.
	"w4": `WITH p (id) AS MATERIALIZED (SELECT id FROM person WHERE slug = ?),
		a (id) AS MATERIALIZED (SELECT k.dst FROM p CROSS JOIN knows k ON k.src = p.id),
		b (id) AS MATERIALIZED (SELECT DISTINCT k.dst FROM a CROSS JOIN knows k ON k.src = a.id)
		SELECT count(*) FROM (SELECT id FROM a UNION SELECT id FROM b UNION SELECT k.dst FROM b CROSS JOIN knows k ON k.src = b.id)
		WHERE id <> (SELECT id FROM p)`,
	"w5": `SELECT y.slug, y.name FROM person x JOIN works_at w ON w.person = x.id JOIN works_at v ON v.company = w.company
		JOIN person y ON y.id = v.person
		WHERE x.slug = ? AND y.id <> x.id AND NOT EXISTS (SELECT 1 FROM knows k WHERE k.src = v.person AND k.dst = x.id)
		ORDER BY v.person LIMIT 20`,
	"w6": `SELECT c.slug, n.employees FROM
		(SELECT company, count(*) AS employees FROM works_at GROUP BY company ORDER BY employees DESC, company LIMIT 20) n
		JOIN company c ON c.id = n.company ORDER BY n.employees DESC, n.company`,
	"w7": `SELECT slug, name, age FROM person WHERE city = ? AND age BETWEEN ? AND ? ORDER BY age, name, id LIMIT 20`,
	"w8": `SELECT p.slug, -t.rank FROM (SELECT rowid, rank FROM post_text WHERE post_text MATCH ? ORDER BY rank LIMIT 10) t
		JOIN post p ON p.id = t.rowid ORDER BY t.rank`,
	"w9": `SELECT p.slug, v.distance FROM (SELECT post, distance FROM post_vector WHERE embedding MATCH ? AND k = 10) v
		JOIN post p ON p.id = v.post ORDER BY v.distance`,
}

// With FULL, SQLite syncs its log at each commit and at each checkpoint.
const sqliteSettings = `
PRAGMA synchronous = FULL;
PRAGMA cache_size = -262144;
PRAGMA mmap_size = 1073741824;
PRAGMA temp_store = MEMORY;
`

// sqliteConn opens the database in a folder and applies the settings.
func sqliteConn(ctx context.Context, dir string) (driver.Conn, error) {
	loadVec()
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + filepath.Join(dir, "graph.sqlite") + "?_busy_timeout=10000")
	if err != nil {
		return nil, err
	}
	if err := execAll(ctx, conn, sqliteSettings); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// load implements [peer].
func (sqlite) load(ctx context.Context, dir string, from source) (err error) {
	conn, err := sqliteConn(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// One transaction for all rows, so that the log is written once and synced at its end.
	if err := execAll(ctx, conn, sqliteTables+"BEGIN;\n"); err != nil {
		return err
	}
	if err := sqliteRows(ctx, conn, rowsOf(from.graph)); err != nil {
		return err
	}
	return execAll(ctx, conn, "COMMIT;\n"+sqliteIndexes)
}

// sqliteRows inserts all rows of a graph.
func sqliteRows(ctx context.Context, conn driver.Conn, g rows) error {
	var failed error
	insert := func(table string, values int) func(...any) bool {
		p, err := prepare(ctx, conn, "INSERT INTO "+table+" VALUES ("+strings.Repeat("?, ", values-1)+"?)")
		if err != nil {
			failed = err
			return func(...any) bool { return false }
		}
		return func(row ...any) bool {
			failed = p.exec(ctx, row...)
			return failed == nil
		}
	}
	add := insert("person", 6)
	for p := range g.persons() {
		if !add(int64(p.id), p.slug, p.Name, int64(p.Age), p.City, p.Bio) {
			return failed
		}
	}
	add = insert("company", 3)
	for c := range g.companies() {
		if !add(int64(c.id), c.slug, c.Name) {
			return failed
		}
	}
	add = insert("post", 3)
	addVector := insert("post_vector", 2)
	for p := range g.AllPosts() {
		if !add(int64(p.Number), g.PostSlug(p.Number), p.Text) {
			return failed
		}
		if p.Vector != nil && !addVector(int64(p.Number), sqliteArg(p.Vector)) {
			return failed
		}
	}
	add = insert("knows", 3)
	for k := range g.knows() {
		if !add(int64(k.From), int64(k.To), int64(k.Since)) {
			return failed
		}
	}
	add = insert("works_at", 2)
	for e := range g.worksAt() {
		if !add(int64(e.From), int64(e.To)) {
			return failed
		}
	}
	add = insert("authored", 2)
	for e := range g.authored() {
		if !add(int64(e.To), int64(e.From)) {
			return failed
		}
	}
	return failed
}

// open implements [peer].
func (sqlite) open(ctx context.Context, dir string) (session, error) {
	conn, err := sqliteConn(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &sqliteSession{conn: conn}, nil
}

// sqliteSession is an open SQLite database.
type sqliteSession struct{ conn driver.Conn }

// close implements [session].
func (s *sqliteSession) close() error { return s.conn.Close() }

// version implements [session].
func (s *sqliteSession) version(ctx context.Context) (string, error) {
	p, err := prepare(ctx, s.conn, "SELECT sqlite_version(), vec_version()")
	if err != nil {
		return "", err
	}
	var rows [][]any
	if _, err := p.statement(2, nil)(ctx, nil, &rows); err != nil {
		return "", err
	}
	return rows[0][0].(string) + ", sqlite-vec " + strings.TrimPrefix(rows[0][1].(string), "v"), p.stmt.Close()
}

// prepare implements [session].
func (s *sqliteSession) prepare(ctx context.Context, w *work) (statement, error) {
	p, err := prepare(ctx, s.conn, sqliteReads[w.id])
	if err != nil {
		return nil, err
	}
	argument := sqliteArg
	if w.id == "w8" {
		argument = func(a any) any { return strings.ReplaceAll(a.(string), " ", " OR ") }
	}
	return p.statement(w.columns, argument), nil
}

// sqliteArg converts a vector to the byte format of sqlite-vec.
func sqliteArg(a any) any {
	v, ok := a.([]float32)
	if !ok {
		return a
	}
	bytes, err := vec.SerializeFloat32(v)
	if err != nil {
		panic(err) // floats always serialize
	}
	return bytes
}

// writers returns commit functions that share one connection under a lock. SQLite allows only one
// writer at a time, and connections that wait for each other by polling are slower.
func (s *sqliteSession) writers(ctx context.Context, n int) ([]commitFunc, error) {
	var stmts [4]*prepared
	for i, text := range []string{
		"BEGIN IMMEDIATE",
		"INSERT INTO person VALUES (?, ?, 'Added Person', 30, 'added', 'added while measuring')",
		"INSERT INTO knows SELECT ?, id, ? FROM person WHERE slug = ?",
		"COMMIT",
	} {
		p, err := prepare(ctx, s.conn, text)
		if err != nil {
			return nil, err
		}
		stmts[i] = p
	}
	var mu sync.Mutex
	commit := func(ctx context.Context, person int, slug, friend string, day int) error {
		mu.Lock()
		defer mu.Unlock()
		return errors.Join(
			stmts[0].exec(ctx),
			stmts[1].exec(ctx, int64(person), slug),
			stmts[2].exec(ctx, int64(person), int64(day), friend),
			stmts[3].exec(ctx),
		)
	}
	return slices.Repeat([]commitFunc{commit}, n), nil
}
