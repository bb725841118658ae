package audittrail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// The kinds of faults of a chain.
const (
	FaultRemoved   = "removed"   // a record is missing
	FaultChanged   = "changed"   // the bytes of a record are not those that were stored
	FaultReordered = "reordered" // a record is not at its place
	FaultDamaged   = "damaged"   // bytes cannot be read as a part or a record
	FaultHidden    = "hidden"    // queries may not find a record, because the header of its part is not that of its records
)

// Chain is what [Store.Verify] says about the chain of a server.
type Chain struct {
	Server  string
	First   uint64 // number of the first stored record; 0 if there is none
	Last    uint64 // number of the last one that was checked
	Head    Hash   // its hash
	Gaps    []Note // records say that records are missing
	Removed uint64 // records say that the first records, up to this number, were removed
	Fault   *Fault // the first fault; nil for none. The records after it are not checked
}

// Fault is a place where a chain is broken.
type Fault struct {
	Kind   string
	Number uint64 // of the record, as far as it is known
	Object string // the part
	Detail string
}

// String says what is wrong.
func (f *Fault) String() string {
	return fmt.Sprintf("record %d in %s is %s: %s", f.Number, f.Object, f.Kind, f.Detail)
}

// Verify reads all records, and checks the chains. A chain is checked up to its first fault.
func (s *Store) Verify(ctx context.Context) (all []Chain, err error) {
	for range attempts { // a writer may merge a part before it is read
		if all, err = s.verify(ctx); !errors.Is(err, object.ErrNotFound) {
			break
		}
	}
	return all, err
}

// verify is like Verify. The error matches object.ErrNotFound if a part was merged or removed meanwhile.
func (s *Store) verify(ctx context.Context) ([]Chain, error) {
	chains, err := s.chains(ctx, "")
	if err != nil {
		return nil, err
	}
	var all []Chain
	removed := map[string]uint64{} // by server
	for _, c := range chains {
		v := verifier{Chain: Chain{Server: c.server}, s: s, removed: removed, heads: map[uint64]Hash{}}
		for _, p := range c.covered {
			h, err := s.header(ctx, c.server, p.partName)
			if isDamage(err) {
				v.Fault = &Fault{FaultDamaged, p.first, s.object(c.server, p.partName), err.Error()}
				break
			} else if err != nil {
				return nil, err
			}
			v.heads[p.last] = h.head
		}
		for _, p := range c.parts {
			if v.Fault != nil {
				break
			}
			if err := v.part(ctx, p); err != nil {
				return nil, err
			}
		}
		all = append(all, v.Chain)
	}
	for i := range all {
		c := &all[i]
		if c.Removed = removed[c.Server]; c.First > c.Removed+1 {
			c.Fault = &Fault{FaultRemoved, c.Removed + 1, chains[i].parts[0].String(), fmt.Sprintf("the first record is number %d, and no record says that those before were removed", c.First)}
		}
	}
	return all, nil
}

// verifier checks a chain.
type verifier struct {
	Chain
	s       *Store
	removed map[string]uint64
	micros  int64           // of the last record
	heads   map[uint64]Hash // the hashes that covered parts have after a record
}

// part checks the next part. It sets v.Fault if the chain is broken.
func (v *verifier) part(ctx context.Context, p partName) error {
	name := v.s.object(v.Server, p)
	fault := func(kind string, number uint64, format string, args ...any) error {
		v.Fault = &Fault{kind, number, name, fmt.Sprintf(format, args...)}
		return nil
	}
	data, err := v.s.bucket.Read(ctx, name, 0, object.Whole)
	if err != nil {
		return err
	}
	h, frames, err := framesOf(data)
	if err != nil {
		return fault(FaultDamaged, p.first, "%v", err)
	}
	first := v.First == 0
	if first {
		v.First, v.Last, v.Head = h.first, h.first-1, h.before
		if h.first == 1 && h.before != (Hash{}) {
			return fault(FaultChanged, 1, "a hash comes before the first record")
		}
	}
	places := map[uint64]bool{} // the numbers of the records of this part
	var records []*Record
	for rest := frames; len(rest) > 0; {
		text, _, after, err := frame(rest)
		if err != nil {
			return fault(FaultDamaged, v.Last+1, "%v", err)
		}
		r, err := decodeRecord(text)
		if err != nil {
			return fault(FaultDamaged, v.Last+1, "%v", err)
		}
		places[r.Number] = true
		records, rest = append(records, r), after
	}
	rest := frames
	for _, r := range records {
		text, link, after, _ := frame(rest)
		rest = after
		switch want := v.Last + 1; {
		case r.Number < want:
			return fault(FaultReordered, r.Number, "it comes after record %d", v.Last)
		case r.Number > want && places[want]:
			return fault(FaultReordered, want, "record %d is at its place", r.Number)
		case r.Number > want:
			return fault(FaultRemoved, want, "record %d follows record %d", r.Number, v.Last)
		}
		if sum := next(&v.Head, text); string(sum[:linkSize]) != string(link) {
			return fault(FaultChanged, r.Number, "its bytes, or the hash before it, are not those from which its link was made")
		} else {
			v.Head = sum
		}
		v.Last = r.Number
		if h, ok := v.heads[r.Number]; ok && h != v.Head {
			return fault(FaultChanged, r.Number, "another part has another record in its place; maybe two servers had one name")
		}
		if at := r.Time.UnixMicro(); at < v.micros {
			return fault(FaultChanged, r.Number, "its time is before that of the record before it")
		} else {
			v.micros = at
		}
		switch r.Kind {
		case Gap:
			n := r.Note
			if n.Since.IsZero() {
				n.Since = time.UnixMicro(v.micros)
			}
			v.Gaps = append(v.Gaps, n)
		case Removed:
			v.removed[r.Note.Server] = max(v.removed[r.Note.Server], r.Note.Last)
		case Called, Started, Stopped:
		}
	}
	switch {
	case v.Last < p.last || v.Last-h.first+1 < h.count:
		return fault(FaultRemoved, v.Last+1, "the part has the records up to %d, but its last one is %d", p.last, v.Last)
	case v.Head != h.head || v.Last != p.last || h.first != p.first:
		return fault(FaultChanged, v.Last, "the part has another name, or another hash in its header, than its records have")
	case v.micros != p.time:
		return fault(FaultHidden, v.Last, "the name of the part has another time than its last record")
	case !h.finds(frames, p.merged):
		return fault(FaultHidden, p.first, "the keys and times in the header of the part are not those of its records")
	}
	return nil
}
