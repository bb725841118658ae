package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// opsBlock is the name of the block that holds operations in a segment.
const opsBlock = "ops"

// changeBlock is the name of the block that holds a change of schema in a segment.
const changeBlock = "change"

// record is the log record of a commit.
type record struct {
	kind        uint8             // logrecord.KindRows and so on
	payload     []byte            // content of the log record
	afterHeader []byte            // the payload after the header
	ops         []byte            // the operations; nil for a bulk commit or a change of schema
	segments    []store.SegmentID // the segments that the record names
	proposal    []byte            // for the merge of a proposal: the record with both; else nil
	draft       []byte            // for a merge that ends a draft: the record with both; else nil
}

// logged returns the kind and the payload of the record that goes to the log.
func (r *record) logged() (kind uint8, payload []byte) {
	if r.draft != nil {
		return logrecord.KindDraft, r.draft
	}
	if r.proposal != nil {
		return logrecord.KindProposalMerge, r.proposal
	}
	return r.kind, r.payload
}

// maxOps bounds the operations of one commit, in bytes. It is far below the limit of one column of
// a segment, so that one column can hold the operations of several commits.
const maxOps = 1 << 30

// record makes the log record of a commit and stores the segments that the record lists.
func (r *writer) record(ctx context.Context, tx *version.Txn, parts []version.Part, c logrecord.Commit, receipt *logrecord.Receipt) (record, error) {
	payload := logrecord.AppendHeader(make([]byte, 0, 256), c, receipt)
	if parts != nil {
		rec := record{kind: logrecord.KindBulk}
		for _, p := range parts {
			id, err := r.files.writePart(ctx, p)
			if err != nil {
				return record{}, err
			}
			rec.segments = append(rec.segments, id)
		}
		// The record does not list the segments of indexes. They are kept, like the segments that
		// the record lists, until a checkpoint lists them. If there is no checkpoint, the next Open
		// builds the indexes again.
		for _, name := range tx.Stored() {
			id, err := segmentID(name)
			if err != nil {
				return record{}, err
			}
			rec.segments = append(rec.segments, id)
		}
		rec.payload = tx.AppendLate(version.AppendParts(payload, parts))
		rec.afterHeader = rec.payload[len(payload):]
		return rec, nil
	}
	if tx.Change() != nil {
		return r.changeRecord(ctx, tx, payload)
	}
	header := len(payload)
	payload = tx.AppendOps(payload)
	ops := payload[header:]
	switch {
	case len(ops) <= r.opts.InlineBytes:
		return record{kind: logrecord.KindRows, payload: payload, afterHeader: ops, ops: ops}, nil
	case len(ops) > maxOps:
		return record{}, &engine.TooLarge{Resource: "bytes of one commit", Limit: maxOps, Actual: int64(len(ops))}
	}
	id, err := r.files.writeOps(ctx, ops)
	if err != nil {
		return record{}, err
	}
	payload = logrecord.AppendSpilled(payload[:header:header], segmentName(id))
	return record{kind: logrecord.KindSpilled, payload: payload, afterHeader: payload[header:], ops: ops, segments: []store.SegmentID{id}}, nil
}

// changeRecord makes the log record of a commit that puts a schema in force. It appends the
// change to the record's header.
func (r *writer) changeRecord(ctx context.Context, tx *version.Txn, header []byte) (record, error) {
	change := tx.AppendChange(nil, encode)
	switch {
	case len(change) <= r.opts.InlineBytes:
		return record{kind: logrecord.KindSchema, payload: append(append(header, 0), change...)}, nil
	case len(change) > maxOps:
		return record{}, &engine.TooLarge{Resource: "bytes of one commit", Limit: maxOps, Actual: int64(len(change))}
	}
	id, err := r.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock(changeBlock, change) })
	if err != nil {
		return record{}, err
	}
	return record{kind: logrecord.KindSchema, payload: logrecord.AppendSpilled(append(header, 1), segmentName(id)), segments: []store.SegmentID{id}}, nil
}
