package follow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
)

// table is a followed table.
type table struct {
	name    string // with its schema
	quoted  string
	oid     uint32
	kind    string // r or p
	full    bool   // REPLICA IDENTITY FULL
	columns []column
	primary []string   // the primary key
	replica []string   // the columns that PostgreSQL sends of the old row
	unique  [][]string // the columns of unique indexes

	complete []string // the columns of a unique index that are never null

	key    []string // the columns that identify a row
	digest string
}

// column is a column of a table.
type column struct {
	name   string
	typ    uint32
	mod    int32
	typeOf string // as SQL writes the type
}

// column returns a column by name.
func (t *table) column(name string) (column, bool) {
	for _, c := range t.columns {
		if c.name == name {
			return c, true
		}
	}
	return column{}, false
}

// check reads the tables of the map from the catalog, and checks that they can be followed. Its errors say what mends them.
func (f *follower) check(ctx context.Context, conn *pgx.Conn) error {
	var version int
	var level string
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, current_setting('wal_level')").Scan(&version, &level); err != nil {
		return err
	}
	switch {
	case version < 120000:
		return stopf("the server is PostgreSQL %d, and a follower needs 12 or later", version/10000)
	case level != "logical":
		return stopf("wal_level is %s, and a follower needs logical; run ALTER SYSTEM SET wal_level = logical, and restart the server", level)
	}
	if err := f.readTypes(ctx, conn); err != nil {
		return err
	}
	f.tables = nil
	makers := map[string]string{} // node type → the mapping that makes it
	var keys [][]string
	var names []string
	for i := range f.Map.Sources {
		s := &f.Map.Sources[i]
		if s.Table == "" {
			return stopf("the source %s is not a table, and a follower follows tables alone; give it read: { table: … }, or leave it to omnigraph import", s.Name)
		}
		for k, m := range s.Maps {
			at := fmt.Sprintf("mapping %d of the source %s", k+1, s.Name)
			if before, ok := makers[m.Type]; ok && !m.IsEdge {
				return stopf("%s makes %s, and so does %s, so that the row of one may delete a node that the other keeps; make each node type by one mapping; one partitioned table can hold the rows of several", at, m.Type, before)
			}
			makers[m.Type] = at
		}
		t, err := describe(ctx, conn, s.Table)
		if err != nil {
			return err
		}
		if err := t.identify(); err != nil {
			return err
		}
		f.tables, names, keys = append(f.tables, t), append(names, t.name), append(keys, t.key)
	}
	rows, err := dataimport.NewRows(f.Plan, names, keys)
	if err != nil {
		return &Stopped{err}
	}
	f.rows = rows
	for i, t := range f.tables {
		if err := f.checkTable(i, t); err != nil {
			return err
		}
	}
	return f.checkPublication(ctx, conn, version)
}

// readTypes reads which types the database has.
func (f *follower) readTypes(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, pgtext.Catalog)
	if err != nil {
		return err
	}
	var oid, base, elem uint32
	var isDomain bool
	_, err = pgx.ForEachRow(rows, []any{&oid, &isDomain, &base, &elem}, func() error {
		f.types.Add(oid, isDomain, base, elem)
		return nil
	})
	return err
}

