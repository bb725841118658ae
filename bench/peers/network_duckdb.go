//go:build duckdb_use_lib

package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
)

// openDuckDB loads the network into DuckDB.
func (n *network) openDuckDB(ctx context.Context, data *snb.Network) (*networkDatabase, error) {
	dir, err := n.folder("DuckDB")
	if err != nil {
		return nil, err
	}
	s, err := openDuck(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := fillDuckDB(ctx, s, data); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &networkDatabase{
		prepare: func(ctx context.Context, read string) (statement, error) {
			p, err := prepare(ctx, s.conn, relational.Reads[read])
			if err != nil {
				return nil, err
			}
			return p.statement(0, nil), nil
		},
		convert: sqlArgs,
		close:   s.close,
	}, nil
}

// fillDuckDB makes the tables of the network.
func fillDuckDB(ctx context.Context, s *duckSession, data *snb.Network) error {
	if err := execAll(ctx, s.conn, relational.Create); err != nil {
		return err
	}
	for _, t := range relational.Tables(data) {
		to, err := duckdb.NewAppenderFromConn(s.conn, "", t.Name)
		if err != nil {
			return err
		}
		var failed error
		for row := range t.Rows {
			values := make([]driver.Value, len(row))
			for i, v := range row {
				values[i] = v
			}
			if failed = to.AppendRow(values...); failed != nil {
				break
			}
		}
		if err := errors.Join(failed, to.Close()); err != nil {
			return fmt.Errorf("append to %s: %w", t.Name, err)
		}
	}
	return execAll(ctx, s.conn, strings.TrimSpace(relational.Indexes)+"\nANALYZE;\nCHECKPOINT;\n")
}
