package scalar

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// concat joins two texts.
func concat(_ value.Type, args []value.Value) (value.Value, error) {
	a, b := args[0].Str(), args[1].Str()
	if n := len(a) + len(b); n > plan.MaxText {
		return value.Null, tooLong(n)
	}
	return value.OfString(a + b), nil
}

// lower returns a text in lower case.
func lower(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfString(strings.ToLower(args[0].Str())), nil
}

// upper returns a text in upper case.
func upper(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfString(strings.ToUpper(args[0].Str())), nil
}

// trim removes white space from both ends of a text.
func trim(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfString(strings.TrimSpace(args[0].Str())), nil
}

// runeCount returns the number of characters (Unicode code points) of a text.
func runeCount(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(min(utf8.RuneCountInString(args[0].Str()), math.MaxInt32))), nil
}

// size returns the number of elements of a list.
func size(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(min(len(args[0].Elems()), math.MaxInt32))), nil
}

// substring returns the code points of a text at the positions from `start` to `start` + `count` -
// 1.
func substring(_ value.Type, args []value.Value) (value.Value, error) {
	s, start, count := args[0].Str(), position(args[1]), uint64(0)
	if v := args[2]; v.Kind() == value.U64 {
		count = v.Uint()
	} else {
		count = uint64(max(position(v), 0))
	}
	if start < 0 { // the positions before 0 have no code points
		count -= min(count, uint64(-start)) // uint64 of the least I64, which is its own negation, is 1<<63
		start = 0
	}
	if count == 0 {
		return value.OfString(""), nil
	}
	end := int64(math.MaxInt64)
	if count < uint64(end-start) {
		end = start + int64(count)
	}
	from, to := len(s), len(s)
	at := int64(0)
	for i := range s {
		if fault.On(fault.BytesCounted) {
			at = int64(i)
		}
		if at == start {
			from = i
		}
		if at == end {
			to = i
			break
		}
		at++
	}
	return value.OfString(s[from:to]), nil
}

// position converts an integer to a position in a text. A number above the range of an I64 becomes
// the largest I64, which is beyond the end of every text.
func position(v value.Value) int64 {
	if v.Kind() == value.U64 && v.Uint() > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v.Bits())
}

// toString converts a value to the text that represents it in a key. The result is null for a float
// that is not finite.
func toString(_ value.Type, args []value.Value) (value.Value, error) {
	v := args[0]
	if v.Kind() == value.String {
		return v, nil
	}
	if v.Kind().IsFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		return value.Null, nil
	}
	return value.OfString(value.Text(v)), nil
}
