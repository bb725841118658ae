package logrecord

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// The payload of a KindBranch record:
//
//	format   1 byte
//	what     1 byte: create 1, delete 2
//	time     varint, microseconds
//	name     text (uvarint length, bytes)
//	for a create:
//	  from     text: the branch whose head the new branch starts at; empty for none
//	  commit   16 bytes, a ULID: the commit that the new branch starts at

// Branching is the record that creates or deletes a branch.
type Branching struct {
	Delete bool      // the record deletes the branch; else it creates it
	Name   string    // name of the branch
	From   string    // for a create: the branch whose head the new branch starts at; empty for none
	Commit string    // for a create: id of the commit that the new branch starts at
	Time   time.Time // in microseconds
}

// Append appends the payload of the record.
func (b *Branching) Append(dst []byte) []byte {
	what := byte(1)
	if b.Delete {
		what = 2
	}
	dst = append(dst, format.Current, what)
	dst = binary.AppendVarint(dst, b.Time.UnixMicro())
	dst = codec.AppendText(dst, b.Name)
	if !b.Delete {
		dst = codec.AppendText(dst, b.From)
		dst = codec.AppendULID(dst, b.Commit)
	}
	return dst
}

// ReadBranching reads a payload that Append wrote. The error is a *engine.Corrupt.
func ReadBranching(payload []byte) (*Branching, error) {
	r := &codec.Reader{Rest: payload}
	r.Format(format.Branching)
	what := r.Byte()
	if r.Err == nil && what != 1 && what != 2 {
		r.Fail(fmt.Sprintf("what %d", what))
	}
	b := &Branching{Delete: what == 2, Time: time.UnixMicro(r.Varint()).UTC(), Name: r.Text()}
	if !b.Delete {
		b.From, b.Commit = r.Text(), r.ULID()
	}
	return b, r.Err
}
