package logrecord

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
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
//	  id            16 bytes, a ULID
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
	dst = codec.AppendULID(append(dst, format.Current), p.ID)
	dst = append(binary.AppendUvarint(dst, p.Revision), byte(p.State))
	for _, s := range []string{p.Source, p.Target, p.Title, p.Description, p.Author, p.Base, p.Head, p.TargetHead, p.Merge} {
		dst = codec.AppendText(dst, s)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.Resolutions)))
	for _, r := range p.Resolutions {
		for _, s := range []string{r.Entity, r.Type, r.ID, r.Property} {
			dst = codec.AppendText(dst, s)
		}
		dst = appendTyped(append(dst, byte(r.Take)), r.Value)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.Events)))
	for _, e := range p.Events {
		dst = codec.AppendULID(dst, e.ID)
		dst = codec.AppendText(append(dst, byte(e.Kind)), e.Actor)
		dst = codec.AppendTexts(dst, e.Groups)
		dst = binary.AppendVarint(dst, e.Time.UnixMicro())
		for _, s := range []string{e.Text, e.Digest, e.On.Entity, e.On.Type, e.On.ID} {
			dst = codec.AppendText(dst, s)
		}
	}
	return dst
}

// ReadProposal reads a payload that AppendProposal wrote. The error is a *engine.Corrupt.
func ReadProposal(payload []byte) (*engine.Proposal, error) {
	r := &codec.Reader{Rest: payload}
	p := readProposal(r)
	if r.Err == nil && len(r.Rest) > 0 {
		r.Fail("a proposal ends too early")
	}
	return p, r.Err
}

// readProposal reads a proposal.
func readProposal(r *codec.Reader) *engine.Proposal {
	r.Format(format.Proposal)
	p := &engine.Proposal{ID: r.ULID(), Revision: r.Uvarint(), State: engine.ProposalState(r.Byte())}
	if r.Err == nil && p.State.String() == "" {
		r.Fail(fmt.Sprintf("a proposal has the unknown state %d", p.State))
	}
	for _, s := range []*string{&p.Source, &p.Target, &p.Title, &p.Description, &p.Author, &p.Base, &p.Head, &p.TargetHead, &p.Merge} {
		*s = r.Text()
	}
	for range r.Count() {
		var res engine.Resolution
		for _, s := range []*string{&res.Entity, &res.Type, &res.ID, &res.Property} {
			*s = r.Text()
		}
		res.Take = engine.MergeSide(r.Byte())
		res.Value = readTyped(r)
		p.Resolutions = append(p.Resolutions, res)
	}
	for range r.Count() {
		e := engine.ProposalEvent{ID: r.ULID(), Kind: engine.ProposalEventKind(r.Byte()), Actor: r.Text(), Groups: r.Texts(), Time: time.UnixMicro(r.Varint()).UTC()}
		for _, s := range []*string{&e.Text, &e.Digest, &e.On.Entity, &e.On.Type, &e.On.ID} {
			*s = r.Text()
		}
		p.Events = append(p.Events, e)
	}
	return p
}

// AppendProposalMerge appends the payload of a KindProposalMerge record: a proposal, and the record
// of the commit that merges it, which has the given kind and payload.
func AppendProposalMerge(dst []byte, p *engine.Proposal, kind uint8, commit []byte) []byte {
	dst = codec.AppendText(append(dst, format.Current, kind), string(AppendProposal(nil, p)))
	return append(dst, commit...)
}

// ReadProposalMerge reads a payload that AppendProposalMerge wrote. The error is a *engine.Corrupt.
func ReadProposalMerge(payload []byte) (p *engine.Proposal, kind uint8, commit []byte, err error) {
	r := &codec.Reader{Rest: payload}
	r.Format(format.Proposal)
	kind = r.Byte()
	stored := r.Bytes(r.Count())
	if r.Err != nil {
		return nil, 0, nil, r.Err
	}
	p, err = ReadProposal(stored)
	return p, kind, r.Rest, err
}

// appendTyped appends a value with its type: 1 byte, the kind, 0 for null; 1 byte, 1 for a list;
// the number of dimensions (uvarint); then the value as in a row.
func appendTyped(dst []byte, v value.Value) []byte {
	if v.IsNull() {
		return append(dst, 0)
	}
	list, dim := byte(0), 0
	switch {
	case v.IsList():
		list = 1
	case v.Kind() == value.Vector:
		dim = len(v.Vector())
	}
	dst = binary.AppendUvarint(append(dst, byte(v.Kind()), list), uint64(dim))
	if list == 0 {
		return codec.AppendScalar(dst, v)
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
	for _, e := range v.Elems() {
		dst = codec.AppendScalar(dst, e)
	}
	return dst
}

// readTyped reads a value that appendTyped wrote.
func readTyped(r *codec.Reader) value.Value {
	kind := value.Kind(r.Byte())
	if kind == 0 || r.Err != nil {
		return value.Null
	}
	list, dim := r.Byte() == 1, r.Count()
	if kind.Storage() == value.InNone {
		r.Fail(fmt.Sprintf("a value has the unknown kind %d", kind))
		return value.Null
	}
	typ := value.Type{Kind: kind, Dim: dim}
	if !list {
		return r.Scalar(typ)
	}
	elems := make([]value.Value, r.Count())
	for i := range elems {
		elems[i] = r.Scalar(typ)
	}
	return value.OfList(kind, elems)
}
