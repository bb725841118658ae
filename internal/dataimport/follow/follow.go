// Package follow keeps a graph in step with the tables of a PostgreSQL database, by logical replication:
//
//	exported snapshot → Import → one sync
//	changes → transactions → net changes of rows → lines → one load with the position
//
// The position of the database is stored in the graph with the changes, in one commit, and the slot is confirmed only up to a
// stored position. So a follower that is killed at any time continues without losing or doubling a change. A load holds whole
// transactions of the database, several when the graph is behind.
package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
)

// Graph is the branch of a graph that follows a database.
type Graph interface {
	// Load loads lines as one commit, with the position. The source claims their entities. It returns the position after the load.
	Load(ctx context.Context, lines io.Reader, c engine.SourceChanges) (position string, err error)
	// Copy is Load for a copy of all rows. The graph lets go what the source claimed before and the lines lack, in the types.
	Copy(ctx context.Context, lines io.Reader, c engine.SourceChanges, types []string) (*Copied, error)
	// Faults returns the faults of lines that an error of Load reports.
	Faults(err error) (lines []dataimport.LineFault, more bool)
}

// Copied says what a copy did.
type Copied struct {
	Position string // after the copy
	// Of the entities that the rows lack: those that stay without the claim of the source, those that were deleted, the edges
	// that were deleted with their nodes, and the nodes that stay because of such edges.
	Released, Deleted, Cascaded, Kept int64
}

// Options say what to follow.
type Options struct {
	URL         string // of the database
	Map         *dataimport.Map
	Plan        *dataimport.Plan // of Map
	Graph       Graph
	Slot        string // name of the replication slot, which the follower creates
	Publication string
	CopyAnew    bool      // drop the slot and copy all rows, although the graph has a position
	Once        bool      // stop when the graph has what the database had at the start
	Rejects     io.Writer // gets the rows that do not fit, as JSON lines; nil to stop at the first
	MaxRejects  int
	Log         *slog.Logger
	Dir         string // for temporary files; "" for the default folder
	BatchBytes  int    // about the size of changes that one load holds, and of those kept in memory; 0 for the default
}

// defaultBatch is the default of Options.BatchBytes.
const defaultBatch = 8 << 20

// Status is the state of a follower, for metrics. Its methods are safe for concurrent use.
type Status struct {
	applied  atomic.Uint64 // position up to which the graph has the changes
	rows     atomic.Int64
	rejected atomic.Int64
	behind   atomic.Int64 // bytes of the database's log that the graph does not have yet
	retained atomic.Int64 // bytes of the log that the slot holds
	lag      atomic.Int64 // nanoseconds between the commit of the last applied transaction and its load
}

// Rows returns the number of changed rows that were applied.
func (s *Status) Rows() int64 { return s.rows.Load() }

// Rejected returns the number of rows that were rejected.
func (s *Status) Rejected() int64 { return s.rejected.Load() }

// Behind returns the number of bytes of the database's log that the graph does not have yet.
func (s *Status) Behind() int64 { return s.behind.Load() }

// Retained returns the number of bytes of the log that the database keeps for the slot.
func (s *Status) Retained() int64 { return s.retained.Load() }

// Lag returns the time between the commit of the last applied transaction in the database and its commit in the graph.
func (s *Status) Lag() time.Duration { return time.Duration(s.lag.Load()) }

// position is what the graph stores about the database.
type position struct {
	LSN string `json:"lsn,omitempty"` // the end of the last applied transaction
	// Copying says that the slot was being made for a copy that has not been loaded.
	Copying bool `json:"copying,omitempty"`
	// Sources has a digest of the mapping and of the mapped columns of each table at the copy.
	Sources map[string]string `json:"sources,omitempty"`
}

// text returns the stored form.
func (p position) text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("follow: encode a position: " + err.Error())
	}
	return string(b)
}

// follower is a running follower.
type follower struct {
	Options
	*Status
	source string // name of the database and the slot in the graph
	tables []*table
	rows   *dataimport.Rows
	types  pgtext.Types
	stored string // the position in the graph
	at     position
	lsn    pglogrepl.LSN // of at
	until  pglogrepl.LSN // with Once, the position to reach; else 0
	// reached says that the graph has answered, so that one without an answer during the copy is away for a while.
	reached bool
}

// Stopped is an error that a new connection does not mend.
type Stopped struct{ Err error }

