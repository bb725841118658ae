package sharedlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestEntryBytes(t *testing.T) {
	for _, e := range []*entry{
		{kind: group, number: 7, epoch: 3, first: 9, time: 5, layout: 1 << 41, id: groupID{1}, previous: sum{2}, records: [][]byte{[]byte("abc"), {}, []byte("d")}},
		{kind: group, number: 1},
		{kind: takeover, number: 2, epoch: 4, body: []byte(`{"node":"a"}`)},
		{kind: announcement, number: math.MaxUint64, body: []byte("{}")},
	} {
		b := e.encode()
		got, err := decodeEntry(e.number, b)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%+v is decoded as %+v, %v", e, got, err)
		}
		if _, err := decodeEntry(e.number+1, b); !isCorrupt(err) {
			t.Errorf("number %d: %v", e.number+1, err)
		}
		for i := range b {
			other := append([]byte(nil), b...)
			other[i] ^= 0x10
			if _, err := decodeEntry(e.number, other); !isCorrupt(err) {
				t.Errorf("byte %d is changed: %v", i, err)
			}
			if _, err := decodeEntry(e.number, b[:i]); !isCorrupt(err) {
				t.Errorf("cut after %d bytes: %v", i, err)
			}
		}
	}
}

// TestEntryRules checks that decodeEntry refuses log objects that have a matching checksum but
// break another rule.
func TestEntryRules(t *testing.T) {
	e := &entry{kind: 9, number: 1}
	if _, err := decodeEntry(1, e.encode()); !isCorrupt(err) {
		t.Errorf("an unknown kind: %v", err)
	}
	for _, body := range []string{"x", "\xff\xff\xff\xffabc", "\x01\x00\x00\x00ab"} {
		e := &entry{kind: group, number: 1, body: []byte(body), records: [][]byte{nil}}
		if _, err := decodeEntry(1, e.encode()); !isCorrupt(err) {
			t.Errorf("the body %q: %v", body, err)
		}
	}
}

func TestCheckpointBytes(t *testing.T) {
	for _, c := range []*Checkpoint{
		{at: position{next: 8, epoch: 3, last: sum{5}, lsn: 6, time: 7, layout: 8, takeovers: []uint64{1, 4}}, state: []byte("state")},
		{at: start(), state: []byte{}},
	} {
		c.name = checkpointName(c.covered(), 3, [8]byte{9})
		b := c.encode()
		got, err := decodeCheckpoint(c.name, b)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v is decoded as %+v, %v", c, got, err)
		}
		if _, err := decodeCheckpoint(checkpointName(c.covered()+1, 3, [8]byte{9}), b); !isCorrupt(err) {
			t.Errorf("the name covers one more log object: %v", err)
		}
		for i := range b {
			other := append([]byte(nil), b...)
			other[i] ^= 0x10
			if _, err := decodeCheckpoint(c.name, other); !isCorrupt(err) {
				t.Errorf("byte %d is changed: %v", i, err)
			}
			if _, err := decodeCheckpoint(c.name, b[:i]); !isCorrupt(err) {
				t.Errorf("cut after %d bytes: %v", i, err)
			}
		}
	}
}

