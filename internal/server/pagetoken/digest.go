package pagetoken

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Digest identifies a plan or a list of arguments.
type Digest [16]byte

// PlanDigest digests the printed form of a plan. That form includes everything that
// determines the rows and their order.
func PlanDigest(q *plan.Query) (d Digest) {
	sum := sha256.Sum256([]byte(plan.Format(q)))
	copy(d[:], sum[:])
	return d
}

// ArgsDigest digests arguments. It writes the length before each part, so that two
// different lists never give the same input.
func ArgsDigest(args []value.Value) (d Digest) {
	h := digester{sha256.New()}
	for _, v := range args {
		h.value(v)
	}
	copy(d[:], h.Sum(nil))
	return d
}

// digester hashes the parts of a plan or of arguments.
type digester struct{ hash.Hash }

// number hashes a number.
func (h digester) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

// text hashes the length and the bytes of a text.
func (h digester) text(s string) {
	h.number(uint64(len(s)))
	h.Write([]byte(s))
}

// value hashes a value with its kind.
func (h digester) value(v value.Value) {
	h.number(uint64(v.Kind()))
	switch {
	case v.IsNull():
	case v.IsList():
		h.text("list")
		h.number(uint64(len(v.Elems())))
		for _, e := range v.Elems() {
			h.value(e)
		}
	case v.Kind().Storage() == value.InText:
		h.text(v.Str())
	case v.Kind().Storage() == value.InBytes:
		h.text(v.Raw())
	case v.Kind().Storage() == value.InVector:
		h.number(uint64(len(v.Vector())))
		_ = binary.Write(h, binary.LittleEndian, v.Vector()) // a hash never fails
	default:
		h.number(v.Code())
	}
}
