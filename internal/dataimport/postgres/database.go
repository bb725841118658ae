// Package postgres reads tables and queries of a PostgreSQL database as records:
//
//	URL → connection with one snapshot → cursor → texts → records
//
// All records come from one read-only transaction that is REPEATABLE READ, so that tables fit each other although others write.
// The memory of a reader depends on its longest row.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// connectTime is the limit for connecting, if the URL has no connect_timeout.
const connectTime = 30 * time.Second

// Database is a connection to a database. It reads one table or query at a time.
type Database struct {
	ctx   context.Context // ends all reading
	conn  *pgx.Conn
	types pgtext.Types
}

// Is reports whether an argument is the URL of a database.
func Is(argument string) bool {
	return strings.HasPrefix(argument, "postgres://") || strings.HasPrefix(argument, "postgresql://")
}

// Open connects to the database of a URL, and begins the transaction. Parameters that the URL leaves out come from the
// environment and the password file, as for psql. No error has the password. The context ends all reading.
func Open(ctx context.Context, address string) (*Database, error) { return OpenAt(ctx, address, "") }

// OpenAt is Open with a snapshot that another transaction exported; "" for the present state.
func OpenAt(ctx context.Context, address, snapshot string) (*Database, error) {
	if _, err := dataimport.ParseAddress(address); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the database: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	d := &Database{ctx: ctx, conn: conn}
	if err := d.begin(snapshot); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing to read the database: %w", err), d.Close())
	}
	return d, nil
}

// WithoutPassword returns an address without its password, for a file.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// begin begins the transaction, and reads which types the database has. Scans of a table give the rows in the same order each
// time, because rejected records are remembered by their numbers.
func (d *Database) begin(snapshot string) error {
	statements := []string{"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"}
	if snapshot != "" {
		statements = append(statements, "SET TRANSACTION SNAPSHOT '"+strings.ReplaceAll(snapshot, "'", "''")+"'")
	}
	settings := maps.Clone(pgtext.Settings)
	maps.Copy(settings, map[string]string{"synchronize_seqscans": "off", "max_parallel_workers_per_gather": "0", "enable_indexonlyscan": "off",
		"cursor_tuple_fraction": "1", "statement_timeout": "0", "idle_in_transaction_session_timeout": "0"})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		statements = append(statements, "SET LOCAL "+name+" = '"+settings[name]+"'")
	}
	for _, s := range statements {
		if _, err := d.conn.Exec(d.ctx, s); err != nil {
			return err
		}
	}
	rows, err := d.conn.Query(d.ctx, pgtext.Catalog)
	if err != nil {
		return err
	}
	var oid, base, elem uint32
	var isDomain bool
	_, err = pgx.ForEachRow(rows, []any{&oid, &isDomain, &base, &elem}, func() error {
		d.types.Add(oid, isDomain, base, elem)
		return nil
	})
	return err
}

// Close ends the transaction and the connection.
func (d *Database) Close() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), time.Second)
	defer cancel()
	return d.conn.Close(ctx)
}

// Attach opens the tables and queries of a map: `files` gets a file for each source that reads the database.
func (d *Database) Attach(m *dataimport.Map, files [][]record.File) error {
	for i := range m.Sources {
		s := &m.Sources[i]
		var f record.File
		var err error
		switch {
		case s.Table != "":
			f, err = d.Table(s.Table)
		case s.Query != "":
			f, err = d.Query(s.Name, s.Query)
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("the source %s: %w", s.Name, err)
		}
		files[i] = []record.File{f}
	}
	return nil
}

// rowUnits is what a row of a table counts in progress, where a byte of a file counts 1.
const rowUnits = 100

// Table returns the rows of a table or view. The name may begin with a schema and a point; it is written as the catalog has it.
func (d *Database) Table(name string) (record.File, error) {
	var schema, table string
	var keys []string
	var rows float64
	err := d.conn.QueryRow(d.ctx, `
		SELECT n.nspname, c.relname, greatest(c.reltuples, 0)::float8, coalesce((
			SELECT array_agg(a.attname::text ORDER BY k.at)
			FROM pg_catalog.pg_index i, unnest(i.indkey) WITH ORDINALITY AS k (number, at), pg_catalog.pg_attribute a
			WHERE i.indrelid = c.oid AND i.indisprimary AND k.at <= i.indnkeyatts AND a.attrelid = c.oid AND a.attnum = k.number), '{}')
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (n.nspname || '.' || c.relname = $1 OR c.relname = $1 AND pg_table_is_visible(c.oid))
		ORDER BY n.nspname || '.' || c.relname = $1 DESC LIMIT 1`, name).Scan(&schema, &table, &rows, &keys)
	if errors.Is(err, pgx.ErrNoRows) {
		return record.File{}, fmt.Errorf("the database has no table or view %s that this user can see; write its name without quotes, with its schema if that is not in search_path, such as public.orders", name)
	}
	if err != nil {
		return record.File{}, err
	}
	return d.file("table "+schema+"."+table, pgx.Identifier{schema, table}.Sanitize(), keys, int64(rows)*rowUnits)
}

// Query returns the rows of a query.
func (d *Database) Query(name, text string) (record.File, error) {
	text = strings.TrimRight(text, "; \t\r\n")
	return d.file("query "+name, "(\n"+text+"\n) AS q", nil, 0)
}

// file finds the columns of a table or of a query in parentheses. Doing so locks the tables against changes of their columns.
func (d *Database) file(name, from string, keys []string, size int64) (record.File, error) {
	described, err := d.conn.PgConn().Prepare(d.ctx, "", "SELECT * FROM "+from, nil)
	if err != nil {
		return record.File{}, err
	}
	s := &source{db: d, name: name, from: from, keys: keys}
	for _, f := range described.Fields {
		if slices.Contains(s.columns, f.Name) {
			return record.File{}, fmt.Errorf("two columns of the %s are called %s; give one of them another name with AS", name, f.Name)
		}
		s.columns, s.decoders = append(s.columns, f.Name), append(s.decoders, d.types.Decoder(f.DataTypeOID))
	}
	return record.File{Name: name, Size: size, Open: s.open}, nil
}
