package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// encoding is the first byte of an encoded query. It must change whenever the meaning of the
// bytes after it changes.
//
// The members of each struct are encoded in the order of their declaration:
//
//	number   a zigzag varint
//	bool     one byte
//	string   a uvarint: 0 and then a length and the bytes, or the index, from 1, of
//	         the equal string among the earlier ones
//	slice    a uvarint: 0 for nil, or the length plus 1; then the elements
//	type     a uvarint of the kind and three flags; the length of a vector; the values
//	         of an enum
//	sum      one byte: the number of the type, 0 for nil; then its members
//	pattern  a bool: whether there is one; then its text
//
// A Traverse has two numbers: one for the form with one edge type, and one for the form with
// several. So has an Insert: one for an insert new, which has no other mark, and one for the others.
//
// The names of the types follow the type of a predicate on an end at an interface.
//
// After the type of a parameter, a byte says which other members of the parameter follow: 0 for none,
// 1 for all but the node type and the interface, 2 for all but the interface, 3 for the fields of a list of records, 4
// for the interface and the types that implement it, 5 for a member of actor(): the name of the member.
const encoding = 6

// callerEncoding is the first byte of a query that uses actor(). Versions of gq that do not know actor() refuse it.
const callerEncoding = 7

// asOfEncoding is the first byte of a query with AsOf, which then follows Mutation.
const asOfEncoding = 8

// validEncoding is the first byte of a query with Read.Valid, which then follows AsOf. AsOf is there too; it may be nil.
const validEncoding = 9

// Encode returns a query in the compact form that generated packages contain.
func Encode(q *Query) string {
	first := byte(encoding)
	if len(q.OfCaller()) > 0 {
		first = callerEncoding
	}
	if q.AsOf != nil {
		first = asOfEncoding
	}
	if q.Read != nil && q.Read.Valid != nil {
		first = validEncoding
	}
	c := &coder{out: []byte{first}, places: map[string]uint64{}}
	c.query(q, first)
	return string(c.out)
}

// Decode decodes the output of Encode. The strings of the query share the memory of s.
func Decode(s string) (*Query, error) {
	if s == "" || s[0] < encoding || s[0] > validEncoding {
		return nil, errors.New("another version of gq encoded the plan; run gq generate with this version")
	}
	c := &coder{decoding: true, in: s[1:]}
	q := &Query{}
	c.query(q, s[0])
	if c.err == nil && c.in != "" {
		c.fail("%d bytes follow the end of the plan", len(c.in))
	}
	if c.err != nil {
		return nil, c.err
	}
	return q, nil
}

// coder encodes and decodes with the same methods, so that the two directions cannot differ.
// Each method takes a pointer. When encoding it reads the value there, and when decoding it
// stores the value there.
type coder struct {
	decoding bool // decode instead of encode

	out    []byte            // the encoding so far
	places map[string]uint64 // the indexes, from 1, of the strings in `out`

	in      string   // the bytes not yet decoded
	strings []string // decoded strings, in order
	err     error    // the first error; after it, `in` is empty and every decoded value is zero
}

// fail records the first error of the decoding.
func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("decode a plan: "+format+"; run gq generate", args...)
	}
	c.in = ""
}

// number encodes or decodes a non-negative number.
func (c *coder) number(n uint64) uint64 {
	if !c.decoding {
		c.out = binary.AppendUvarint(c.out, n)
		return n
	}
	n = 0
	for i := 0; i < len(c.in) && i < binary.MaxVarintLen64; i++ {
		b := c.in[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.in = c.in[i+1:]
			return n
		}
	}
	c.fail("the plan ends inside a number")
	return 0
}

// byte encodes b, or decodes and returns a byte.
func (c *coder) byte(b byte) byte {
	switch {
	case !c.decoding:
		c.out = append(c.out, b)
		return b
	case c.in == "":
		c.fail("the plan ends too early")
		return 0
	}
	b, c.in = c.in[0], c.in[1:]
	return b
}

// bool encodes or decodes a bool as a byte.
func (c *coder) bool(p *bool) {
	b := byte(0)
	if *p {
		b = 1
	}
	if b = c.byte(b); c.decoding {
		*p = b != 0
	}
}

// integer encodes or decodes a number of any integer type.
func integer[T ~int | ~int64 | ~uint8](c *coder, p *T) {
	n := int64(*p)
	u := c.number(uint64(n<<1) ^ uint64(n>>63))
	if c.decoding {
		*p = T(int64(u>>1) ^ -int64(u&1))
	}
}

