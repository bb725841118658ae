package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// encodeShared returns the state in a checkpoint of a shared graph: a manifest, and the records
// after it that the checkpoint covers.
func encodeShared(m manifest, records []Record) []byte {
	manifest := m.encode()
	b := le.AppendUint64(nil, uint64(len(manifest)))
	b = append(b, manifest...)
	for _, r := range records {
		b = le.AppendUint32(b, uint32(len(r.Payload)))
		b = append(b, r.Kind)
		b = append(b, r.Payload...)
	}
	return b
}

// decodeShared decodes the state in a checkpoint of a shared graph. The result aliases b.
func decodeShared(b []byte) (m manifest, records []Record, err error) {
	const name = "checkpoint"
	if len(b) < 8 || le.Uint64(b) > uint64(len(b)-8) {
		return m, nil, &engine.Corrupt{Object: name, Detail: "its manifest is cut off"}
	}
	length := le.Uint64(b)
	if m, err = decodeManifest(b[8:8+length], name, 0); err != nil {
		return m, nil, err
	}
	for b = b[8+length:]; len(b) > 0; {
		if len(b) < 5 || uint64(le.Uint32(b)) > uint64(len(b)-5) {
			return m, nil, &engine.Corrupt{Object: name, Detail: "its records are cut off"}
		}
		n := int(le.Uint32(b))
		records = append(records, Record{LSN: m.upTo + 1 + uint64(len(records)), Kind: b[4], Payload: b[5 : 5+n : 5+n]})
		b = b[5+n:]
	}
	return m, records, nil
}

// load passes the state of a checkpoint to the Applier, and then forgets the segments that the
// state does not need. The checkpoint covers the log objects up to `covered`. REQUIRES: the caller
// holds `following`.
func (s *Shared) load(checkpoint []byte, covered uint64) error {
	m, records, err := decodeShared(checkpoint)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.round++
	round := s.round
	for _, e := range m.segments {
		state := s.segments[e.id]
		if state == nil {
			state = &sharedSegment{}
			s.segments[e.id] = state
		}
		state.segmentState = segmentState{known: true, size: e.size, crc: e.crc, manifest: round}
	}
	s.loaded, s.tail, s.covered, s.applied = true, records, m.upTo, 0
	s.mu.Unlock()
	rec := &Recovered{Manifest: m.payload, ManifestLSN: m.upTo, Records: records, Hold: s.holds.add(covered)}
	for _, e := range m.segments {
		rec.Segments = append(rec.Segments, e.id)
	}
	s.reached(m.upTo + uint64(len(records)))
	s.reloading.Store(round > 1)
	err = s.opts.Applier.Load(s.ctx, s, rec)
	s.reloading.Store(false)
	if err != nil {
		return err
	}
	s.forget(func(state *sharedSegment) bool { return state.manifest != round && state.opened != round })
	return nil
}

