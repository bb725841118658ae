package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

const (
	// watchEvery is the time between two looks at the slot, and logEvery between two lines about the lag.
	watchEvery = 2 * time.Second
	logEvery   = 30 * time.Second
	// retainedWarning is the size of the log that the database keeps for the slot at which the follower warns.
	retainedWarning = 1 << 30
)

// watch observes the slot until the context ends or the connection fails.
func (f *follower) watch(ctx context.Context, conn *pgx.Conn) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var logged, warned time.Time
	for {
		var behind, retained int64
		var state string
		err := conn.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), $2::pg_lsn)::bigint, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn)::bigint,
			coalesce(to_jsonb(s) ->> 'wal_status', '') FROM pg_catalog.pg_replication_slots s WHERE slot_name = $1`, f.Slot, lsnText(f.applied.Load())).Scan(&behind, &retained, &state)
		if err != nil {
			return // the replication connection reports a failure
		}
		f.behind.Store(behind)
		f.retained.Store(retained)
		now := clock.Now()
		if (retained > retainedWarning || state == "unreserved" || state == "lost") && now.Sub(warned) > logEvery {
			warned = now
			f.Log.Warn("the slot makes the database keep much of its log, which fills the disk; if the graph is not needed any more, run SELECT pg_drop_replication_slot('"+f.Slot+"')",
				"slot", f.Slot, "retained_bytes", retained, "wal_status", state)
		}
		if now.Sub(logged) > logEvery {
			logged = now
			f.Log.Info("following", "behind_bytes", behind, "retained_bytes", retained, "rows", f.Rows(), "rejected", f.Rejected(), "last_lag", f.Lag().Round(time.Millisecond).String())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lsnText returns a position as PostgreSQL writes it.
func lsnText(lsn uint64) string { return fmt.Sprintf("%X/%X", lsn>>32, uint32(lsn)) }

// rowFault returns the fault of a line as one of its row, and the row as a line of the rejects.
func (f *follower) rowFault(row []byte, l dataimport.LineFault) (*record.Fault, []byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(row, &m); err != nil {
		return nil, nil, err
	}
	fault := &record.Fault{Err: l.Err}
	for name, to := range map[string]*string{"file": &fault.File, "key": &fault.Key} {
		if err := json.Unmarshal(m[name], to); err != nil {
			return nil, nil, err
		}
	}
	if l.Field != "" {
		fault.Err = fmt.Errorf("%s: %w", l.Field, l.Err)
	}
	text, err := json.Marshal(fault.Err.Error())
	if err != nil {
		return nil, nil, err
	}
	m["error"] = text
	out, err := json.Marshal(m)
	return fault, append(out, '\n'), err
}
