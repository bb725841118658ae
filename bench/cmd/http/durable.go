package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/omnigraph-go/omnigraph/internal/bench/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

const (
	writers     = 16         // concurrent clients
	writeBranch = "measured" // the branch that is written: the repository's policy protects main
	noteText    = "The caller must hold the lock of the store."
)

// durable prints a row for durable writes over REST with 16 connections, each of a note and its edge. It compares
// them with the same writes to another build or, over TCP with as many connections, with inserts of single rows into
// PostgreSQL.
func durable(ctx context.Context, stdout io.Writer, ours, other *serverproc.Server, o options) (err error) {
	us, err := restWriter(ours, o)
	if err != nil {
		return err
	}
	defer us.hangUp()
	them, name := (*writer)(nil), "other"
	if o.other != "" {
		them, err = restWriter(other, o)
	} else {
		name = "PostgreSQL"
		var stop func() error
		if them, stop, err = postgresWriter(ctx); stop != nil {
			defer func() { err = errors.Join(err, stop()) }()
		}
	}
	if absent := (*pgserver.Absent)(nil); errors.As(err, &absent) {
		fmt.Fprintf(stdout, "\nDurable writes are left out: %s\n", absent.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	defer them.hangUp()
	for round := range o.rounds + 1 {
		for _, w := range []*writer{us, them} {
			if err := w.measure(round, o); err != nil {
				return fmt.Errorf("durable writes: %w", err)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Fprintf(stdout, "\n| durable writes | connections | omnigraph p50 | p99 | a second | %s p50 | p99 | a second | rate ratio |\n", name)
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	fmt.Fprintf(stdout, "| REST, a note and its edge | %d | %s | %s | %.2f |\n", writers, us.cells(), them.cells(), us.perSecond()/them.perSecond())
	return nil
}

// writer is a database with its connections and its measurements.
type writer struct {
	write  func(conn int, slug, symbol string) error // adds a note over a connection
	hangUp func()                                    // closes the connections

	took []time.Duration // time of each write
	rate []float64       // writes per second in each round
}

// measure runs one round. Round 0 only warms up.
func (w *writer) measure(round int, o options) error {
	took, rate, err := repeat(writers, o.round, func(conn, n int) error {
		return w.write(conn, fmt.Sprintf("note-%d-%d-%d", round, conn, n), codegraph.Medium.SymbolPath((conn*7919+n)%codegraph.Medium.Symbols))
	})
	if err != nil || round == 0 {
		return err
	}
	w.took, w.rate = append(w.took, took...), append(w.rate, rate)
	return nil
}

// perSecond returns the median of the rates.
func (w *writer) perSecond() float64 { return median(w.rate) }

// cells returns the table cells of the writer.
func (w *writer) cells() string {
	return fmt.Sprintf("%v | %v | %.0f", quantile(w.took, 0.5), quantile(w.took, 0.99), w.perSecond())
}

// restWriter makes a branch and returns a writer of notes on it.
func restWriter(s *serverproc.Server, o options) (*writer, error) {
	conns, err := dial(s.Addr, writers)
	if err != nil {
		return nil, err
	}
	w := &writer{hangUp: func() { hangUp(conns) }}
	if _, err := conns[0].post(requestHead(s.Addr, "/graphs/"+graphID+"/branches", ""), `{"name":"`+writeBranch+`"}`); err != nil {
		w.hangUp()
		return nil, fmt.Errorf("creating a branch: %w", err)
	}
	head := requestHead(s.Addr, "/graphs/"+graphID+"/queries/add_note", "")
	w.write = func(conn int, slug, symbol string) error {
		_, err := conns[conn].post(head, fmt.Sprintf(`{"branch":%q,"params":{"slug":%q,"symbol":%q,"text":%q}}`, writeBranch, slug, symbol, noteText))
		return err
	}
	return w, nil
}

// postgresWriter starts a PostgreSQL server with its default settings and returns a writer of single rows. The
// caller stops the server after it has closed the connections.
func postgresWriter(ctx context.Context) (_ *writer, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "bench-http-postgres-") // its owner will be another user
	if err != nil {
		return nil, nil, err
	}
	server, err := pgserver.New(ctx, dir, true)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() error { return errors.Join(server.Stop(os.Interrupt), os.RemoveAll(dir)) }
	var conns []*pgconn.PgConn
	w := &writer{hangUp: func() {
		for _, c := range conns {
			_ = c.Close(context.Background()) // the server ends next
		}
	}}
	for i := range writers {
		c, err := pgconn.Connect(ctx, server.URL)
		if err != nil {
			w.hangUp()
			return nil, stop, err
		}
		conns = append(conns, c)
		if i == 0 {
			if _, err := c.Exec(ctx, "CREATE TABLE note (slug text PRIMARY KEY, symbol text NOT NULL, text text NOT NULL, created timestamptz NOT NULL)").ReadAll(); err != nil {
				w.hangUp()
				return nil, stop, err
			}
		}
		if _, err := c.Prepare(ctx, "add", "INSERT INTO note VALUES ($1, $2, $3, now())", nil); err != nil {
			w.hangUp()
			return nil, stop, err
		}
	}
	w.write = func(conn int, slug, symbol string) error {
		return conns[conn].ExecPrepared(ctx, "add", [][]byte{[]byte(slug), []byte(symbol), []byte(noteText)}, nil, nil).Read().Err
	}
	return w, stop, nil
}
