package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// defaultSchema is the schema of the table if the URL names none.
const defaultSchema = "omnigraph"

// Open connects to a database and makes the schema and the table if they are missing. The URL has
// the form postgres://user@host/database?schema=omnigraph; libpq's other parameters and environment
// variables work too. The error is an [*UnsafeServerError] if the server could lose an object whose
// creation it has acknowledged.
func Open(ctx context.Context, address string) (*Bucket, error) {
	config, schema, err := parse(address)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	config.AfterConnect = refuseUnsafe // for every connection: a fail-over may change the server
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	if err := makeTable(ctx, pool, schema); err != nil {
		pool.Close()
		return nil, fmt.Errorf("preparing schema %s of the database: %w", schema, err)
	}
	return &Bucket{pool: pool}, nil
}

// parse reads the URL of a database. It removes the parameter `schema` from the URL and returns it
// separately.
func parse(address string) (config *pgxpool.Config, schema string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, "", errors.New("the address of the database is not a URL that starts with postgres://; use postgres://user@host/database?schema=omnigraph")
	}
	query := u.Query()
	schema = query.Get("schema")
	if schema == "" {
		schema = defaultSchema
	}
	query.Del("schema")
	u.RawQuery = query.Encode()
	config, err = pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, "", fmt.Errorf("the address of the database: %w", err)
	}
	return config, schema, nil
}

// makeTable makes the schema and the table if they are missing. An advisory lock keeps two servers
// from making them at the same time; otherwise PostgreSQL would return an error.
func makeTable(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('objects') IS NOT NULL`).Scan(&exists); err != nil || exists {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, statement := range []string{
			`SELECT pg_advisory_xact_lock(hashtextextended('omnigraph: make the table', 0))`,
			`CREATE SCHEMA IF NOT EXISTS ` + pgx.Identifier{schema}.Sanitize(),
			`CREATE TABLE IF NOT EXISTS objects (
				name text COLLATE "C",
				part integer,
				size bigint NOT NULL,
				data bytea NOT NULL,
				PRIMARY KEY (name, part))`,
			`ALTER TABLE objects ALTER COLUMN data SET STORAGE EXTERNAL`,
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// UnsafeServerError reports that a PostgreSQL server accepts no writes, or that it could lose an
// object whose creation it has acknowledged.
type UnsafeServerError struct{ Fault string }

func (e *UnsafeServerError) Error() string {
	return "the PostgreSQL server cannot keep graphs: " + e.Fault
}

// refuseUnsafe returns an [*UnsafeServerError] if the server of a new connection is not safe.
func refuseUnsafe(ctx context.Context, conn *pgx.Conn) error {
	var recovering bool
	var commit, fsync string
	err := conn.QueryRow(ctx, `
		SELECT pg_is_in_recovery(), current_setting('synchronous_commit'), current_setting('fsync')`).Scan(&recovering, &commit, &fsync)
	switch {
	case err != nil:
		return err
	case recovering:
		return &UnsafeServerError{"it is in recovery, so it is a replica or is starting; connect to the primary server"}
	case commit == "off":
		return &UnsafeServerError{"synchronous_commit is off, so it loses commits when it crashes; set synchronous_commit to on for this user or database"}
	case fsync == "off":
		return &UnsafeServerError{"fsync is off, so it loses commits when the machine crashes; set fsync to on"}
	}
	return nil
}

// explain turns an error of pgx into an error of object.Bucket.
func explain(action, name string, err error) error {
	if meaning := meaning(err); meaning != nil {
		return fmt.Errorf("%s %s: %w: %w", action, name, meaning, err)
	}
	return fmt.Errorf("%s %s: %w", action, name, err)
}

// meaning translates an error of pgx into an error of package object. It returns nil if the server
// did not carry out the statement and a repetition would not help.
func meaning(err error) error {
	if unsafe := (*UnsafeServerError)(nil); errors.As(err, &unsafe) {
		return nil
	}
	if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) {
		code := answer.Code
		switch class := code[:min(2, len(code))]; {
		case code == "57P03", class == "53", class == "40" && code != "40003":
			return object.ErrBusy // the server is not ready, lacks resources, or rolled the statement back
		case code == "40003", class == "57", class == "58", class == "08":
			return object.ErrUnknown // the server stopped or failed, maybe after the commit
		}
		return nil
	}
	if refused := (*pgconn.ConnectError)(nil); errors.As(err, &refused) || pgconn.SafeToRetry(err) {
		return object.ErrBusy // nothing was sent
	}
	return object.ErrUnknown
}
