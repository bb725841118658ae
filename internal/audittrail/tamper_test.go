package audittrail

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestTamper removes, changes and reorders each record of a chain, in a part that is merged and in one that is not, and makes the
// part's header and name as a writer would. Verify finds each, names the record, and says what was done.
func TestTamper(t *testing.T) {
	ctx := context.Background()
	for _, merged := range []bool{false, true} {
		var frames [][]byte
		var h Hash
		for i := range uint64(12) {
			frames = append(frames, appendFrame(nil, appendCall(nil, i+1, start.UnixMicro()+int64(i), 1, &Call{Tool: fmt.Sprint("tool", i), Graph: "g", Outcome: "ok"}, nil), &h))
		}
		head := h
		// Two parts; the first has the records 1 to 6.
		stored := func(t *testing.T, frames [][]byte) []Chain {
			t.Helper()
			b := &object.Memory{}
			s := NewStore(b, "")
			middle := hashAfter(t, frames[:min(6, len(frames))])
			for i, part := range [][][]byte{frames[:6], frames[6:]} {
				before, after := Hash{}, middle
				if i == 1 {
					before, after = middle, head
				}
				var first, last uint64
				var at int64
				for j, f := range part {
					text, _, _, err := frame(f)
					if err != nil {
						t.Fatal(err)
					}
					if r, err := decodeRecord(text); err == nil {
						if j == 0 || r.Number < first {
							first = r.Number
						}
						last = max(last, r.Number)
						at = r.Time.UnixMicro()
					}
				}
				data, err := encodePart(first, before, after, merged, bytes.Join(part, nil))
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Create(ctx, s.object("one", partName{first: first, last: last, time: at, merged: merged}), data); err != nil {
					t.Fatal(err)
				}
			}
			chains, err := s.Verify(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return chains
		}
		want := func(t *testing.T, chains []Chain, kind string, number uint64) {
			t.Helper()
			if f := chains[0].Fault; f == nil || f.Kind != kind || f.Number != number {
				t.Errorf("the fault is %v, want record %d %s", f, number, kind)
			}
		}
		if f := stored(t, frames)[0].Fault; f != nil {
			t.Fatalf("the chain as it was written: %s", f)
		}
		for i := range frames {
			number := uint64(i + 1)
			t.Run(fmt.Sprintf("merged %v record %d", merged, number), func(t *testing.T) {
				if i != 5 && i != 11 { // the last ones of parts: see below
					want(t, stored(t, slices.Delete(slices.Clone(frames), i, i+1)), FaultRemoved, number)
				}
				changed := slices.Clone(frames)
				changed[i] = bytes.Replace(frames[i], []byte("tool"), []byte("tOol"), 1)
				want(t, stored(t, changed), FaultChanged, number)
				if i+1 < len(frames) && i != 5 {
					swapped := slices.Clone(frames)
					swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
					want(t, stored(t, swapped), FaultReordered, number)
				}
			})
		}
	}
}

// hashAfter returns the hash after records.
func hashAfter(t *testing.T, frames [][]byte) (h Hash) {
	t.Helper()
	for _, f := range frames {
		text, _, _, err := frame(f)
		if err != nil {
			t.Fatal(err)
		}
		h = next(&h, text)
	}
	return h
}

// TestTamperFiles removes, renames and changes whole parts, and the last record of a part.
func TestTamperFiles(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name   string
		tamper func(t *testing.T, b object.Bucket, s *Store, parts []partName)
		kind   string
		number uint64
	}{
		{"the first part is removed", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			_ = b.Delete(ctx, s.object("one", parts[0]))
		}, FaultRemoved, 1},
		{"a part in the middle is removed", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			_ = b.Delete(ctx, s.object("one", parts[1]))
		}, FaultRemoved, 2},
		{"the last record of a part is removed", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			rewrite(t, b, s, parts[1], func(h *header, frames []byte) []byte {
				_, _, rest, _ := frame(frames)
				return frames[:len(frames)-len(rest)]
			})
		}, FaultRemoved, 3},
		{"a byte of a header is another", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			data, _ := b.Read(ctx, s.object("one", parts[1]), 0, object.Whole)
			h, _ := decodeHeader(data)
			data[h.size-2] ^= 1 // the time of its last record
			_ = b.Put(ctx, s.object("one", parts[1]), data)
		}, FaultHidden, 2},
		{"a part has the name of an earlier time", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			data, _ := b.Read(ctx, s.object("one", parts[1]), 0, object.Whole)
			_ = b.Delete(ctx, s.object("one", parts[1]))
			parts[1].time = 1
			_ = b.Create(ctx, s.object("one", parts[1]), data)
		}, FaultHidden, 3},
		{"a part is cut", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			data, _ := b.Read(ctx, s.object("one", parts[1]), 0, object.Whole)
			_ = b.Put(ctx, s.object("one", parts[1]), data[:len(data)-3])
		}, FaultDamaged, 2},
		{"the hash in front of the chain is another", func(t *testing.T, b object.Bucket, s *Store, parts []partName) {
			data, _ := b.Read(ctx, s.object("one", parts[0]), 0, object.Whole)
			data[prefixSize+3] ^= 1
			_ = b.Put(ctx, s.object("one", parts[0]), data)
		}, FaultChanged, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &object.Memory{}
			trail := opened(t, b, Options{})
			for range 3 {
				read(trail, start, "ada", "get", "c1")
				read(trail, start.Add(time.Second), "ada", "get", "c2")
				flush(t, trail)
			}
			kill(trail)
			sound(t, trail.Store)
			tt.tamper(t, b, trail.Store, trail.parts)
			chains, err := trail.Verify(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if f := chains[0].Fault; f == nil || f.Kind != tt.kind || f.Number != tt.number {
				t.Errorf("the fault is %v, want record %d %s", f, tt.number, tt.kind)
			}
		})
	}
}

