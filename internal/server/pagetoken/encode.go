package pagetoken

import (
	"encoding/binary"
	"math"
	"time"
)

// Format is the first byte of a token's plaintext. The rest is:
//
//	flags     1 byte: 1 for a snapshot
//	graph     its length as a uvarint, then its bytes; the next three likewise
//	actor
//	branch
//	commit
//	now       Unix microseconds as a varint
//	plan      16 bytes
//	args      16 bytes
//	row       a uvarint
const Format = 1

const flagSnapshot = 1

// Encode returns the plaintext of the token for a place.
func Encode(p *Place) []byte {
	flags := byte(0)
	if p.Snapshot {
		flags |= flagSnapshot
	}
	b := []byte{Format, flags}
	for _, s := range []string{p.Graph, p.Actor, p.Branch, p.Commit} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendVarint(b, p.Now.UnixMicro())
	b = append(append(b, p.Plan[:]...), p.Args[:]...)
	return binary.AppendUvarint(b, uint64(p.Row))
}

// Decode returns the place of a plaintext; ok is false if another version made it.
func Decode(b []byte) (*Place, bool) {
	if len(b) < 2 || b[0] != Format || b[1] > flagSnapshot {
		return nil, false
	}
	p := &Place{Snapshot: b[1]&flagSnapshot != 0}
	b = b[2:]
	for _, s := range []*string{&p.Graph, &p.Actor, &p.Branch, &p.Commit} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, false
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
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
