package ancestry

import (
	"bytes"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/engine"
)

// commits holds all commits of a graph and never drops one. A commit takes 72 bytes, 4 or 5 of
// its number in the origins of rows, 6 to 11 bytes of a hash table, and the bytes of the name of its branch, actor or schema, of its message, or of its further facts, when
// that text is new. A commit's number is its position in the order of entry.
type commits struct {
	chunks  []*[chunkSize]packed // each is filled before the next one is allocated
	n       int                  // number of commits
	places  []uint32             // hash table with linear probing; an entry is a commit number plus one, or 0 if it is free
	seed    maphash.Seed         // seed of the hashes in `places`
	names   []string             // of branches, actors and schemas, and messages, by number
	nameAt  map[string]uint32    // maps a name to its index in `names`
	facts   []facts              // without duplicates
	factsAt map[string]uint32    // maps the texts of facts, appended, to their index in `facts`
	odd     map[uint32]oddCommit // maps a commit number to the commit
	oddAt   map[string]uint32    // maps the id of an odd commit to its number
}

// oddCommit is a commit that packed cannot hold: its id is not a ULID, a parent is unknown,
// or it has more than two parents. No engine writes one; a corrupt store may hold some.
type oddCommit struct {
	engine.Commit
	parents []uint32 // as in packed, but at least one
}

// chunkSize is the number of commits in one allocation. Chunks are never copied when the
// history grows, so readers need no lock.
const chunkSize = 256

// packed is a commit. Of an odd commit only lsn is valid; the rest is in its oddCommit.
type packed struct {
	id      ulid.ULID
	seq     uint64    // see engine.Commit.Seq
	lsn     uint64    // of the record that made the commit
	micros  int64     // time in microseconds
	parents [2]uint32 // their numbers plus one; 0 for none or an unknown parent
	branch  uint32    // branch, actor, schema and message index names; inOdd if an oddCommit holds the commit
	actor   uint32    // see branch
	schema  uint32    // see branch
	message uint32    // see branch
	facts   uint32    // index in facts
	origin  uint32    // see History.OriginOf
}

// inOdd is the branch of a packed whose commit an oddCommit holds.
const inOdd = math.MaxUint32

// odd reports whether an oddCommit holds the commit.
func (p *packed) odd() bool { return p.branch == inOdd }

// packedID parses the id of a commit. ok is false unless id is a ULID in its canonical
// form.
func packedID(id string) (u ulid.ULID, ok bool) {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		return u, false
	}
	var text [ulid.EncodedSize]byte
	_ = u.MarshalTextTo(text[:]) // cannot fail: the buffer has the right size
	return u, string(text[:]) == id
}

// number returns the number of the commit with an id.
func (h *commits) number(id string) (n int, ok bool) {
	u, ok := packedID(id)
	if !ok {
		n, ok := h.oddAt[id]
		return int(n), ok
	}
	if len(h.places) > 0 {
		for i := h.place(u); h.places[i] > 0; i = (i + 1) & (len(h.places) - 1) {
			if n := int(h.places[i] - 1); h.at(n).id == u {
				return n, true
			}
		}
	}
	odd, ok := h.oddAt[id] // an odd commit may have a ULID
	return int(odd), ok
}

// at returns commit n.
func (h *commits) at(n int) *packed { return &h.chunks[n/chunkSize][n%chunkSize] }

// place returns the slot at which the search for an id starts.
func (h *commits) place(id ulid.ULID) int {
	return int(maphash.Bytes(h.seed, id[:]) & uint64(len(h.places)-1))
}

// add enters a commit that is not in the history yet.
func (h *commits) add(c engine.Commit, lsn uint64) {
	if h.n%chunkSize == 0 {
		h.chunks = append(h.chunks, new([chunkSize]packed))
	}
	n := uint32(h.n)
	h.n++
	p := h.at(int(n))
	id, plain := packedID(c.ID)
	*p = packed{id: id, seq: c.Seq, lsn: lsn, micros: c.Time.UnixMicro()}
	odd := !plain || len(c.Parents) > len(p.parents)
	parents := make([]uint32, 0, len(p.parents))
	for _, parent := range c.Parents {
		at, known := h.number(parent)
		if odd = odd || !known; known {
			at++
		}
		parents = append(parents, uint32(at))
	}
	if odd {
		if p.branch = inOdd; h.odd == nil {
			h.odd, h.oddAt = map[uint32]oddCommit{}, map[string]uint32{}
		}
		if len(parents) == 0 {
			parents = append(parents, 0)
		}
		h.odd[n], h.oddAt[c.ID] = oddCommit{c, parents}, n
		return
	}
	copy(p.parents[:], parents)
	p.branch, p.actor, p.schema, p.message = h.name(c.Branch), h.name(c.Actor), h.name(c.Schema), h.name(c.Message)
	p.facts = h.factsOf(&c)
	if 4*h.n > 3*len(h.places) {
		h.rehash()
		return
	}
	h.enter(n)
}

