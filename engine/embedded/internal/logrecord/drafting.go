package logrecord

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// The form of a draft in records and in a manifest:
//
//	format       1 byte
//	id           16 bytes, a ULID
//	state        1 byte, engine.DraftState
//	owner, name  texts (uvarint length, bytes)
//	made, ended  varints, microseconds; ended is 0 while the draft is open
//	by, merge    texts, empty for none
//
// The payload of a KindDraft record:
//
//	format  1 byte
//	draft   text: the draft after the record
//	flags   1 byte: 1 if the record forgets the draft, else 0
//	branch  text: the payload of a KindBranch record that makes or deletes the draft's branch;
//	        empty for none
//	kind    1 byte: the kind of the record of the merge that ends the draft; 0 for none
//	merge   the payload of that record

// Drafting is the content of a KindDraft record.
type Drafting struct {
	Draft  *engine.Draft // the draft after the record
	Forget bool          // the record removes the draft, as if it had never been opened
	Branch []byte        // payload of a KindBranch record about the branch; nil for none
	Kind   uint8         // kind of the record of the merge that ends the draft; 0 for none
	Merge  []byte        // payload of that record
}

// AppendDraft appends the stored form of a draft.
func AppendDraft(dst []byte, d *engine.Draft) []byte {
	dst = append(codec.AppendULID(append(dst, format.Current), d.ID), byte(d.State))
	dst = codec.AppendText(codec.AppendText(dst, d.Owner), d.Name)
	dst = binary.AppendVarint(dst, d.Made.UnixMicro())
	ended := int64(0)
	if !d.Ended.IsZero() {
		ended = d.Ended.UnixMicro()
	}
	dst = binary.AppendVarint(dst, ended)
	return codec.AppendText(codec.AppendText(dst, d.By), d.Merge)
}

// ReadDraft reads what AppendDraft wrote. The error is a *engine.Corrupt.
func ReadDraft(b []byte) (*engine.Draft, error) {
	r := &codec.Reader{Rest: b}
	r.Format(format.Draft)
	d := &engine.Draft{ID: r.ULID(), State: engine.DraftState(r.Byte()), Owner: r.Text(), Name: r.Text(), Made: time.UnixMicro(r.Varint()).UTC()}
	if ended := r.Varint(); ended != 0 {
		d.Ended = time.UnixMicro(ended).UTC()
	}
	d.By, d.Merge = r.Text(), r.Text()
	switch {
	case r.Err != nil:
	case d.State.String() == "":
		r.Fail(fmt.Sprintf("a draft has the unknown state %d", d.State))
	case len(r.Rest) > 0:
		r.Fail("a draft ends too early")
	}
	return d, r.Err
}

// Append appends the payload of the record.
func (d *Drafting) Append(dst []byte) []byte {
	dst = codec.AppendText(append(dst, format.Current), string(AppendDraft(nil, d.Draft)))
	flags := byte(0)
	if d.Forget {
		flags = 1
	}
	dst = codec.AppendText(append(dst, flags), string(d.Branch))
	return append(append(dst, d.Kind), d.Merge...)
}

// ReadDrafting reads a payload that Append wrote. The error is a *engine.Corrupt.
func ReadDrafting(payload []byte) (*Drafting, error) {
	r := &codec.Reader{Rest: payload}
	r.Format(format.Draft)
	stored := r.Bytes(r.Count())
	flags := r.Byte()
	d := &Drafting{Forget: flags == 1, Branch: r.Bytes(r.Count()), Kind: r.Byte()}
	if r.Err == nil && flags > 1 {
		r.Fail(fmt.Sprintf("a record of a draft has the unknown flags %d", flags))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if d.Merge = r.Rest; len(d.Branch) == 0 {
		d.Branch = nil
	}
	var err error
	d.Draft, err = ReadDraft(stored)
	return d, err
}
