package audittrail

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// bloom is a Bloom filter of keys. An empty one has no key. It has [keyBits] bits for each key, of which [keyProbes] are set.
type bloom []byte

const (
	keyBits   = 12
	keyProbes = 6
)

// newBloom returns a filter of keys, each of which counts once. It also returns memory for the next filter.
func newBloom(all, memory []uint64) (bloom, []uint64) {
	n := 1 << bits.Len(uint(2*len(all)+1))
	if n > len(memory) {
		memory = make([]uint64, n)
	}
	table := memory[:n]
	clear(table)
	keys := all[:0]
	for _, k := range all {
		if place(table, max(k, 1)) {
			keys = append(keys, k)
		}
	}
	b := make(bloom, (len(keys)*keyBits+7)/8)
	for _, k := range keys {
		b.probe(k, func(i uint64, bit byte) bool {
			b[i] |= bit
			return true
		})
	}
	return b, memory
}

// has reports whether the filter may have a key. It is false only if the filter does not have it.
func (b bloom) has(key uint64) bool {
	return len(b) > 0 && b.probe(key, func(i uint64, bit byte) bool { return b[i]&bit != 0 })
}

// probe calls f with each bit of a key, until f returns false.
func (b bloom) probe(key uint64, f func(i uint64, bit byte) bool) bool {
	step := key>>33 | 1
	for range keyProbes {
		at, _ := bits.Mul64(key*0x9e3779b97f4a7c15, uint64(len(b))*8)
		if !f(at/8, 1<<(at%8)) {
			return false
		}
		key += step
	}
	return true
}

// The first characters of texts whose hashes are keys. The key of an entity is the hash of its id, because a record may have
// the hash alone.
const (
	ofGraph = "graph\x00"
	ofTool  = "tool\x00"
	ofActor = 0x5bd1e995c6a4a793 // times the number of the actor
)

// The keys of records that have no text.
var (
	keyDenied = HashOf("\x00denied")
	keyWhole  = HashOf("\x00whole")
)

// timeOf returns the time of a record in Unix microseconds.
func timeOf(record []byte) uint64 {
	d := reader{b: record}
	d.number()
	return d.number()
}

// keysOf appends the keys of a record to a list.
func keysOf(record []byte, keys []uint64) ([]uint64, error) {
	d := reader{b: record}
	d.number()
	d.number()
	if Kind(d.byte()) != Called {
		if d.failed {
			return nil, errRecord
		}
		return keys, nil
	}
	keys = append(keys, d.number()*ofActor)
	if d.byte()&flagWhole != 0 {
		keys = append(keys, keyWhole)
	}
	d.number()
	d.number()
	d.bytes()
	keys = append(keys, keyOf(ofGraph, d.bytes()))
	d.bytes()
	keys = append(keys, keyOf(ofTool, d.bytes()))
	d.bytes()
	if len(d.bytes()) > 0 {
		keys = append(keys, keyDenied)
	}
	for range 4 { // rule, commit, digest, values
		d.bytes()
	}
	for range 2 { // types, filters
		for n := d.number(); n > 0 && !d.failed; n-- {
			d.bytes()
		}
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		keys = append(keys, hashOfBytes(d.bytes()))
	}
	n := d.number()
	if d.failed || n > uint64(len(d.b))/8 {
		return nil, errRecord
	}
	for h := d.take(8 * n); len(h) > 0; h = h[8:] {
		keys = append(keys, littleEndian(h))
	}
	return keys, nil
}

// hashOfBytes is like [HashOf].
func hashOfBytes(id []byte) uint64 { return xxhash.Sum64(id) }

// littleEndian reads eight bytes.
func littleEndian(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// keyOf returns the key of a text.
func keyOf[T string | []byte](of string, text T) uint64 {
	var room [96]byte
	return xxhash.Sum64(append(append(room[:0], of...), text...))
}