// rewrite replaces the frames of a part, under its name.
func rewrite(t *testing.T, b object.Bucket, s *Store, p partName, change func(*header, []byte) []byte) {
	t.Helper()
	data, err := b.Read(context.Background(), s.object("one", p), 0, object.Whole)
	if err != nil {
		t.Fatal(err)
	}
	h, frames, err := framesOf(data)
	if err != nil {
		t.Fatal(err)
	}
	frames = change(h, frames)
	if data, err = encodePart(h.first, h.before, h.head, p.merged, frames); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(context.Background(), s.object("one", p), data); err != nil {
		t.Fatal(err)
	}
}

func FuzzPart(f *testing.F) {
	var h Hash
	e := NewEntities()
	e.Add("c1")
	frames := appendFrame(nil, appendCall(nil, 1, 5, 1, &Call{Tool: "get", Types: []string{"Case"}, Entities: e}, nil), &h)
	frames = appendFrame(frames, appendNote(nil, 2, 6, Gap, &Note{Lost: 3, Reason: "x"}), &h)
	for _, merged := range []bool{false, true} {
		part, err := encodePart(1, Hash{}, h, merged, frames)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		h, frames, err := framesOf(part)
		if err != nil {
			return
		}
		c := &chain{}
		records, err := c.records(frames)
		if err != nil {
			return
		}
		again, err := encodePart(h.first, h.before, h.head, true, frames)
		if err != nil {
			t.Fatalf("records were read that cannot be written: %v", err)
		}
		_, same, err := framesOf(again)
		if err != nil || !bytes.Equal(same, frames) {
			t.Fatalf("the part made of %d records has other frames: %v", len(records), err)
		}
	})
}

// TestZstdParts reads a part of the first version of the format, whose blocks are compressed with zstd.
func TestZstdParts(t *testing.T) {
	var frames []byte
	var head Hash
	for n := uint64(1); n <= 3000; n++ {
		frames = appendFrame(frames, appendCall(nil, n, int64(n), 0, &Call{Tool: "get_case", Graph: "cases"}, nil), &head)
	}
	part, err := encodePart(1, Hash{}, head, true, frames)
	if err != nil {
		t.Fatal(err)
	}
	h, err := decodeHeader(part)
	if err != nil || len(h.blocks) < 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	coder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	at := h.size
	for i := range h.blocks {
		b := &h.blocks[i]
		raw, err := b.frames(part[at : at+b.size])
		if err != nil {
			t.Fatal(err)
		}
		at, b.size = at+b.size, len(body)
		body = coder.EncodeAll(raw, body)
		b.size = len(body) - b.size
	}
	first := h.append(nil)
	first[len(magic)] = versionZstd
	switch _, got, err := framesOf(append(first, body...)); {
	case err != nil:
		t.Error(err)
	case !bytes.Equal(got, frames):
		t.Errorf("the part has %d bytes of frames, not %d", len(got), len(frames))
	}
	first[len(magic)] = versionS2 + 1
	if _, _, err := framesOf(append(first, body...)); err == nil {
		t.Error("a later version was read")
	}
}
