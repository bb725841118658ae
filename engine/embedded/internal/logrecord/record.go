// Package logrecord has the payloads of log records, except for the operations of a commit.
package logrecord

import (
	"encoding/binary"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// The kinds of log record. The payload of every kind begins with its format number.
const (
	// KindRows is a commit with its operations inline: a header, then operations.
	KindRows uint8 = 1
	// KindBulk is a commit with its rows in segments: a header, then the parts; see version.AppendParts.
	KindBulk uint8 = 2
	// KindSpilled is a commit with its operations in the block "ops" of a segment: a header, then
	// the name of the segment.
	KindSpilled uint8 = 3
	// KindBranch creates or deletes a branch; see [Branching].
	KindBranch uint8 = 4
	// KindSchema is a commit that changes the schema: a header, then the change; see
	// version.Txn.AppendChange.
	KindSchema uint8 = 5
	// KindProposal is a new version of a proposal; see [AppendProposal].
	KindProposal uint8 = 6
	// KindProposalMerge is a merge commit and the proposal that it merges; see
	// [AppendProposalMerge].
	KindProposalMerge uint8 = 7
	// KindDraft opens or ends a draft, together with the change of its branch or with the merge that
	// ends it; see [Drafting].
	KindDraft uint8 = 8
	// KindWatch makes or deletes a watch; see [Watching]. Not before format 13.
	KindWatch uint8 = 9
)

// The layout of a header:
//
//	header   format        1 byte
//	         id            16 bytes, a ULID
//	         seq           uvarint
//	         time          varint, microseconds
//	         branch, actor texts (uvarint length, bytes)
//	         parents       uvarint count, 16 bytes each
//	         receipt       text, empty for none; see [Receipt]
//	         message       text, empty for none; not before format 12
//	         number        uvarint, of the commit in the origins of rows, 0 for none; the fields from here on are
//	                       not before format 14
//	         tool, source, proposal
//	                       texts, see [engine.Commit]
//	         approvers     uvarint count, for each a text

// Commit is a commit with its number in the origins of rows, see version.Txn.Number; 0 for none.
type Commit struct {
	engine.Commit
	Number uint32
}

// AppendHeader appends the header of a record. The receipt may be nil.
func AppendHeader(dst []byte, c Commit, receipt *Receipt) []byte {
	dst = append(dst, format.Current)
	dst = codec.AppendULID(dst, c.ID)
	dst = binary.AppendUvarint(dst, c.Seq)
	dst = binary.AppendVarint(dst, c.Time.UnixMicro())
	dst = codec.AppendText(dst, c.Branch)
	dst = codec.AppendText(dst, c.Actor)
	dst = binary.AppendUvarint(dst, uint64(len(c.Parents)))
	for _, p := range c.Parents {
		dst = codec.AppendULID(dst, p)
	}
	dst = codec.AppendText(codec.AppendText(dst, string(receipt.append(nil))), c.Message)
	dst = binary.AppendUvarint(dst, uint64(c.Number))
	for _, text := range []string{c.Tool, c.Source, c.Proposal} {
		dst = codec.AppendText(dst, text)
	}
	return codec.AppendTexts(dst, c.Approvers)
}

// Header reads the header of a record, and returns the rest of the payload. The header does not
// hold the digest of the schema: a commit has the schema of its parent, unless it changes the
// schema.
func Header(payload []byte) (c Commit, receipt *Receipt, rest []byte, err error) {
	r := &codec.Reader{Rest: payload}
	c, receipt = ReadHeader(r)
	return c, receipt, r.Rest, r.Err
}

// AppendSpilled appends the name of the segment that holds a commit's operations.
func AppendSpilled(dst []byte, segment string) []byte { return codec.AppendText(dst, segment) }

// ReadSpilled reads the name that AppendSpilled wrote.
func ReadSpilled(b []byte) (segment string, err error) {
	r := &codec.Reader{Rest: b}
	segment = r.Text()
	return segment, r.Err
}

// ReadHeader reads the header of a record: the commit, and its receipt or nil.
func ReadHeader(r *codec.Reader) (c Commit, receipt *Receipt) {
	written := r.Format(format.Record)
	c.ID = r.ULID()
	c.Seq = r.Uvarint()
	c.Time = time.UnixMicro(r.Varint()).UTC()
	c.Branch = r.Text()
	c.Actor = r.Text()
	for range r.Count() {
		c.Parents = append(c.Parents, r.ULID())
	}
	receipt = readReceipt(r)
	if written >= 12 {
		c.Message = r.Text()
	}
	if written >= 14 {
		c.Number, c.Tool, c.Source, c.Proposal, c.Approvers = r.Ordinal(), r.Text(), r.Text(), r.Text(), r.Texts()
	}
	return c, receipt
}
