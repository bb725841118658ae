package sharedlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// kind is the kind of a log object. The numbers are stored.
type kind uint8

// The kinds of log objects.
const (
	group        kind = 1 // a list of records
	takeover     kind = 2 // a server becomes the writer
	announcement kind = 3 // a checkpoint comes into force
)

const (
	format      = 1             // version of the format of log objects
	logMagic    = "OGSHLOG\x00" // the first bytes of a log object
	entryHeader = 112           // bytes before the body
	sumSize     = sha256.Size   // bytes

	// maxGroup is the maximum length of the body of a group, in bytes.
	maxGroup = object.MaxCreate - entryHeader - sumSize
)

// bytesOf returns the number of bytes that a record takes in the body of a group.
func bytesOf(record []byte) int { return 4 + len(record) }

// sum is a SHA-256 checksum.
type sum [sumSize]byte

// groupID tells a writer's own log object from one that another server created under the same name.
type groupID [16]byte

// entry is a log object.
type entry struct {
	kind     kind   // group, takeover or announcement
	number   uint64 // place in the log, from 1
	epoch    uint64 // of the writer
	first    uint64 // LSN of the first record
	time     int64  // milliseconds since 1970
	layout   uint64 // number of the row layout for which a group was written
	id       groupID
	previous sum      // checksum of the predecessor
	records  [][]byte // of a group
	body     []byte   // JSON of a takeover or an announcement
	own      sum      // checksum of this object, set by encode and decodeEntry
	raw      []byte   // the bytes of this object, set by encode and decodeEntry
}

// encode returns the bytes of the log object and sets e.own.
func (e *entry) encode() []byte {
	body := e.body
	for _, r := range e.records {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(r)))
		body = append(body, r...)
	}
	b := make([]byte, 0, entryHeader+len(body)+sumSize)
	b = append(b, logMagic...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = append(b, byte(e.kind), 0, 0, 0)
	for _, n := range []uint64{e.number, e.epoch, e.first, uint64(e.time), e.layout} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.records)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, e.id[:]...)
	b = append(b, e.previous[:]...)
	b = append(b, body...)
	e.own = sha256.Sum256(b)
	e.raw = append(b, e.own[:]...)
	return e.raw
}

// decodeEntry decodes the bytes of the log object `number`.
func decodeEntry(number uint64, b []byte) (*entry, error) {
	fault := func(format string, args ...any) error {
		return &CorruptError{Name: logName(number), Fault: fmt.Sprintf(format, args...)}
	}
	if len(b) < entryHeader+sumSize || string(b[:8]) != logMagic {
		return nil, fault("it is not a log object")
	}
	content, stored := b[:len(b)-sumSize], b[len(b)-sumSize:]
	e := &entry{own: sha256.Sum256(content), raw: b}
	if !bytes.Equal(e.own[:], stored) {
		return nil, fault("its checksum does not match")
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	if err := checkFormat(logName(number), u32(8)); err != nil {
		return nil, err
	}
	e.kind = kind(b[12])
	e.number, e.epoch, e.first, e.time, e.layout = u64(16), u64(24), u64(32), int64(u64(40)), u64(48)
	copy(e.id[:], b[64:])
	copy(e.previous[:], b[80:])
	body := content[entryHeader:]
	switch {
	case e.number != number:
		return nil, fault("it has number %d", e.number)
	case uint64(u32(60)) != uint64(len(body)):
		return nil, fault("its body has %d bytes instead of %d", len(body), u32(60))
	}
	switch e.kind {
	case takeover, announcement:
		e.body = body
		return e, nil
	case group:
	default:
		return nil, fault("it has the unknown kind %d", e.kind)
	}
	for range u32(56) {
		if len(body) < 4 {
			return nil, fault("its records are cut off")
		}
		n := uint64(binary.LittleEndian.Uint32(body))
		if body = body[4:]; n > uint64(len(body)) {
			return nil, fault("its records are cut off")
		}
		e.records = append(e.records, body[:n:n])
		body = body[n:]
	}
	if len(body) > 0 {
		return nil, fault("it has %d bytes after its records", len(body))
	}
	return e, nil
}

// takeoverBody is the body of a takeover object. It is for operators; the protocol does not use it.
type takeoverBody struct {
	Node        string `json:"node"`        // id of the node that took over
	Incarnation string `json:"incarnation"` // of the node
	Address     string `json:"address"`     // of the node
}

// announcementBody is the body of an announcement.
type announcementBody struct {
	Name    string `json:"name"`    // of the checkpoint, without the prefix
	Sum     []byte `json:"sum"`     // checksum of the checkpoint
	Covered uint64 `json:"covered"` // number of the last log object that it covers
	Layout  uint64 `json:"layout"`  // number of its row layout

	// Condemned lists what the announcements so far have condemned and the writer has not deleted.
	// The last element is of this announcement.
	Condemned []condemnation `json:"condemned,omitempty"`
}
