package audittrail

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Kind says what a record is about. The numbers are stored.
type Kind uint8

// The kinds of records.
const (
	Called  Kind = 0 // a call ended
	Started Kind = 1 // the server started
	Stopped Kind = 2 // the server ended in order
	Gap     Kind = 3 // records are missing; see [Note]
	Removed Kind = 4 // older records were removed; see [Note]
)

// kindNames are the names of the kinds, by number.
var kindNames = [...]string{Called: "call", Started: "start", Stopped: "stop", Gap: "gap", Removed: "removed"}

// String returns the name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Call is what a trail records of a call. The trail keeps nothing of it.
type Call struct {
	Time    time.Time     // the end of the call
	Took    time.Duration // its duration
	Request string        // the id of the request; empty for none
	Actor   string        // the name of the actor with its agents
	Graph   string        // the id of the graph
	Branch  string        // empty for a call that concerns no branch
	Tool    string        // the tool or the operation
	Outcome string        // how the call ended
	Denied  string        // the action that was denied; empty if none was
	Rule    string        // the rules that allowed the call, or denied the action, separated by blanks; empty if no rule is about it
	Commit  string        // the commit that was read or made
	Rows    int           // rows of the answer
	Digest  []byte        // keyed digest of the arguments; empty for none
	Values  []byte        // the arguments; empty unless the trail keeps them, and left out if they are very large
	Types   []string      // types that the query uses
	Filters []string      // filters of the policy that applied
	Whole   bool          // the answer may contain each entity of the branch, and Entities does not list them

	Entities *Entities // the entities of the answer; nil for none
}

// Note is what a record that is not about a call says.
type Note struct {
	Since  time.Time // gap: records after this time may be missing
	Lost   uint64    // gap: number of lost records; 0 if it is not known
	Reason string    // why records are missing or were removed; start: the version of the server
	Server string    // removed: the server whose records were removed
	Last   uint64    // removed: number of the last record that was removed
}

// Authentication is Denied in the records that count requests without a valid token, in Rows.
const Authentication = "authentication"

// Record is a stored record.
type Record struct {
	Server string // the server whose chain it is in
	Number uint64 // in the chain, from 1
	Kind   Kind
	Call        // of a call; Time is set for each kind. Entities is nil: see IDs and Hashes
	Note   Note // of the other kinds
	IDs    []string
	Hashes []uint64 // of the ids of further entities; see [HashOf]
	actor  uint64   // the number of the actor
}

// HashOf returns the hash of the id of an entity.
func HashOf(id string) uint64 { return xxhash.Sum64String(id) }

// appendText appends the length of a text, as a uvarint, and the text.
func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendCall appends the bytes of a record about a call:
//
//	number, time    uvarints; the time in Unix microseconds
//	kind            1 byte
//	actor           its number, a uvarint; 0 for none
//	flags           1 byte: 1 for Whole
//	took, rows      uvarints; the duration in microseconds
//	request, graph, branch, tool, outcome, denied, rule, commit, digest, values
//	                each with its length as a uvarint
//	types, filters  the number, and each with its length
//	ids             the number, and each with its length
//	hashes          the number, and 8 bytes each
//
// The other kinds have, after the kind, the fields of [Note]: since, lost and last as uvarints, and reason and server with their lengths.
// Every number is little-endian.
func appendCall(b []byte, number uint64, micros int64, actor uint64, c *Call, values []byte) []byte {
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(micros))
	b = append(b, byte(Called))
	b = binary.AppendUvarint(b, actor)
	flags := byte(0)
	if c.Whole || c.Entities.full() {
		flags |= flagWhole
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(max(0, c.Took.Microseconds())))
	b = binary.AppendUvarint(b, uint64(max(0, c.Rows)))
	for _, s := range [...]string{c.Request, c.Graph, c.Branch, c.Tool, c.Outcome, c.Denied, c.Rule, c.Commit} {
		b = appendText(b, s)
	}
	b = appendText(appendText(b, c.Digest), values)
	for _, list := range [...][]string{c.Types, c.Filters} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = appendText(b, s)
		}
	}
	return c.Entities.append(b)
}