// Checkpoint implements [Storage]. The checkpoint contains the manifest and the durable records
// after upTo, so that it covers all log objects before it. Commits go on while it is uploaded.
func (s *Shared) Checkpoint(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error {
	return s.checkpoint(ctx, payload, upTo, segments, func(q *sharedlog.Queue, m *manifest) error {
		var c *sharedlog.Checkpoint
		var tail []Record
		var condemned []uint64
		err := q.Exclusive(func(w *sharedlog.Writer) (err error) {
			if tail, condemned, err = s.prepare(m); err == nil {
				c, err = w.Capture()
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := c.Store(ctx, encodeShared(*m, tail)); err != nil {
			return err
		}
		return q.Exclusive(func(w *sharedlog.Writer) error {
			return s.condemning(w, condemned, func(condemned []uint64) error { return w.Announce(ctx, c, condemned) })
		})
	})
}

// Rewrite implements [Storage]. The checkpoint has a new layout, so every server that follows the
// log loads it. Commits wait until the checkpoint is in force, because their records need the new layout.
func (s *Shared) Rewrite(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error {
	return s.checkpoint(ctx, payload, upTo, segments, func(q *sharedlog.Queue, m *manifest) error {
		return q.Exclusive(func(w *sharedlog.Writer) error {
			tail, condemned, err := s.prepare(m)
			if err != nil {
				return err
			}
			return s.condemning(w, condemned, func(condemned []uint64) error {
				return w.Rewrite(ctx, encodeShared(*m, tail), condemned)
			})
		})
	})
}

// condemning calls `announce`, which puts a checkpoint into force, with the segments that the announcement
// condemns: the given ones, and the orphans that this server knows. REQUIRES: no log object is in flight.
func (s *Shared) condemning(w *sharedlog.Writer, condemned []uint64, announce func(condemned []uint64) error) error {
	s.mu.Lock()
	condemned = append(condemned, s.orphans...)
	s.mu.Unlock()
	if err := announce(condemned); err != nil {
		return err
	}
	s.holds.advance(w.Covered())
	s.mu.Lock()
	s.orphans = nil // they are condemned; only a holder of the turn of the queue finds others
	s.mu.Unlock()
	return nil
}

// checkpoint does the work of Checkpoint and Rewrite. The function `put` completes the manifest, stores
// it in a checkpoint, and announces the checkpoint.
func (s *Shared) checkpoint(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID, put func(q *sharedlog.Queue, m *manifest) error) error {
	q := s.queue.Load()
	if q == nil {
		return ErrReader
	}
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	m := manifest{upTo: upTo, payload: payload}
	ids := slices.Sorted(slices.Values(segments))
	for _, id := range slices.Compact(ids) {
		e, err := s.entry(ctx, id)
		if err != nil {
			return err
		}
		m.segments = append(m.segments, e)
	}
	if err := put(q, &m); err != nil {
		if ended := q.Exclusive(func(w *sharedlog.Writer) error { return w.Check() }); ended != nil {
			return s.fail(err)
		}
		return s.mapped(err)
	}
	s.mu.Lock()
	s.tail = slices.DeleteFunc(s.tail, func(r Record) bool { return r.LSN <= upTo })
	s.loaded, s.covered = true, upTo
	s.complete = s.complete || upTo >= s.recovered
	s.mu.Unlock()
	s.forget(func(state *sharedSegment) bool { return s.unneeded(state, upTo) })
	return nil
}

// unneeded reports whether the graph does not need a segment once a checkpoint of the records up to
// upTo is in force. REQUIRES: s.mu is locked, and s.round is that of the checkpoint.
func (s *Shared) unneeded(state *sharedSegment, upTo uint64) bool {
	return state.manifest != s.round && (state.manifest != 0 ||
		state.recovered && upTo >= s.recovered ||
		state.named != 0 && state.named <= upTo)
}

// prepare completes the manifest of a checkpoint. It returns the durable records after the manifest,
// and the segments that the checkpoint condemns, except orphans. REQUIRES: no log object is in flight, and
// s.checkpointing is locked.
func (s *Shared) prepare(m *manifest) (tail []Record, condemned []uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch durable := s.durable.Load(); {
	case s.closed:
		return nil, nil, &engine.Unavailable{Reason: "it is closed"}
	case m.upTo > durable:
		return nil, nil, &engine.Conflict{Reason: fmt.Sprintf("a checkpoint cannot cover the records up to %d; only the records up to %d are durable", m.upTo, durable)}
	case m.upTo < s.covered:
		return nil, nil, &engine.Conflict{Reason: fmt.Sprintf("a checkpoint cannot cover only the records up to %d; the last one covers the records up to %d", m.upTo, s.covered)}
	}
	m.next = s.nextSegment
	// Even if the attempt fails, other servers may find this checkpoint, so its segments stay.
	s.round++
	for _, e := range m.segments {
		s.segments[e.id].manifest = s.round
	}
	for id, state := range s.segments {
		if s.unneeded(state, m.upTo) {
			condemned = append(condemned, uint64(id))
		}
	}
	first := slices.IndexFunc(s.tail, func(r Record) bool { return r.LSN > m.upTo })
	if first < 0 {
		return nil, condemned, nil
	}
	return s.tail[first:], condemned, nil
}

// entry returns the manifest's entry for a segment.
func (s *Shared) entry(ctx context.Context, id SegmentID) (manifestEntry, error) {
	s.mu.Lock()
	state := s.segments[id]
	if state != nil && state.known {
		defer s.mu.Unlock()
		return manifestEntry{id: id, size: state.size, crc: state.crc}, nil
	}
	s.mu.Unlock()
	seg, err := s.OpenSegment(ctx, id)
	if err != nil {
		return manifestEntry{}, err
	}
	return manifestEntry{id: id, size: seg.size, crc: seg.crc}, nil
}
