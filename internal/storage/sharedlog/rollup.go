package sharedlog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	rollUpMagic  = "OGSHROL\x00" // the first bytes of a roll-up
	rollUpHeader = 24            // bytes before the first log object

	// maxRollUp bounds the log objects of one roll-up together, in bytes. A log whose objects are larger
	// gets a checkpoint before it gets long.
	maxRollUp = 4 << 20

	// readsBeforeRollUps is the part of Options.RollUp that a Follower reads one by one before it looks
	// for roll-ups. A Follower that is near the end of the log should not pay for the list.
	readsBeforeRollUps = 16
)

// window has the bytes of the last log objects that a Follower has passed, void ones included.
type window struct {
	first   uint64   // number of the first log object
	objects [][]byte // of consecutive numbers
	size    int      // bytes of all objects
}

// drop removes the first n log objects.
func (w *window) drop(n int) {
	for _, o := range w.objects[:n] {
		w.size -= len(o)
	}
	w.objects = slices.Delete(w.objects, 0, n)
	w.first += uint64(n)
}

// note adds the log object that the Follower has just passed.
func (f *Follower) note(e *entry) {
	w := &f.passed
	if e.number != w.first+uint64(len(w.objects)) {
		*w = window{first: e.number}
	}
	w.objects = append(w.objects, e.raw)
	w.size += len(e.raw)
	for len(w.objects) > 2*f.RollUp || w.size > maxRollUp {
		w.drop(1)
	}
}

// noteCovered forgets the log objects that the checkpoint in force covers. No open reads them.
func (f *Follower) noteCovered() {
	if w := &f.passed; f.inForce.covered() >= w.first {
		w.drop(int(min(f.inForce.covered()-w.first+1, uint64(len(w.objects)))))
	}
}

// RollUp is a copy of consecutive log objects that a Writer has made; see the package's documentation.
type RollUp struct {
	storage
	name string
	data []byte
}

// RollUp returns a roll-up to store if the Writer has passed Options.RollUp log objects since its last
// roll-up, and nil otherwise. Call it after Append. All of the log objects are stored.
func (w *Writer) RollUp() *RollUp {
	if w.Check() != nil {
		return nil
	}
	return w.f.rollUp()
}

// rollUp returns a roll-up of the log objects in the window, and empties the window, if there are enough.
func (f *Follower) rollUp() *RollUp {
	if len(f.passed.objects) < f.RollUp {
		return nil
	}
	last := f.passed.first + uint64(len(f.passed.objects)) - 1
	r := &RollUp{storage: f.storage, name: rollUpName(f.passed.first, last), data: encodeRollUp(last, f.passed.objects)}
	f.passed = window{}
	return r
}

// rollUpEarly stores a roll-up that ends with a log object that may never be stored; see Faults.
func (f *Follower) rollUpEarly(ctx context.Context, e *entry) {
	early := *f
	early.passed.objects = slices.Clone(f.passed.objects)
	e.encode()
	early.note(e)
	if r := early.rollUp(); r != nil {
		_ = r.Store(ctx) // a fault may have any effect
	}
}

// Store stores the roll-up. The Writer may be used at the same time, and may have ended. Without the
// roll-up, later opens only take longer.
func (r *RollUp) Store(ctx context.Context) error { return r.upload(ctx, r.name, r.data) }

