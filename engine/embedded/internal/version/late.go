package version

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
)

// late is what a transaction with parts has noted since NoteLate: operations that follow the parts.
type late struct {
	limit  int                                       // bytes of operations in memory from which StoreLate stores them
	store  func(ops []byte) (name string, err error) // stores operations in a segment
	stored []string                                  // the segments with the first operations, in order
	ops    []byte                                    // the operations after them
}

// KeepLate makes StoreLate call the function `store` when there are at least `limit` bytes of operations.
func (tx *Txn) KeepLate(limit int, store func(ops []byte) (name string, err error)) {
	tx.keepLate = &late{limit: limit, store: store}
}

// NoteLate makes the transaction note what PutClaimed and Remove do from now on, as operations for the record of a bulk
// load, which has them after its parts. Without KeepLate, the transaction becomes no record, and notes nothing.
func (tx *Txn) NoteLate() { tx.late = tx.keepLate }

// StoreLate stores the operations since NoteLate if they are many, so that neither the record nor the memory of the
// transaction grows with them.
func (tx *Txn) StoreLate() error {
	if tx.late == nil || len(tx.late.ops) < max(tx.late.limit, 1) {
		return nil
	}
	name, err := tx.late.store(tx.late.ops)
	if err != nil {
		return err
	}
	tx.kept = append(tx.kept, name)
	tx.late.stored, tx.late.ops = append(tx.late.stored, name), tx.late.ops[:0]
	return nil
}

// AppendLate appends the operations since NoteLate to the parts of a record: a code and the name of a segment (text) for
// each segment that StoreLate stored, then the other operations.
func (tx *Txn) AppendLate(dst []byte) []byte {
	if tx.late == nil {
		return dst
	}
	for _, name := range tx.late.stored {
		dst = codec.AppendText(append(dst, opStored), name)
	}
	return append(dst, tx.late.ops...)
}

// ReadLate reads the names of segments that AppendLate wrote. It returns the other operations too.
func ReadLate(b []byte) (stored []string, ops []byte, err error) {
	r := &codec.Reader{Rest: b}
	for r.Err == nil && len(r.Rest) > 0 && r.Rest[0] == opStored {
		r.Byte()
		stored = append(stored, r.Text())
	}
	return stored, r.Rest, r.Err
}
