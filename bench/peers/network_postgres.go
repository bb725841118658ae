package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
)

// openPostgres starts a PostgreSQL server and loads the network into it.
func (n *network) openPostgres(ctx context.Context, data *snb.Network) (_ *networkDatabase, err error) {
	dir, err := n.folder("PostgreSQL")
	if err != nil {
		return nil, err
	}
	server, err := startPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, server.Stop(os.Interrupt))
		}
	}()
	conn, err := pgConn(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := pgExec(ctx, conn, relational.Create); err != nil {
		return nil, err
	}
	for _, t := range relational.Tables(data) {
		next, stop := iter.Pull(t.Rows)
		_, err := conn.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromFunc(func() ([]any, error) {
			row, _ := next() // nil at the end of the rows, which ends the copy
			return row, nil
		}))
		stop()
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.Name, err)
		}
	}
	if err := pgExec(ctx, conn, relational.Indexes+"VACUUM ANALYZE;\nCHECKPOINT;\n"); err != nil {
		return nil, err
	}
	return &networkDatabase{
		prepare: func(ctx context.Context, read string) (statement, error) {
			if _, err := conn.Prepare(ctx, read, relational.Reads[read]); err != nil {
				return nil, err
			}
			return func(ctx context.Context, args []any, keep *[][]any) (int, error) {
				return pgRead(ctx, conn, read, args, keep)
			}, nil
		},
		convert: sqlArgs,
		close:   func() error { return errors.Join(conn.Close(context.Background()), server.Stop(os.Interrupt)) },
	}, nil
}