// describe reads a table from the catalog.
func describe(ctx context.Context, conn *pgx.Conn, name string) (*table, error) {
	t := &table{}
	var schema, short, identity string
	err := conn.QueryRow(ctx, `
		SELECT c.oid, n.nspname, c.relname, c.relkind::text, c.relreplident::text
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (n.nspname || '.' || c.relname = $1 OR c.relname = $1 AND pg_table_is_visible(c.oid))
		ORDER BY n.nspname || '.' || c.relname = $1 DESC LIMIT 1`, name).Scan(&t.oid, &schema, &short, &t.kind, &identity)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, stopf("the database has no table %s that this user can see; write its name without quotes, with its schema if that is not in search_path", name)
	}
	if err != nil {
		return nil, err
	}
	t.name, t.quoted, t.full = schema+"."+short, pgx.Identifier{schema, short}.Sanitize(), identity == "f"
	if t.kind != "r" && t.kind != "p" {
		return nil, stopf("%s is a view or a foreign table, which PostgreSQL does not replicate; follow the tables below it", t.name)
	}
	rows, err := conn.Query(ctx, `SELECT attname, atttypid, atttypmod, format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute
		WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, t.oid)
	if err != nil {
		return nil, err
	}
	var c column
	if _, err = pgx.ForEachRow(rows, []any{&c.name, &c.typ, &c.mod, &c.typeOf}, func() error {
		t.columns = append(t.columns, c)
		return nil
	}); err != nil {
		return nil, err
	}
	rows, err = conn.Query(ctx, `
		SELECT i.indisprimary, i.indisreplident, n.names, n.complete
		FROM pg_catalog.pg_index i, LATERAL (
			SELECT array_agg(a.attname::text ORDER BY k.at) AS names, bool_and(a.attnotnull) AS complete
			FROM unnest(i.indkey) WITH ORDINALITY AS k (number, at) JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
			WHERE k.at <= i.indnkeyatts) n
		WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL`, t.oid)
	if err != nil {
		return nil, err
	}
	var isPrimary, isReplica, complete bool
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&isPrimary, &isReplica, &columns, &complete}, func() error {
		list := slices.Clone(columns)
		if isPrimary {
			t.primary = list
		}
		if isPrimary && identity == "d" || isReplica && identity == "i" {
			t.replica = list
		}
		if t.unique = append(t.unique, list); complete {
			t.complete = list
		}
		return nil
	})
	if t.full {
		for _, c := range t.columns {
			t.replica = append(t.replica, c.name)
		}
	}
	return t, err
}

// identify chooses the columns that identify the rows.
func (t *table) identify() error {
	switch {
	case len(t.replica) == 0 && len(t.primary) > 0:
		return stopf("the table %s does not say which row an update or a delete is about; run ALTER TABLE %s REPLICA IDENTITY DEFAULT", t.name, t.quoted)
	case len(t.replica) == 0:
		return stopf("the table %s has no primary key; run ALTER TABLE %s ADD PRIMARY KEY (…), or ALTER TABLE %s REPLICA IDENTITY FULL", t.name, t.quoted, t.quoted)
	case len(t.primary) > 0 && within(t.primary, t.replica):
		t.key = t.primary
	case t.full && t.complete != nil:
		t.key = t.complete
	default:
		t.key = t.replica
	}
	return nil
}

// within reports whether all of some names are in a list.
func within(names, list []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(list, n) })
}

// checkTable checks that the rows of a table can be followed as the map says, and digests what the copy depends on.
func (f *follower) checkTable(i int, t *table) error {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %q %v %t\n", t.name, t.key, t.replica, t.full)
	for _, name := range f.rows.Columns(i) {
		c, ok := t.column(name)
		if !ok {
			return stopf("the table %s has no column %s, which the map reads; it was dropped or renamed, or the map is wrong: mend the map, and copy anew with --copy-anew", t.name, name)
		}
		fmt.Fprintf(sum, "%s %d %d\n", name, c.typ, c.mod)
	}
	for k := range f.rows.Mappings(i) {
		columns, isNode := f.rows.IDColumns(i, k)
		m := f.Map.Sources[i].Maps[k]
		if err := json.NewEncoder(sum).Encode(m); err != nil {
			return err
		}
		if !within(columns, t.replica) {
			return stopf("the %s of the table %s are found by %s, which PostgreSQL does not send of deleted rows; run ALTER TABLE %s REPLICA IDENTITY USING INDEX … with a unique index of these columns, or ALTER TABLE %s REPLICA IDENTITY FULL", m.Type, t.name, strings.Join(columns, ", "), t.quoted, t.quoted)
		}
		if isNode && !slices.ContainsFunc(t.unique, func(u []string) bool { return within(u, columns) }) {
			return stopf("several rows of the table %s may be one %s, so that deleting one of them would delete the node; run CREATE UNIQUE INDEX ON %s (%s), or map a table in which it is a key", t.name, m.Type, t.quoted, strings.Join(columns, ", "))
		}
	}
	t.digest = hex.EncodeToString(sum.Sum(nil)[:8])
	return nil
}

// checkPublication checks that the publication has the tables.
func (f *follower) checkPublication(ctx context.Context, conn *pgx.Conn, version int) error {
	viaRoot := "true"
	if version >= 130000 {
		viaRoot = "pubviaroot"
	}
	name := pgx.Identifier{f.Publication}.Sanitize()
	var quoted []string
	partitioned := false
	for _, t := range f.tables {
		quoted = append(quoted, t.quoted)
		partitioned = partitioned || t.kind == "p"
	}
	if partitioned && version < 130000 {
		return stopf("PostgreSQL 12 does not publish partitioned tables; upgrade the server, or map the partitions")
	}
	with := ""
	if partitioned {
		with = " WITH (publish_via_partition_root = true)"
	}
	var all, root bool
	err := conn.QueryRow(ctx, "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, "+viaRoot+" FROM pg_catalog.pg_publication WHERE pubname = $1", f.Publication).Scan(&all, &root)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return stopf("the database has no publication %s; run CREATE PUBLICATION %s FOR TABLE %s%s", f.Publication, name, strings.Join(quoted, ", "), with)
	case err != nil:
		return err
	case !all:
		return stopf("the publication %s leaves out some changes; run ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate')", f.Publication, name)
	case partitioned && !root:
		return stopf("the publication %s publishes partitions in place of their table; run ALTER PUBLICATION %s SET (publish_via_partition_root = true)", f.Publication, name)
	}
	columns, filter := "NULL::name[]", "false"
	if version >= 150000 {
		columns, filter = "attnames", "rowfilter IS NOT NULL"
	}
	for i, t := range f.tables {
		var sent []string
		var filtered bool
		err := conn.QueryRow(ctx, "SELECT "+columns+"::text[], "+filter+" FROM pg_catalog.pg_publication_tables WHERE pubname = $1 AND schemaname || '.' || tablename = $2", f.Publication, t.name).Scan(&sent, &filtered)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return stopf("the publication %s does not have the table %s; run ALTER PUBLICATION %s ADD TABLE %s", f.Publication, t.name, name, t.quoted)
		case err != nil:
			return err
		case filtered || sent != nil && !within(f.rows.Columns(i), sent):
			return stopf("the publication %s has only some rows or columns of %s; run ALTER PUBLICATION %s SET TABLE %s", f.Publication, t.name, name, strings.Join(quoted, ", "))
		}
	}
	return nil
}
