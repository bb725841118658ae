package follow

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// batch collects changes until they are loaded: whole transactions as net changes of rows, and the messages of the transaction
// that has not ended. A transaction that is too large goes to files, each of which has all changes of some rows.
type batch struct {
	f         *follower
	relations map[uint32]*relation // by the number of the table in the database; nil for a table that is not followed
	all       []*relation          // by relation.number

	net    *net
	bytes  int           // size of the messages in net
	count  int64         // number of changes in net
	end    pglogrepl.LSN // the end of the last transaction in net, or 0
	commit time.Time     // its time

	inside  bool // a transaction has begun and not ended
	pending []change
	size    int    // bytes of pending
	large   *large // of a large transaction; else nil
}

// change is a change of a row.
type change struct {
	of   *relation
	data []byte // in the format of pgoutput
}

// newBatch returns an empty batch.
func newBatch(f *follower) *batch {
	return &batch{f: f, relations: map[uint32]*relation{}, net: newNet()}
}

// open reports whether there are changes that were not loaded.
func (b *batch) open() bool { return b.inside || b.end > 0 }

// close removes the files.
func (b *batch) close() {
	if b.large != nil {
		b.large.close()
		b.large = nil
	}
}

// message takes a message of the database. The error is a *Stopped if the follower cannot go beyond the transactions that were
// complete before.
func (b *batch) message(ctx context.Context, r *receiver, data []byte) error {
	switch pglogrepl.MessageType(data[0]) {
	case pglogrepl.MessageTypeInsert, pglogrepl.MessageTypeUpdate, pglogrepl.MessageTypeDelete:
		if len(data) < 5 {
			return errors.New("the database sent a change that is too short")
		}
		of := b.relations[binary.BigEndian.Uint32(data[1:])]
		if of == nil {
			return nil
		}
		return b.add(ctx, r, change{of, data})
	}
	m, err := pglogrepl.Parse(data)
	if err != nil {
		return fmt.Errorf("reading a message of the database: %w", err)
	}
	switch m := m.(type) {
	case *pglogrepl.BeginMessage:
		b.inside = true
	case *pglogrepl.CommitMessage:
		return b.ended(ctx, r, m)
	case *pglogrepl.RelationMessage:
		of, err := b.f.relate(m, len(b.all))
		if err != nil {
			return err
		}
		if b.relations[m.RelationID] = of; of != nil {
			b.all = append(b.all, of)
		}
	case *pglogrepl.TruncateMessage:
		for _, id := range m.RelationIDs {
			if of := b.relations[id]; of != nil {
				return stopf("the table %s was truncated, which a follower does not repeat; %s", b.f.tables[of.source].name, anew)
			}
		}
	}
	return nil
}

// add adds a change of the transaction that has begun.
func (b *batch) add(ctx context.Context, r *receiver, c change) error {
	if b.large != nil {
		return b.large.add(c)
	}
	b.pending, b.size = append(b.pending, c), b.size+len(c.data)
	if b.size < b.f.BatchBytes {
		return nil
	}
	if err := b.flush(ctx, r); err != nil {
		return err
	}
	large, err := newLarge(b.f.Dir)
	if err != nil {
		return err
	}
	b.large = large
	for _, c := range b.pending {
		if err := large.add(c); err != nil {
			return err
		}
	}
	b.pending, b.size = nil, 0
	return nil
}

// ended takes the end of a transaction.
func (b *batch) ended(ctx context.Context, r *receiver, m *pglogrepl.CommitMessage) error {
	b.inside = false
	if m.TransactionEndLSN <= b.f.lsn { // it was applied before
		b.pending, b.size = nil, 0
		b.close()
		return nil
	}
	if b.large != nil {
		defer b.close()
		return b.loadLarge(ctx, r, m)
	}
	for _, c := range b.pending {
		parsed, err := pglogrepl.Parse(c.data)
		if err != nil {
			return fmt.Errorf("reading a change of the database: %w", err)
		}
		b.net.add(c.of, parsed)
	}
	b.bytes, b.count = b.bytes+b.size, b.count+int64(len(b.pending))
	b.end, b.commit = m.TransactionEndLSN, m.CommitTime
	b.pending, b.size = b.pending[:0], 0
	if b.bytes >= b.f.BatchBytes {
		return b.flush(ctx, r)
	}
	return nil
}

