package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/postgres"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// anew says how to copy anew.
const anew = "copy anew with --copy-anew"

// prepare brings the graph and the slot to a state from which changes can be followed: it compares the position in the graph with
// the slot, and makes the slot and the copy if there is none.
func (f *follower) prepare(ctx context.Context, conn *pgx.Conn, repl *pgconn.PgConn, now pglogrepl.LSN) error {
	f.at = position{}
	if f.stored != "" {
		if err := json.Unmarshal([]byte(f.stored), &f.at); err != nil {
			return stopf("the graph has the position %q, which this program cannot read; use the program that wrote it, or a newer one", f.stored)
		}
	}
	var confirmed, plugin string
	err := conn.QueryRow(ctx, "SELECT coalesce(confirmed_flush_lsn, '0/0')::text, coalesce(plugin, '') FROM pg_catalog.pg_replication_slots WHERE slot_name = $1", f.Slot).Scan(&confirmed, &plugin)
	exists := err == nil
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	switch {
	case exists && f.stored == "" && !f.CopyAnew:
		return stopf("the slot %s exists, and the graph has no position of it: another graph may follow with it, or this graph was restored; choose another --slot, or %s, which drops the slot", f.Slot, anew)
	case f.at.Copying || f.CopyAnew || f.stored == "":
		if exists {
			if _, err := conn.Exec(ctx, "SELECT pg_drop_replication_slot($1)", f.Slot); err != nil {
				return err
			}
		}
		return f.copy(ctx, conn, repl)
	case !exists:
		return stopf("the slot %s is gone, and changes since %s with it; %s", f.Slot, f.at.LSN, anew)
	case plugin != "pgoutput":
		return stopf("the slot %s has the plugin %s, expected pgoutput; choose another --slot", f.Slot, plugin)
	}
	if f.lsn, err = pglogrepl.ParseLSN(f.at.LSN); err != nil {
		return stopf("the graph has the position %q: %w", f.stored, err)
	}
	slot, err := pglogrepl.ParseLSN(confirmed)
	switch {
	case err != nil:
		return err
	case slot > f.lsn:
		return stopf("the graph has the changes up to %s, and the slot %s begins at %s: the graph was restored to an earlier state, and the changes between are lost; %s", f.at.LSN, f.Slot, confirmed, anew)
	case now < f.lsn:
		return stopf("the graph has changes up to %s, and the database is at %s: the database was restored to an earlier state; %s", f.at.LSN, now, anew)
	}
	for _, t := range f.tables {
		if f.at.Sources[t.name] != t.digest {
			return stopf("since the copy, the map, a mapped column or the key of the table %s has changed; %s", t.name, anew)
		}
	}
	f.applied.Store(uint64(f.lsn))
	return nil
}

// copy makes the slot, and copies the rows of its snapshot as one sync.
func (f *follower) copy(ctx context.Context, conn *pgx.Conn, repl *pgconn.PgConn) error {
	// The mark lets a later run drop the slot of a copy that was killed.
	if err := f.store(ctx, noLines{}, position{Copying: true}); err != nil {
		return unlessUnsure(err)
	}
	slot, err := pglogrepl.CreateReplicationSlot(ctx, repl, f.Slot, "pgoutput", pglogrepl.CreateReplicationSlotOptions{SnapshotAction: "EXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return fmt.Errorf("making the slot %s: %w", f.Slot, err)
	}
	db, err := postgres.OpenAt(ctx, f.URL, slot.SnapshotName)
	if err != nil {
		return err
	}
	err = errors.Join(f.copyRows(ctx, conn, db, slot.ConsistentPoint), db.Close())
	var refused *Stopped
	if errors.As(err, &refused) { // the next run copies anew, so nobody needs the log that the slot would hold meanwhile
		if _, left := conn.Exec(ctx, "SELECT pg_drop_replication_slot($1)", f.Slot); left != nil {
			f.Log.Warn("the copy was refused, and its slot remains; drop it, or the database keeps its log for it", "slot", f.Slot, "error", left)
		}
	}
	return err
}

// copyRows copies the rows that a transaction sees.
func (f *follower) copyRows(ctx context.Context, conn *pgx.Conn, db *postgres.Database, at string) error {
	files := make([][]record.File, len(f.Map.Sources))
	if err := db.Attach(f.Map, files); err != nil {
		return err
	}
	// Attach locks the tables, so the columns that check finds now are those of the snapshot.
	if err := f.check(ctx, conn); err != nil {
		return err
	}
	next := position{LSN: at, Sources: map[string]string{}}
	for i, t := range f.tables {
		next.Sources[t.name] = t.digest
		files[i][0].Name = "table " + t.name
	}
	start := clock.Now()
	f.Log.Info("copying the tables", "tables", len(f.tables), "position", at)
	in := dataimport.New(f.Plan, files, nil)
	if f.Rejects != nil {
		in.Reject(f.Rejects, f.MaxRejects)
		if err := in.Check(ctx); err != nil {
			return f.asStopped(err)
		}
	}
	types := f.Map.Types()
	var copied *Copied
	for {
		before := in.Rejected()
		if before > 0 {
			types = nil // what was rejected is not lost
		}
		var err error
		copied, err = f.copyOnce(ctx, in, next, types)
		if err == nil {
			break
		}
		if over := in.Over(); over != nil {
			return &Stopped{over}
		}
		if in.Rejected() == before {
			return f.asStopped(err)
		}
	}
	f.rejected.Add(int64(in.Rejected()))
	lsn, err := pglogrepl.ParseLSN(at)
	f.lsn = lsn
	f.applied.Store(uint64(lsn))
	f.Log.Info("the copy is in the graph", "rejected", in.Rejected(), "released", copied.Released, "deleted", copied.Deleted, "cascaded", copied.Cascaded,
		"took", clock.Since(start).Round(time.Millisecond).String())
	if copied.Kept > 0 {
		f.Log.Warn("nodes whose rows are gone stay, because they have edges that the database does not make; --copy-anew --cascade deletes both", "nodes", copied.Kept)
	}
	return err
}

// asStopped returns an error about rows, which a new connection does not mend, as a *Stopped.
func (f *follower) asStopped(err error) error {
	var fault *record.Fault
	var faults *dataimport.Faults
	var many *dataimport.TooManyRejects
	if errors.As(err, &fault) && fault.Final {
		return err // the connection broke
	}
	if errors.As(err, &faults) {
		for _, x := range faults.List {
			if x.Final {
				return err
			}
		}
		return &Stopped{err}
	}
	if errors.As(err, &many) || fault != nil {
		return &Stopped{err}
	}
	return err
}

// copyOnce loads the rows. Its error has the places of the rows that do not fit.
func (f *follower) copyOnce(ctx context.Context, in *dataimport.Import, next position, types []string) (*Copied, error) {
	stream := in.Stream(ctx)
	copied, err := f.Graph.Copy(ctx, stream, engine.SourceChanges{Source: f.source, After: f.stored, Position: next.text()}, types)
	closed := stream.Close()
	if fault := stream.Err(); fault != nil {
		return nil, fault
	}
	if err == nil {
		f.stored, f.at = copied.Position, next
		return copied, closed
	}
	lines, more := f.Graph.Faults(err)
	if len(lines) == 0 {
		return nil, unlessUnsure(err)
	}
	faults, failed := in.Explain(ctx, lines, more)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	return nil, faults
}