// recordBytes returns a bound on the bytes of a record about a call, without its values.
func recordBytes(c *Call) int {
	const perText = 10 // the length
	n := 64 + len(c.Request) + len(c.Graph) + len(c.Branch) + len(c.Tool) + len(c.Outcome) + len(c.Denied) + len(c.Rule) + len(c.Commit) + len(c.Digest) + 14*perText
	for _, list := range [...][]string{c.Types, c.Filters} {
		for _, s := range list {
			n += perText + len(s)
		}
	}
	if c.Entities != nil {
		n += len(c.Entities.ids) + 8*len(c.Entities.hashes)
	}
	return n
}

// flagWhole is the flag for [Call.Whole].
const flagWhole = 1

// appendNote appends the bytes of a record that is not about a call.
func appendNote(b []byte, number uint64, micros int64, kind Kind, n *Note) []byte {
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(micros))
	b = append(b, byte(kind))
	since := int64(0)
	if !n.Since.IsZero() {
		since = n.Since.UnixMicro()
	}
	for _, v := range [...]uint64{uint64(since), n.Lost, n.Last} {
		b = binary.AppendUvarint(b, v)
	}
	return appendText(appendText(b, n.Reason), n.Server)
}

// errRecord is the fault of bytes that are no record.
var errRecord = errors.New("the bytes are not those of a record")

// reader reads the parts of a record. Once a read has failed, all further ones return zero values.
type reader struct {
	b      []byte
	failed bool
}

// number reads a uvarint.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.failed = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// take reads n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.failed = nil, true
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

// bytes reads a length and as many bytes.
func (r *reader) bytes() []byte { return r.take(r.number()) }

// byte reads one byte.
func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// texts reads a number and as many texts.
func (r *reader) texts() []string {
	n := r.number()
	if n > uint64(len(r.b)) { // each text takes a byte or more
		r.b, r.failed = nil, true
		return nil
	}
	var list []string
	for range n {
		list = append(list, string(r.bytes()))
	}
	return list
}

// decodeRecord reads the bytes of a record, apart from the name of its actor. It copies what the record keeps.
func decodeRecord(b []byte) (*Record, error) {
	d := reader{b: b}
	r := &Record{Number: d.number()}
	r.Time = time.UnixMicro(int64(d.number())).UTC()
	r.Kind = Kind(d.byte())
	if r.Kind != Called {
		if since := int64(d.number()); since != 0 {
			r.Note.Since = time.UnixMicro(since).UTC()
		}
		r.Note.Lost, r.Note.Last = d.number(), d.number()
		r.Note.Reason, r.Note.Server = string(d.bytes()), string(d.bytes())
	} else {
		r.actor = d.number()
		r.Whole = d.byte()&flagWhole != 0
		r.Took = time.Duration(d.number()) * time.Microsecond
		r.Rows = int(d.number())
		for _, s := range [...]*string{&r.Request, &r.Graph, &r.Branch, &r.Tool, &r.Outcome, &r.Denied, &r.Rule, &r.Commit} {
			*s = string(d.bytes())
		}
		for _, s := range [...]*[]byte{&r.Digest, &r.Values} {
			if text := d.bytes(); len(text) > 0 {
				*s = append([]byte(nil), text...)
			}
		}
		r.Types, r.Filters, r.IDs = d.texts(), d.texts(), d.texts()
		if n := d.number(); n <= uint64(len(d.b))/8 {
			for h := d.take(8 * n); len(h) > 0; h = h[8:] {
				r.Hashes = append(r.Hashes, binary.LittleEndian.Uint64(h))
			}
		} else {
			d.failed = true
		}
	}
	if d.failed || len(d.b) > 0 || int(r.Kind) >= len(kindNames) {
		return nil, errRecord
	}
	return r, nil
}