// flush loads the complete transactions.
func (b *batch) flush(ctx context.Context, r *receiver) error {
	if b.end == 0 {
		return nil
	}
	if len(b.net.list) == 0 && b.end-b.f.lsn < idleBytes && (b.f.until == 0 || b.end < b.f.until) {
		b.end = 0 // transactions of other tables; idle moves the position
		return nil
	}
	out := b.f.output()
	defer out.close()
	if err := b.f.addAll(out, b.net); err != nil {
		return err
	}
	if err := b.load(ctx, r, out, b.end, b.commit); err != nil {
		return err
	}
	b.f.Status.rows.Add(b.count)
	b.net, b.bytes, b.count, b.end = newNet(), 0, 0, 0
	return nil
}

// move stores a position without changes.
func (b *batch) move(ctx context.Context, r *receiver, end pglogrepl.LSN) error {
	out := b.f.output()
	defer out.close()
	return b.load(ctx, r, out, end, time.Time{})
}

// output returns an empty output.
func (f *follower) output() *output {
	out := &output{skip: map[int]bool{}}
	out.lines = spool{dir: f.Dir, most: 4 * f.BatchBytes}
	out.rows = spool{dir: f.Dir, most: 4 * f.BatchBytes}
	return out
}

// close removes the files.
func (o *output) close() {
	o.lines.close()
	o.rows.close()
}