// enter adds commit n to the hash table.
func (h *commits) enter(n uint32) {
	i := h.place(h.at(int(n)).id)
	for h.places[i] > 0 {
		i = (i + 1) & (len(h.places) - 1)
	}
	h.places[i] = n + 1
}

// rehash doubles the hash table.
func (h *commits) rehash() {
	if len(h.places) == 0 {
		h.seed = maphash.MakeSeed()
	}
	h.places = make([]uint32, max(64, 2*len(h.places)))
	for n := range h.n {
		if !h.at(n).odd() {
			h.enter(uint32(n))
		}
	}
}

// name returns the number of a name or a message. It adds a new one.
func (h *commits) name(s string) uint32 {
	n, ok := h.nameAt[s]
	if !ok {
		if h.nameAt == nil {
			h.nameAt = map[string]uint32{}
		}
		s = strings.Clone(s) // s may alias a log record
		n = uint32(len(h.names))
		h.names, h.nameAt[s] = append(h.names, s), n
	}
	return n
}

// commit returns commit n in full.
func (h *commits) commit(n int) engine.Commit {
	p := h.at(n)
	if p.odd() {
		return h.odd[uint32(n)].Commit
	}
	c := engine.Commit{
		ID: p.id.String(), Seq: p.seq, Time: time.UnixMicro(p.micros).UTC(),
		Branch: h.names[p.branch], Actor: h.names[p.actor], Schema: h.names[p.schema], Message: h.names[p.message],
	}
	f := &h.facts[p.facts]
	c.Tool, c.Source, c.Proposal, c.Approvers = f.tool, f.source, f.proposal, slices.Clone(f.approvers)
	for _, parent := range p.parents {
		if parent > 0 {
			c.Parents = append(c.Parents, h.id(int(parent-1)))
		}
	}
	return c
}

// id returns the id of commit n.
func (h *commits) id(n int) string {
	if p := h.at(n); !p.odd() {
		return p.id.String()
	}
	return h.odd[uint32(n)].ID
}

// time returns the time of commit n in microseconds.
func (h *commits) time(n int) int64 {
	if p := h.at(n); !p.odd() {
		return p.micros
	}
	return h.odd[uint32(n)].Time.UnixMicro()
}

// compare orders two commits by their ids.
func (h *commits) compare(a, b int) int {
	if p, q := h.at(a), h.at(b); !p.odd() && !q.odd() {
		return bytes.Compare(p.id[:], q.id[:]) // the same order as that of the texts
	}
	return strings.Compare(h.id(a), h.id(b))
}

// compareTo compares the id of commit n with another id. The caller passes the other id as text; if
// the argument `packed` is true, also as a ULID.
func (h *commits) compareTo(n int, text string, id ulid.ULID, packed bool) int {
	if p := h.at(n); packed && !p.odd() {
		return bytes.Compare(p.id[:], id[:])
	}
	return strings.Compare(h.id(n), text)
}

// parents returns the numbers of a commit's parents plus one; 0 stands for none or an
// unknown parent.
func (h *commits) parents(n int) []uint32 {
	if p := h.at(n); !p.odd() {
		return p.parents[:]
	}
	return h.odd[uint32(n)].parents
}

// view returns a copy of the current commits. The copy may be read without a lock.
func (h *commits) view() commits {
	v := *h
	v.odd = maps.Clone(h.odd)
	v.chunks, v.names, v.facts = slices.Clip(h.chunks), slices.Clip(h.names), slices.Clip(h.facts)
	v.places, v.nameAt, v.factsAt, v.oddAt = nil, nil, nil, nil
	return v
}
