package logrecord

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// The form of a watch in records and in a manifest:
//
//	format                    1 byte
//	id                        16 bytes, a ULID
//	owner, query, branch      texts (uvarint length, bytes)
//	arguments                 text, empty for none
//	debounce                  uvarint, milliseconds
//	made                      varint, microseconds
//	state                     text; absent if there is none
//
// The payload of a KindWatch record is a flag, and the watch:
//
//	format  1 byte
//	flags   1 byte: 1 if the record deletes the watch, else 0
//	watch   as above

// Watching is the content of a KindWatch record.
type Watching struct {
	Watch  *engine.Watch
	Delete bool // the record deletes the watch
}

// AppendWatch appends the stored form of a watch.
func AppendWatch(dst []byte, w *engine.Watch) []byte {
	dst = codec.AppendULID(append(dst, format.Current), w.ID)
	for _, text := range []string{w.Owner, w.Query, w.Branch, string(w.Arguments)} {
		dst = codec.AppendText(dst, text)
	}
	dst = binary.AppendUvarint(dst, uint64(w.Debounce.Milliseconds()))
	dst = binary.AppendVarint(dst, w.Made.UnixMicro())
	if len(w.State) > 0 {
		dst = codec.AppendText(dst, string(w.State))
	}
	return dst
}

// ReadWatch reads what AppendWatch wrote. The error is a *engine.Corrupt.
func ReadWatch(b []byte) (*engine.Watch, error) {
	r := &codec.Reader{Rest: b}
	r.Format(format.Watch)
	w := &engine.Watch{ID: r.ULID(), Owner: r.Text(), Query: r.Text(), Branch: r.Text()}
	if args := r.Text(); args != "" {
		w.Arguments = []byte(args)
	}
	w.Debounce = time.Duration(r.Uvarint()) * time.Millisecond
	w.Made = time.UnixMicro(r.Varint()).UTC()
	if r.Err == nil && len(r.Rest) > 0 {
		if w.State = []byte(r.Text()); len(w.State) == 0 {
			r.Fail("a watch has an empty state")
		}
	}
	if r.Err == nil && len(r.Rest) > 0 {
		r.Fail("a watch ends too early")
	}
	return w, r.Err
}

// Append appends the payload of the record.
func (w *Watching) Append(dst []byte) []byte {
	flags := byte(0)
	if w.Delete {
		flags = 1
	}
	return AppendWatch(append(dst, format.Current, flags), w.Watch)
}

// ReadWatching reads a payload that Append wrote. The error is a *engine.Corrupt.
func ReadWatching(payload []byte) (*Watching, error) {
	r := &codec.Reader{Rest: payload}
	r.Format(format.Watch)
	flags := r.Byte()
	if r.Err == nil && flags > 1 {
		r.Fail(fmt.Sprintf("a record of a watch has the unknown flags %d", flags))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	w, err := ReadWatch(r.Rest)
	return &Watching{Watch: w, Delete: flags == 1}, err
}
