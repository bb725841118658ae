package version

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The payload of a KindProposal record, which is also the form of a proposal in a manifest:
//
//	format        1 byte
//	id            16 bytes, a ULID
//	revision      uvarint
//	state         1 byte, engine.ProposalState
//	source, target, title, description, author   texts (uvarint length, bytes)
//	commits       the fields Base, Head, TargetHead and Merge: texts, empty for none
//	resolutions   uvarint count; for each:
//	  place         entity, type, id, property: texts
//	  take          1 byte, engine.MergeSide
//	  value         see appendTyped
//	events        uvarint count; for each:
//	  id            16 bytes, a ULID. Formats 7 and 8 do not have it; see nameOldEvents
//	  kind          1 byte, engine.ProposalEventKind
//	  actor         text
//	  groups        uvarint count, texts
//	  time          varint, microseconds
//	  text, digest  texts
//	  on            entity, type, id: texts, empty for the whole proposal
//
// The payload of a KindProposalMerge record:
//
//	format    1 byte
//	kind      1 byte: the kind of the commit's record
//	proposal  text: the payload of a KindProposal record
//	commit    the payload of the commit's record

// AppendProposal appends the payload of a KindProposal record.
func AppendProposal(dst []byte, p *engine.Proposal) []byte {
	dst = appendULID(append(dst, format.Current), p.ID)
	dst = append(binary.AppendUvarint(dst, p.Revision), byte(p.State))
	for _, s := range []string{p.Source, p.Target, p.Title, p.Description, p.Author, p.Base, p.Head, p.TargetHead, p.Merge} {
		dst = appendText(dst, s)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.Resolutions)))
	for _, r := range p.Resolutions {
		for _, s := range []string{r.Entity, r.Type, r.ID, r.Property} {
			dst = appendText(dst, s)
		}
		dst = appendTyped(append(dst, byte(r.Take)), r.Value)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.Events)))
	for _, e := range p.Events {
		dst = appendULID(dst, e.ID)
		dst = appendText(append(dst, byte(e.Kind)), e.Actor)
		dst = appendTexts(dst, e.Groups)
		dst = binary.AppendVarint(dst, e.Time.UnixMicro())
		for _, s := range []string{e.Text, e.Digest, e.On.Entity, e.On.Type, e.On.ID} {
			dst = appendText(dst, s)
		}
	}
	return dst
}

// ReadProposal reads a payload that AppendProposal wrote. The error is a *engine.Corrupt.
func ReadProposal(payload []byte) (*engine.Proposal, error) {
	r := &reader{b: payload}
	p := readProposal(r)
	if r.err == nil && len(r.b) > 0 {
		r.fail("a proposal ends too early")
	}
	return p, r.err
}

// readProposal reads a proposal.
func readProposal(r *reader) *engine.Proposal {
	r.formatOf(format.Proposal)
	p := &engine.Proposal{ID: r.ulid(), Revision: r.uvarint(), State: engine.ProposalState(r.byte())}
	if r.err == nil && p.State.String() == "" {
		r.fail(fmt.Sprintf("a proposal has the unknown state %d", p.State))
	}
	for _, s := range []*string{&p.Source, &p.Target, &p.Title, &p.Description, &p.Author, &p.Base, &p.Head, &p.TargetHead, &p.Merge} {
		*s = r.text()
	}
	for range r.count() {
		var res engine.Resolution
		for _, s := range []*string{&res.Entity, &res.Type, &res.ID, &res.Property} {
			*s = r.text()
		}
		res.Take = engine.MergeSide(r.byte())
		res.Value = readTyped(r)
		p.Resolutions = append(p.Resolutions, res)
	}
	for range r.count() {
		e := engine.ProposalEvent{ID: r.ulid(), Kind: engine.ProposalEventKind(r.byte()), Actor: r.text(), Groups: r.texts(), Time: time.UnixMicro(r.varint()).UTC()}
		for _, s := range []*string{&e.Text, &e.Digest, &e.On.Entity, &e.On.Type, &e.On.ID} {
			*s = r.text()
		}
		p.Events = append(p.Events, e)
	}
	return p
}

// AppendProposalMerge appends the payload of a KindProposalMerge record: a proposal, and the record
// of the commit that merges it, which has the given kind and payload.
func AppendProposalMerge(dst []byte, p *engine.Proposal, kind uint8, commit []byte) []byte {
	dst = appendText(append(dst, format.Current, kind), string(AppendProposal(nil, p)))
	return append(dst, commit...)
}

// ReadProposalMerge reads a payload that AppendProposalMerge wrote. The error is a *engine.Corrupt.
func ReadProposalMerge(payload []byte) (p *engine.Proposal, kind uint8, commit []byte, err error) {
	r := &reader{b: payload}
	r.formatOf(format.Proposal)
	kind = r.byte()
	stored := r.bytes(r.count())
	if r.err != nil {
		return nil, 0, nil, r.err
	}
	p, err = ReadProposal(stored)
	return p, kind, r.b, err
}

// appendTyped appends a value with its type: 1 byte, the kind, 0 for null; 1 byte, 1 for a list;
// the number of dimensions (uvarint); then the value as in a row.
func appendTyped(dst []byte, v value.Value) []byte {
	if v.IsNull() {
		return append(dst, 0)
	}
	list := byte(0)
	if v.IsList() {
		list = 1
	}
	dst = binary.AppendUvarint(append(dst, byte(v.Kind()), list), uint64(v.Type().Dim))
	if list == 0 {
		return appendScalar(dst, v)
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
	for _, e := range v.Elems() {
		dst = appendScalar(dst, e)
	}
	return dst
}

// readTyped reads a value that appendTyped wrote.
func readTyped(r *reader) value.Value {
	kind := value.Kind(r.byte())
	if kind == 0 || r.err != nil {
		return value.Null
	}
	list, dim := r.byte() == 1, r.count()
	if kind.Storage() == value.InNone {
		r.fail(fmt.Sprintf("a value has the unknown kind %d", kind))
		return value.Null
	}
	typ := value.Type{Kind: kind, Dim: dim}
	if !list {
		return r.scalar(typ)
	}
	elems := make([]value.Value, r.count())
	for i := range elems {
		elems[i] = r.scalar(typ)
	}
	return value.OfList(kind, elems)
}