// addAll adds the lines of net changes. Rows that do not fit are rejected, or stop the follower.
func (f *follower) addAll(out *output, n *net) error {
	for _, x := range n.list {
		err := f.add(out, x)
		var fault *record.Fault
		if errors.As(err, &fault) {
			r, _ := x.of.record(x.after, f.rows.Columns(x.of.source))
			err = f.reject(f.rowText(nil, x.of.source, r, fault), fault)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reject writes a rejected row, or returns a *Stopped.
func (f *follower) reject(text []byte, fault error) error {
	if f.Rejects == nil {
		return stopf("a row does not fit the graph:\n%w\nmend the row in the database, or go on without such rows with --rejects FILE", fault)
	}
	if f.rejected.Load() >= int64(f.MaxRejects) {
		return stopf("more than %d rows do not fit; the next: %w", f.MaxRejects, fault)
	}
	f.rejected.Add(1)
	if _, err := f.Rejects.Write(text); err != nil {
		return &Stopped{err}
	}
	if file, ok := f.Rejects.(*os.File); ok {
		if err := file.Sync(); err != nil {
			return &Stopped{err}
		}
	}
	return nil
}

// load loads lines, and then confirms the new position to the database.
func (b *batch) load(ctx context.Context, r *receiver, out *output, end pglogrepl.LSN, committed time.Time) error {
	f := b.f
	next := position{LSN: end.String(), Sources: f.at.Sources}
	for {
		lines, err := out.reader()
		if err != nil {
			return err
		}
		if err = f.store(ctx, lines, next); err == nil {
			break
		}
		if ctx.Err() != nil {
			return err
		}
		bad, more := f.Graph.Faults(err)
		if len(bad) == 0 {
			if errors.Is(err, ErrUnsure) {
				return err
			}
			return stopf("loading the changes up to %s: %w", end, err)
		}
		if err := f.rejectLines(out, bad, more); err != nil {
			return err
		}
	}
	f.lsn = end
	f.applied.Store(uint64(end))
	r.confirmed.Store(uint64(end))
	if !committed.IsZero() {
		f.lag.Store(int64(clock.Since(committed)))
	}
	return nil
}

// rejectLines rejects the rows of lines that break a rule of the schema.
func (f *follower) rejectLines(out *output, bad []dataimport.LineFault, more bool) error {
	numbers := map[int]bool{}
	for _, l := range bad {
		numbers[int(l.Line)] = true
	}
	rows, err := out.at(numbers)
	if err != nil {
		return err
	}
	for _, l := range bad {
		n := int(l.Line)
		if out.skip[n] {
			continue
		}
		out.skip[n] = true
		fault, text, err := f.rowFault(rows[n], l)
		if err != nil {
			return err
		}
		if err := f.reject(text, fault); err != nil {
			return err
		}
	}
	return nil
}

// files is the number of files of a large transaction.
const files = 64

// large holds the changes of a large transaction. The changes of one row are in one file, in order, also when its key changes.
type large struct {
	dir   string
	parts [files]*part
	moved map[rowKey]int // the files of rows whose keys changed, by the new key
	n     int64          // number of changes
	seed  maphash.Seed
}

// part is a file.
type part struct {
	file *os.File
	w    *bufio.Writer
}

// newLarge makes the files.
func newLarge(dir string) (*large, error) {
	dir, err := os.MkdirTemp(dir, "omnigraph-follow-*")
	return &large{dir: dir, moved: map[rowKey]int{}, seed: maphash.MakeSeed()}, err
}

// close removes the files.
func (l *large) close() {
	for _, p := range l.parts {
		if p != nil {
			_ = p.file.Close() // nothing of it is needed
		}
	}
	_ = os.RemoveAll(l.dir)
}

// add writes a change to the file of its row.
func (l *large) add(c change) error {
	m, err := pglogrepl.Parse(c.data)
	if err != nil {
		return fmt.Errorf("reading a change of the database: %w", err)
	}
	var from, to []cell
	switch m := m.(type) {
	case *pglogrepl.InsertMessage:
		from = c.of.cells(m.Tuple)
	case *pglogrepl.UpdateMessage:
		from = c.of.cells(m.NewTuple)
		if m.OldTuple != nil {
			from, to = c.of.old(m.OldTuple), from
		}
	case *pglogrepl.DeleteMessage:
		from = c.of.old(m.OldTuple)
	}
	key := rowKey{c.of.source, c.of.keyOf(from)}
	k, ok := l.moved[key]
	if !ok {
		k = int(maphash.Comparable(l.seed, key) % files)
	}
	if to != nil {
		if now := (rowKey{c.of.source, c.of.keyOf(to)}); now != key {
			l.moved[now] = k
		}
	}
	if l.parts[k] == nil {
		file, err := os.CreateTemp(l.dir, "part-*")
		if err != nil {
			return err
		}
		l.parts[k] = &part{file, bufio.NewWriterSize(file, 16<<10)}
	}
	w := l.parts[k].w
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(c.of.number)), uint64(len(c.data)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	l.n++
	_, err = w.Write(c.data)
	return err
}

// loadLarge loads a large transaction.
func (b *batch) loadLarge(ctx context.Context, r *receiver, m *pglogrepl.CommitMessage) error {
	out := b.f.output()
	defer out.close()
	for _, p := range b.large.parts {
		if p == nil {
			continue
		}
		n, err := b.read(p)
		if err == nil {
			err = b.f.addAll(out, n)
		}
		if err != nil {
			return err
		}
	}
	b.f.Log.Info("loading a large transaction", "changes", b.large.n, "lines", out.n)
	if err := b.load(ctx, r, out, m.TransactionEndLSN, m.CommitTime); err != nil {
		return err
	}
	b.f.Status.rows.Add(b.large.n)
	return nil
}

// read returns the net changes in a file.
func (b *batch) read(p *part) (*net, error) {
	if err := p.w.Flush(); err != nil {
		return nil, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	n, in := newNet(), bufio.NewReaderSize(p.file, 64<<10)
	for {
		number, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		parsed, err := pglogrepl.Parse(data)
		if err != nil {
			return nil, err
		}
		n.add(b.all[number], parsed)
	}
}