// Error returns the reason.
func (s *Stopped) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s *Stopped) Unwrap() error { return s.Err }

// stopf returns a *Stopped.
func stopf(format string, args ...any) error { return &Stopped{fmt.Errorf(format, args...)} }

// ErrUnsure is among the errors of [Graph.Load] if the load may have been made, or may succeed later. The follower then reads the
// position again.
var ErrUnsure = errors.New("the load has no certain outcome")

// unlessUnsure returns an error of [Graph.Load] as a *Stopped, unless a new connection may mend it.
func unlessUnsure(err error) error {
	if errors.Is(err, ErrUnsure) {
		return err
	}
	return &Stopped{err}
}

// Run follows the database until the context ends, until it has what it wants with Once, or until something must be mended: then
// the error is a *Stopped. It connects again after other errors.
func Run(ctx context.Context, o Options, s *Status) error {
	if o.BatchBytes == 0 {
		o.BatchBytes = defaultBatch
	}
	f := &follower{Options: o, Status: s}
	started := false
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		before := f.Rows()
		err := f.connect(ctx, &started)
		var stopped *Stopped
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case errors.As(err, &stopped):
			return stopped.Err
		case !started && !transient(err) && !(f.reached && errors.Is(err, ErrUnsure)):
			return err
		}
		if f.Rows() > before {
			wait = firstWait
		}
		o.Log.Warn("the database or the graph did not answer; the follower connects again", "error", err, "after", wait.String())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// The waits before a new connection.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// transient reports whether an error before the first success may pass: the slot is still held by a follower that was killed, or the
// database starts.
func transient(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "55006" || pg.Code == "57P03")
}

// connect connects to the database, copies it if the graph has no copy, and follows its changes.
func (f *follower) connect(ctx context.Context, started *bool) error {
	config, err := pgx.ParseConfig(f.URL)
	if err != nil {
		return &Stopped{fmt.Errorf("the address of the database: %w", err)}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer closeConn(ctx, conn.PgConn())
	repl, system, err := f.replication(ctx)
	if err != nil {
		return err
	}
	defer func() { closeConn(ctx, repl) }()
	f.source = "postgres/" + system.SystemID + "/" + f.Slot // a slot belongs to one database of the system
	if err := f.check(ctx, conn); err != nil {
		return err
	}
	if f.stored, err = f.Graph.Load(ctx, noLines{}, engine.SourceChanges{Source: f.source}); err != nil {
		return unlessUnsure(fmt.Errorf("reading the position in the graph: %w", err))
	}
	f.reached = true
	if err := f.prepare(ctx, conn, repl, system.XLogPos); err != nil {
		return err
	}
	if f.Once && f.until == 0 {
		var text string
		if err := conn.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&text); err != nil {
			return err
		}
		if f.until, err = pglogrepl.ParseLSN(text); err != nil {
			return err
		}
	}
	*started, f.CopyAnew = true, false
	return f.stream(ctx, conn, repl)
}

// replication makes a connection that can replicate.
func (f *follower) replication(ctx context.Context) (*pgconn.PgConn, pglogrepl.IdentifySystemResult, error) {
	config, err := pgconn.ParseConfig(f.URL)
	if err != nil {
		return nil, pglogrepl.IdentifySystemResult{}, err
	}
	for name, v := range pgtext.Settings {
		config.RuntimeParams[name] = v
	}
	config.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, pglogrepl.IdentifySystemResult{}, fmt.Errorf("connecting to the database for replication: %w; the user needs the attribute: ALTER ROLE … REPLICATION", err)
	}
	system, err := pglogrepl.IdentifySystem(ctx, conn)
	if err != nil {
		closeConn(ctx, conn)
	}
	return conn, system, err
}

// closeConn closes a connection within a second.
func closeConn(ctx context.Context, conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server notices a broken connection by itself
}

// noLines is an empty input.
type noLines struct{}

// Read implements [io.Reader].
func (noLines) Read([]byte) (int, error) { return 0, io.EOF }

// store loads lines with a new position. The slot may be confirmed up to it afterwards.
func (f *follower) store(ctx context.Context, lines io.Reader, next position) error {
	text, err := f.Graph.Load(ctx, lines, engine.SourceChanges{Source: f.source, After: f.stored, Position: next.text()})
	if err != nil {
		return err
	}
	f.stored, f.at = text, next
	return nil
}
