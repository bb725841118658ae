package pagetoken

import (
	"encoding/binary"
	"math"
	"time"
)

// Format is the first byte of a token's plaintext. The rest is:
//
//	flags     1 byte: 1 for a snapshot, 2 for a list
//	graph     its length as a uvarint, then its bytes; the next three likewise
//	actor
//	branch
//	commit
//
// Of rows there follow:
//
//	now       Unix microseconds as a varint
//	plan      16 bytes
//	args      16 bytes
//	row       a uvarint
//
// Of a list there follow:
//
//	list      its length as a uvarint, then its bytes; the next likewise
//	after
const Format = 1

// The bits of the byte flags.
const (
	flagSnapshot = 1 // see Place.Snapshot
	flagList     = 2 // the place is in a list
)

// Encode returns the plaintext of the token for a place.
func Encode(p *Place) []byte {
	flags := byte(0)
	if p.Snapshot {
		flags |= flagSnapshot
	}
	if p.List != "" {
		flags |= flagList
	}
	b := appendTexts([]byte{Format, flags}, p.Graph, p.Actor, p.Branch, p.Commit)
	if p.List != "" {
		return appendTexts(b, string(p.List), p.After)
	}
	b = binary.AppendVarint(b, p.Now.UnixMicro())
	b = append(append(b, p.Plan[:]...), p.Args[:]...)
	return binary.AppendUvarint(b, uint64(p.Row))
}

// appendTexts appends the length and the bytes of each text to `b`.
func appendTexts(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// readTexts reads texts from the start of b into the strings, and returns the rest of b.
func readTexts(b []byte, texts ...*string) (rest []byte, ok bool) {
	for _, s := range texts {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, false
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
	}
	return b, true
}

// Decode returns the place of a plaintext; ok is false if another version made it.
func Decode(b []byte) (*Place, bool) {
	if len(b) < 2 || b[0] != Format || b[1] > flagSnapshot|flagList {
		return nil, false
	}
	flags := b[1]
	p := &Place{Snapshot: flags&flagSnapshot != 0}
	b, ok := readTexts(b[2:], &p.Graph, &p.Actor, &p.Branch, &p.Commit)
	if !ok {
		return nil, false
	}
	if flags&flagList != 0 {
		b, ok = readTexts(b, (*string)(&p.List), &p.After)
		return p, ok && len(b) == 0 && p.List != ""
	}
	now, size := binary.Varint(b)
	if size <= 0 || len(b)-size < len(p.Plan)+len(p.Args) {
		return nil, false
	}
	p.Now, b = time.UnixMicro(now).UTC(), b[size:]
	b = b[copy(p.Plan[:], b):]
	b = b[copy(p.Args[:], b):]
	row, size := binary.Uvarint(b)
	if size <= 0 || size != len(b) || row > math.MaxInt64 {
		return nil, false
	}
	p.Row = int64(row)
	return p, true
}
