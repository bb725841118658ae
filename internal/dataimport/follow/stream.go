package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	// statusEvery is the time between two reports of the confirmed position to the database.
	statusEvery = time.Second
	// loadEvery is the least time between two loads, if the changes of both fit into one.
	loadEvery = 50 * time.Millisecond
	// waiting is the number of messages that wait for the follower. Behind them the database waits.
	waiting = 4096
	// idleBytes is the length of the log without a change of the tables after which the follower stores its position anyway, so
	// that the database can remove the log.
	idleBytes = 16 << 20
)

// message is a message of the database: a change of a table or of a transaction, or the position that the database has read.
type message struct {
	data []byte // in the format of pgoutput; nil for a position alone
	end  pglogrepl.LSN
}

// receiver reads messages of a replication connection, and reports the confirmed position.
type receiver struct {
	conn      *pgconn.PgConn
	confirmed atomic.Uint64
	messages  chan message
	err       error // why messages was closed
}

// stream follows the changes from f.lsn on.
func (f *follower) stream(ctx context.Context, conn *pgx.Conn, repl *pgconn.PgConn) error {
	args := []string{"proto_version '1'", "publication_names '" + quoteLiteral(pgx.Identifier{f.Publication}.Sanitize()) + "'"}
	if err := pglogrepl.StartReplication(ctx, repl, f.Slot, f.lsn, pglogrepl.StartReplicationOptions{PluginArgs: args}); err != nil {
		return fmt.Errorf("starting to follow with the slot %s: %w", f.Slot, err)
	}
	f.Log.Info("following the changes", "slot", f.Slot, "position", f.lsn.String())
	ctx, cancel := context.WithCancel(ctx)
	r := &receiver{conn: repl, messages: make(chan message, waiting)}
	r.confirmed.Store(uint64(f.lsn))
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.watch(ctx, conn)
	}()
	err := f.apply(ctx, r)
	cancel()
	<-done
	<-watched
	return err
}

// quoteLiteral doubles the quotes of a text.
func quoteLiteral(s string) string {
	out := ""
	for _, c := range s {
		if out += string(c); c == '\'' {
			out += "'"
		}
	}
	return out
}

// run receives until the context ends or the connection fails.
func (r *receiver) run(ctx context.Context) {
	defer close(r.messages)
	next := clock.Now()
	report := func(now bool) bool {
		if !now && clock.Now().Before(next) {
			return true
		}
		next = clock.Now().Add(statusEvery)
		at := pglogrepl.LSN(r.confirmed.Load())
		err := pglogrepl.SendStandbyStatusUpdate(context.WithoutCancel(ctx), r.conn, pglogrepl.StandbyStatusUpdate{WALWritePosition: at, WALFlushPosition: at, WALApplyPosition: at, ReplyRequested: true})
		if r.err == nil { // the last report must not hide why the stream ended
			r.err = err
		}
		return err == nil
	}
	defer report(true)
	for report(false) {
		limit, cancel := context.WithTimeout(ctx, next.Sub(clock.Now()))
		raw, err := r.conn.ReceiveMessage(limit)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case pgconn.Timeout(err):
			continue
		case err != nil:
			r.err = err
			return
		}
		var m message
		switch raw := raw.(type) {
		case *pgproto3.ErrorResponse:
			r.err = pgconn.ErrorResponseToPgError(raw)
			return
		case *pgproto3.CopyData:
			if m, err = r.parse(raw.Data); err != nil {
				r.err = err
				return
			}
		case *pgproto3.CopyDone:
			r.err = errors.New("the database ended the replication")
			return
		default:
			continue
		}
		if m.data == nil && m.end == 0 {
			if !report(true) {
				return
			}
			continue
		}
		for sent := false; !sent; {
			timer := time.NewTimer(statusEvery)
			select {
			case r.messages <- m:
				sent = true
			case <-timer.C:
				if !report(true) { // the database drops a connection that is silent for long
					timer.Stop()
					return
				}
			case <-ctx.Done():
				timer.Stop()
				return
			}
			timer.Stop()
		}
	}
}

// parse reads a message of the protocol of replication.
func (r *receiver) parse(data []byte) (message, error) {
	if len(data) == 0 {
		return message{}, errors.New("the database sent an empty message")
	}
	switch data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		return message{end: k.ServerWALEnd}, err
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data[1:])
		return message{data: append([]byte(nil), x.WALData...)}, err
	}
	return message{}, fmt.Errorf("the database sent a message of the unknown kind %q", data[0])
}

// apply collects the messages to transactions, and loads as many whole ones as wait.
func (f *follower) apply(ctx context.Context, r *receiver) error {
	b := newBatch(f)
	defer b.close()
	stop := func(err error) error { // after the transactions before it
		if failed := b.flush(ctx, r); failed != nil {
			return failed
		}
		return err
	}
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		var m message
		var ok bool
		select {
		case m, ok = <-r.messages:
		default:
			if f.until > 0 && f.lsn >= f.until && !b.open() {
				return nil
			}
			// Nothing waits: load what is complete, at most every loadEvery.
			due := pace.C
			if !b.open() {
				due = nil
			}
			select {
			case m, ok = <-r.messages:
			case <-due:
				if err := b.flush(ctx, r); err != nil {
					return err
				}
				pace.Reset(loadEvery)
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		switch {
		case !ok && ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return stop(cmp.Or(r.err, errors.New("the replication ended without a reason")))
		case m.data == nil:
			if err := f.idle(ctx, b, r, m.end); err != nil {
				return err
			}
			continue
		}
		if err := b.message(ctx, r, m.data); err != nil {
			var stopped *Stopped
			if errors.As(err, &stopped) {
				return stop(err)
			}
			return err
		}
	}
}

// idle notes that the database has read its log up to a position without a further change of the tables.
func (f *follower) idle(ctx context.Context, b *batch, r *receiver, end pglogrepl.LSN) error {
	if b.open() || end <= f.lsn {
		return nil
	}
	if err := b.flush(ctx, r); err != nil {
		return err
	}
	reached := f.until > 0 && end >= f.until
	if end-f.lsn < idleBytes && !reached {
		return nil
	}
	return b.move(ctx, r, end)
}