func TestNames(t *testing.T) {
	if got, err := logNumber(logName(math.MaxUint64)); got != math.MaxUint64 || err != nil {
		t.Errorf("the number is %d, %v", got, err)
	}
	for _, name := range []string{"log/", "log/1", "log/0000000000000000000x", "x/00000000000000000001"} {
		if _, err := logNumber(name); !isCorrupt(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	old, young := checkpointName(9, 2, [8]byte{1}), checkpointName(10, 1, [8]byte{})
	if young >= old {
		t.Errorf("%s covers more and does not come before %s", young, old)
	}
	if covered, epoch, err := parseCheckpointName(old); covered != 9 || epoch != 2 || err != nil {
		t.Errorf("%s covers %d in epoch %d, %v", old, covered, epoch, err)
	}
	for _, name := range []string{"checkpoint/", "checkpoint/1-2-3", old + "0", old[:len(old)-1] + "g", "checkpoint/x" + old[len("checkpoint/x"):]} {
		if _, _, err := parseCheckpointName(name); !isCorrupt(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isCorrupt(err error) bool {
	var corrupt *CorruptError
	return errors.As(err, &corrupt)
}

// TestNewerObject decodes objects with the next format number. The error must say that a newer version wrote them.
func TestNewerObject(t *testing.T) {
	rollUp, rollUpBytes := rollUpOf()
	c := &Checkpoint{at: position{next: 8}, state: []byte("state")}
	c.name = checkpointName(c.covered(), 0, [8]byte{9})
	checkpoint := c.encode()
	for name, test := range map[string]struct {
		b      []byte
		decode func(b []byte) error
	}{
		logName(7): {(&entry{kind: group, number: 7}).encode(), func(b []byte) error {
			_, err := decodeEntry(7, b)
			return err
		}},
		rollUp: {rollUpBytes, func(b []byte) error {
			_, err := decodeRollUp(rollUp, b)
			return err
		}},
		c.name: {checkpoint, func(b []byte) error {
			_, err := decodeCheckpoint(c.name, b)
			return err
		}},
	} {
		if err := test.decode(test.b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, number := range []uint32{format + 1, format - 1} {
			binary.LittleEndian.PutUint32(test.b[8:], number)
			content := test.b[:len(test.b)-sumSize]
			own := sha256.Sum256(content)
			copy(test.b[len(content):], own[:])
			err := test.decode(test.b)
			var newer *NewerError
			if errors.As(err, &newer) != (number > format) || isCorrupt(err) != (number < format) {
				t.Errorf("%s with format %d: %v", name, number, err)
			}
			if number > format && (newer.Name != name || !strings.Contains(err.Error(), "use a newer program")) {
				t.Errorf("%s with format %d: %v", name, number, err)
			}
		}
	}
}

// rollUpOf returns the name and the bytes of a roll-up of three log objects.
func rollUpOf() (name string, b []byte) {
	var objects [][]byte
	for _, e := range []*entry{
		{kind: group, number: 7, epoch: 3, first: 9, records: [][]byte{[]byte("abc"), {}}},
		{kind: takeover, number: 8, epoch: 4, body: []byte(`{"node":"a"}`)},
		{kind: group, number: 9},
	} {
		objects = append(objects, e.encode())
	}
	return rollUpName(7, 9), encodeRollUp(9, objects)
}

func TestRollUpBytes(t *testing.T) {
	name, b := rollUpOf()
	entries, err := decodeRollUp(name, b)
	if err != nil || len(entries) != 3 || entries[1].number != 8 || string(entries[0].records[0]) != "abc" {
		t.Fatalf("the roll-up is decoded as %+v, %v", entries, err)
	}
	for _, other := range []string{rollUpName(6, 9), rollUpName(8, 9), rollUpName(8, 10), "rollup/9-7", name + "0", rollUpPrefix} {
		if _, err := decodeRollUp(other, b); !isCorrupt(err) {
			t.Errorf("with the name %s: %v", other, err)
		}
	}
	for i := range b {
		other := append([]byte(nil), b...)
		other[i] ^= 0x10
		if _, err := decodeRollUp(name, other); !isCorrupt(err) {
			t.Errorf("byte %d is changed: %v", i, err)
		}
		if _, err := decodeRollUp(name, b[:i]); !isCorrupt(err) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
	}
	for _, objects := range [][][]byte{nil, {{}, {}, {}}, {b, b, b}} { // the checksum matches
		if _, err := decodeRollUp(name, encodeRollUp(9, objects)); !isCorrupt(err) {
			t.Errorf("%d other log objects: %v", len(objects), err)
		}
	}
	if first, last, err := parseRollUpName(name); first != 7 || last != 9 || err != nil {
		t.Errorf("%s has the log objects %d to %d, %v", name, first, last, err)
	}
	if after := rollUpsAfter(8); after >= name || rollUpsAfter(9) <= name {
		t.Errorf("%s is not between %s and %s", name, after, rollUpsAfter(9))
	}
}

// FuzzRollUp decodes bytes whose checksum matches. Bytes that are a roll-up are encoded as the same bytes.
func FuzzRollUp(f *testing.F) {
	name, b := rollUpOf()
	f.Add(name, b[:len(b)-sumSize])
	f.Add(rollUpName(1, math.MaxUint64), []byte(rollUpMagic))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		own := sha256.Sum256(content)
		b := append(content, own[:]...)
		entries, err := decodeRollUp(name, b)
		if err != nil {
			if !isCorrupt(err) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		var objects [][]byte
		for _, e := range entries {
			objects = append(objects, e.raw)
		}
		if again := encodeRollUp(entries[len(entries)-1].number, objects); !bytes.Equal(again, b) {
			t.Errorf("%x is encoded again as %x", b, again)
		}
	})
}