// nextEntry returns the log object at the Follower's position, from a roll-up if it has read one. The
// errors are those of readEntry.
func (f *Follower) nextEntry(ctx context.Context) (*entry, error) {
	if e := f.takeAhead(); e != nil {
		return e, nil
	}
	if f.Now().Sub(f.listed) >= f.Recheck {
		f.rollUps = nil // the segments that their log objects name may be condemned by now
	}
	if len(f.rollUps) == 0 && f.streak >= f.RollUp/readsBeforeRollUps {
		if err := f.listRollUps(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.readRollUp(ctx); err != nil {
		return nil, err
	}
	if e := f.takeAhead(); e != nil {
		return e, nil
	}
	e, err := f.readEntry(ctx, f.at.next)
	switch {
	case err == nil:
		f.streak++
	case errors.Is(err, object.ErrNotFound):
		f.streak = 0
	}
	return e, err
}

// takeAhead returns the log object at the Follower's position if it has been read from a roll-up, and
// nil otherwise.
func (f *Follower) takeAhead() *entry {
	i, found := slices.BinarySearchFunc(f.ahead, f.at.next, func(e *entry, n uint64) int { return cmp.Compare(e.number, n) })
	if !found {
		return nil
	}
	e := f.ahead[i]
	f.ahead = f.ahead[i+1:]
	return e
}

// listRollUps lists the roll-ups that end at the Follower's position or after it. It lists none if a
// checkpoint covers the position: the segments that the log objects name may then be condemned, and a
// roll-up may outlive its log objects.
func (f *Follower) listRollUps(ctx context.Context) error {
	f.listed = f.Now()
	f.streak = -f.RollUp // if there is no roll-up, look again after that many log objects
	switch _, covered, err := f.newestCheckpoint(ctx); {
	case err != nil:
		return err
	case covered >= f.at.next:
		return nil
	}
	names, err := f.list(ctx, rollUpPrefix, rollUpsAfter(f.at.next-1), object.MaxList)
	f.rollUps = names
	return err
}

// readRollUp reads the first listed roll-up that contains the Follower's position, if there is one. A
// roll-up is a copy, so one that is missing or damaged is left out.
func (f *Follower) readRollUp(ctx context.Context) error {
	for len(f.rollUps) > 0 {
		first, last, err := parseRollUpName(f.rollUps[0])
		if err == nil && first > f.at.next {
			return nil
		}
		name := f.rollUps[0]
		f.rollUps = f.rollUps[1:]
		if err != nil || last < f.at.next {
			continue
		}
		data, err := f.read(ctx, name)
		if errors.Is(err, object.ErrNotFound) {
			continue
		} else if err != nil {
			return err
		}
		if f.ahead, err = decodeRollUp(name, data); err == nil {
			f.streak = -f.RollUp
			return nil
		}
	}
	return nil
}

// rollUpName returns the name of the roll-up of some log objects, without the prefix of the graph.
func rollUpName(first, last uint64) string {
	return rollUpsAfter(last)[:len(rollUpPrefix)+20] + fmt.Sprintf("-%020d", first)
}

// rollUpsAfter returns a text that sorts after the names of all roll-ups that end with the log object
// `last`, and before those that end later.
func rollUpsAfter(last uint64) string { return fmt.Sprintf("%s%020d.", rollUpPrefix, last) }

// parseRollUpName returns the numbers of the first and the last log object of a roll-up.
func parseRollUpName(name string) (first, last uint64, err error) {
	a, b, _ := strings.Cut(strings.TrimPrefix(name, rollUpPrefix), "-")
	last, faultOfLast := strconv.ParseUint(a, 10, 64)
	first, faultOfFirst := strconv.ParseUint(b, 10, 64)
	if faultOfLast != nil || faultOfFirst != nil || first < 1 || first > last || rollUpName(first, last) != name {
		return 0, 0, &CorruptError{Name: name, Fault: "this is not the name of a roll-up"}
	}
	return first, last, nil
}

// encodeRollUp returns the bytes of a roll-up. Its last log object has the number `last`.
func encodeRollUp(last uint64, objects [][]byte) []byte {
	size := rollUpHeader + sumSize
	for _, o := range objects {
		size += 4 + len(o)
	}
	b := append(make([]byte, 0, size), rollUpMagic...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(objects)))
	b = binary.LittleEndian.AppendUint64(b, last)
	for _, o := range objects {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(o)))
		b = append(b, o...)
	}
	own := sha256.Sum256(b)
	return append(b, own[:]...)
}

// decodeRollUp decodes the bytes of the roll-up with the given name. The log objects alias b.
func decodeRollUp(name string, b []byte) ([]*entry, error) {
	fault := func(format string, args ...any) error {
		return &CorruptError{Name: name, Fault: fmt.Sprintf(format, args...)}
	}
	first, last, err := parseRollUpName(name)
	if err != nil {
		return nil, err
	}
	if len(b) < rollUpHeader+sumSize || string(b[:8]) != rollUpMagic {
		return nil, fault("it is not a roll-up")
	}
	content, stored := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if own := sha256.Sum256(content); !bytes.Equal(own[:], stored) {
		return nil, fault("its checksum does not match")
	}
	if err := checkFormat(name, binary.LittleEndian.Uint32(b[8:])); err != nil {
		return nil, err
	}
	count := uint64(binary.LittleEndian.Uint32(b[12:]))
	if got := binary.LittleEndian.Uint64(b[16:]); got != last || count != last-first+1 {
		return nil, fault("it contains %d log objects up to number %d", count, got)
	}
	var entries []*entry
	rest := content[rollUpHeader:]
	for number := first; number <= last; number++ {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return nil, fault("its log objects are cut off")
		}
		n := binary.LittleEndian.Uint32(rest)
		e, err := decodeEntry(number, rest[4:4+n:4+n])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
		rest = rest[4+n:]
	}
	if len(rest) > 0 {
		return nil, fault("it has %d bytes after its log objects", len(rest))
	}
	return entries, nil
}
