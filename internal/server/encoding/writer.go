// Package encoding writes the outcomes of calls as JSON. It can also write the rows of a read as an
// Arrow stream. It writes rows directly from columns. It observes the limits on rows, bytes and
// memory.
package encoding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Answer is the encoded answer of a call.
type Answer struct {
	Head      [][]byte // parts of a long answer that precede JSON; see [Options.Parts]
	JSON      []byte   // the whole answer, or its last part
	Commit    string   // the commit read, or the head after a change; empty if there is none
	Rights    string   // digest of the rights to a part of the graph with which it was read; empty for all of it
	Read      bool     // the answer is that of a single read
	Truncated bool     // rows were cut off

	parts parts // the memory of Head
}

// Release frees the memory of a long answer. The answer must not be used afterwards.
func (a *Answer) Release() {
	a.parts.release()
	a.Head = nil
}

// Options say how an answer is written.
type Options struct {
	// SafeIntegers writes 64-bit integers beyond ±(2^53−1) as decimal strings, because
	// readers that store numbers as float64 would round them.
	SafeIntegers bool

	// StringIntegers writes all values of the types I64 and U64 as decimal strings, so that the form of a
	// value does not depend on its size.
	StringIntegers bool

	MaxRows  int  // zero for no limit; if it is not zero, answers also say when the query's own limit cut rows off
	MaxBytes int  // zero for no limit
	Refuse   bool // refuse a result beyond MaxRows or MaxBytes instead of truncating it

	// Arrays writes each row as an array of its values, in the order of the member `columns`. Records inside of a row stay
	// objects.
	Arrays bool

	NoCommit bool // omit from the answer the commit that was read

	// CommitIDs writes the id of the commit of a mutation or a load instead of the commit.
	CommitIDs bool

	// Parts allows a long answer to consist of several parts; see [Answer]. It has no
	// effect if MaxBytes is set.
	Parts bool

	// Arrow, if not nil, makes the answer to a read an Arrow IPC stream. The Writer calls Arrow
	// once, before the first byte, with the id of the commit that was read and the Rights of the answer. It sends the stream to
	// the writer that Arrow returns, while the read goes on. All other answers stay JSON.
	Arrow func(commit, rights string) io.Writer
}

// JSON is like json.Marshal but does not escape <, > and &. Models read the text unparsed,
// and these characters are frequent in schemas and queries.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Writer writes the answer of one call, or the answers of the calls of a batch, as JSON. It writes
// rows directly from columns. Only one goroutine may use a Writer.
type Writer struct {
	enc       Options // how to write rows and values
	buf       []byte  // the answer so far, or its last part
	rows      int     // written so far, in all results
	nested    int     // nested records written so far, in all results
	read      bool    // a read was answered
	truncated bool    // rows were cut off

	Rights   string   // see [Answer]
	entities Entities // receives the ids of the entities in the rows; may be nil

	parts // the finished parts that precede buf
}

// firstAnswer is the initial capacity of an answer in bytes. It is enough for a lookup.
const firstAnswer = 1 << 10

// NewWriter returns a writer. Its parts take memory from the budget, which may be nil. If the
// budget is not nil, the argument `most` is the maximum number of bytes of an answer in parts.
func NewWriter(enc Options, memory Memory, most int64) *Writer {
	enc.Parts = enc.Parts && enc.MaxBytes == 0
	return &Writer{enc: enc, buf: make([]byte, 0, firstAnswer), parts: parts{memory: memory, maxBytes: most}}
}

// Answer returns what was written. commit is the commit that the answer describes, if any.
func (e *Writer) Answer(commit string) *Answer {
	return &Answer{Head: e.full, parts: e.parts, JSON: e.buf, Commit: commit, Rights: e.Rights, Read: e.read, Truncated: e.truncated}
}

// ForModel reports whether a model reads the answer. Such an answer states nothing twice.
func (e *Writer) ForModel() bool { return e.enc.CommitIDs }

// Integers returns the options of the same names.
func (e *Writer) Integers() (safe, strings bool) { return e.enc.SafeIntegers, e.enc.StringIntegers }

// MaxBytes returns the limit of the answer in bytes, or 0 if there is none.
func (e *Writer) MaxBytes() int { return e.enc.MaxBytes }

// Mark is a position in an answer.
type Mark struct {
	bytes, rows int  // written before the mark
	truncated   bool // rows were cut off before the mark
}

// Mark returns the current position, where a call begins. No part has been finished at that point.
func (e *Writer) Mark() Mark { return Mark{len(e.buf), e.rows, e.truncated} }

// Reset discards what was written after the mark.
func (e *Writer) Reset(m Mark) {
	e.release()
	e.buf, e.rows, e.truncated = e.buf[:m.bytes], m.rows, m.truncated
	if e.entities != nil && e.enc.Arrow == nil { // a stream may have been sent
		e.entities.Reset()
	}
}

// Since returns the number of rows and the number of bytes that were written after the mark.
func (e *Writer) Since(m Mark) (rows, bytes int) { return e.rows - m.rows, e.written() - m.bytes }

// Text returns the JSON that was written after the mark, in pieces.
func (e *Writer) Text(m Mark) [][]byte {
	return append(slices.Clone(e.full), e.buf[min(m.bytes, len(e.buf)):])
}

// Raw writes a piece of JSON as it is.
func (e *Writer) Raw(json string) { e.buf = append(e.buf, json...) }

// Value writes v in the form of [JSON].
func (e *Writer) Value(v any) error {
	b, err := JSON(v)
	e.buf = append(e.buf, b...)
	return err
}

// Outcome writes the answer of a single call, not of a batch, and returns the commit that the
// answer describes. The argument `reads` says whether the caller may read the branch of a write.
// Outcome does not close the result of a read.
func (e *Writer) Outcome(ctx context.Context, env *tool.Env, out *tool.Outcome, reads bool) (commit string, err error) {
	switch {
	case out.Read != nil:
		e.read = true
		if e.enc.Arrow != nil {
			return out.Read.Result.Commit(), e.arrowAnswer(ctx, env, out.Read)
		}
		return out.Read.Result.Commit(), e.rowsAnswer(ctx, env, out.Read)
	case out.Change != nil:
		return out.Change.Change.Head.ID, e.changeAnswer(ctx, env, out.Change, reads)
	case out.Load != nil:
		return out.Load.Result.Head.ID, e.Value(e.loadAnswer(ctx, env, out.Load, reads))
	}
	return out.Commit, e.answer(out)
}

// answer writes the value of an outcome. If the value is too large, answer cuts it if it can, and
// otherwise returns a *wireerror.Oversize. The answer of a completed write has no size limit,
// because an error would say that the write failed.
func (e *Writer) answer(out *tool.Outcome) error {
	b, err := JSON(out.Value)
	if err != nil {
		return err
	}
	most := e.enc.MaxBytes
	if e.enc.Parts && e.memory != nil { // Parts excludes MaxBytes; see NewWriter
		most = int(e.maxBytes)
	}
	room := most - len(e.buf)
	if c, ok := out.Value.(tool.Cutter); ok && most > 0 && len(b) > room {
		c.Cut(room)
		if b, err = JSON(out.Value); err != nil {
			return err
		}
	}
	if most > 0 && len(b) > room && out.Wrote == nil {
		return &wireerror.Oversize{Bytes: int64(len(e.buf) + len(b)), MaxBytes: most, Advice: cmp.Or(out.Less, "ask for less")}
	}
	e.buf = append(e.buf, b...)
	return nil
}