// string encodes or decodes a string. A repeated string is encoded as its index.
func (c *coder) string(p *string) {
	if !c.decoding {
		place, again := c.places[*p]
		c.number(place)
		if !again {
			c.places[*p] = uint64(len(c.places) + 1)
			c.number(uint64(len(*p)))
			c.out = append(c.out, *p...)
		}
		return
	}
	switch place := c.number(0); {
	case place > uint64(len(c.strings)):
		c.fail("the plan refers to string %d, but %d strings precede it", place, len(c.strings))
	case place > 0:
		*p = c.strings[place-1]
	default:
		n := c.number(0)
		if n > uint64(len(c.in)) {
			c.fail("the plan ends inside a string")
			return
		}
		*p, c.in = c.in[:n], c.in[n:]
		c.strings = append(c.strings, *p)
	}
}

// slice encodes or decodes a slice. Every element must take at least one byte.
func slice[T any](c *coder, p *[]T, each func(*coder, *T)) {
	n := uint64(0)
	if *p != nil {
		n = uint64(len(*p)) + 1
	}
	n = c.number(n)
	if c.decoding {
		if n == 0 {
			return
		}
		if n-1 > uint64(len(c.in)) {
			c.fail("the plan ends inside a list of %d elements", n-1)
			return
		}
		*p = make([]T, n-1)
	}
	for i := range *p {
		each(c, &(*p)[i])
	}
}

// pointer encodes or decodes a struct that may be missing.
func pointer[T any](c *coder, p **T, members func(*coder, *T)) {
	there := *p != nil
	c.bool(&there)
	if !there {
		return
	}
	if c.decoding {
		*p = new(T)
	}
	members(c, *p)
}

// The flags of a type, in the bits below its kind.
const (
	nullableType = 1 << iota // the type is nullable
	listType                 // the type is a list
	enumType                 // the type is an enum
	kindShift    = iota      // number of bits below the kind
)

// typ encodes or decodes a type.
func (c *coder) typ(t *value.Type) {
	n := uint64(t.Kind) << kindShift
	for _, f := range []struct {
		set bool
		bit uint64
	}{{t.Nullable, nullableType}, {t.List, listType}, {t.Enum != nil, enumType}} {
		if f.set {
			n |= f.bit
		}
	}
	n = c.number(n)
	if c.decoding {
		t.Kind, t.Nullable, t.List = value.Kind(n>>kindShift), n&nullableType != 0, n&listType != 0
	}
	if t.Kind == value.Vector || t.Kind == value.Decimal {
		integer(c, &t.Dim)
	}
	if t.Kind == value.Decimal && !value.IsDecimal(t.Precision(), t.Scale()) {
		c.fail("the type %s", t)
	}
	if n&enumType != 0 {
		slice(c, &t.Enum, (*coder).string)
	}
}

// literal encodes or decodes a value.
func (c *coder) literal(v *value.Value) {
	k, list := v.Kind(), v.IsList()
	integer(c, &k)
	c.bool(&list)
	switch {
	case k == value.Invalid:
	case list:
		var elems []value.Value
		if !c.decoding {
			elems = v.Elems()
		}
		slice(c, &elems, (*coder).literal)
		c.keep(v, value.OfList(k, elems))
	case k.Storage() == value.InVector:
		var vector []float32
		if !c.decoding {
			vector = v.Vector()
		}
		slice(c, &vector, func(c *coder, f *float32) { *f = math.Float32frombits(uint32(c.number(uint64(math.Float32bits(*f))))) })
		c.keep(v, value.OfVector(vector))
	case k.Storage() == value.InText:
		var s string
		if !c.decoding {
			s = v.Str()
		}
		c.string(&s)
		c.keep(v, value.OfString(s))
	case k.Storage() == value.InBytes:
		var s string
		if !c.decoding {
			s = v.Raw()
		}
		c.string(&s)
		c.keep(v, value.OfRaw(k, s))
	case k.HasBits():
		c.keep(v, value.OfCode(k, c.number(v.Code())))
	default:
		c.unnumbered("literal", byte(k), k)
	}
}

// keep stores the decoded value in v when decoding.
func (c *coder) keep(v *value.Value, decoded value.Value) {
	if c.decoding {
		*v = decoded
	}
}
