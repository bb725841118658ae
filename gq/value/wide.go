package value

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// BigInt is an I64 in JSON. It is written as a decimal string, because a JSON number loses
// precision above 2^53. A JSON integer is accepted too.
type BigInt int64

// BigUint is a U64 in JSON. It is written as a decimal string. A JSON integer is accepted too.
type BigUint uint64

// BlobValue is a Blob in JSON: base64 with padding.
type BlobValue []byte

// MarshalJSON writes the number as a decimal string.
func (n BigInt) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// UnmarshalJSON accepts a decimal string or a JSON integer.
func (n *BigInt) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(unquoteNumber(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not a 64-bit integer", b)
	}
	*n = BigInt(v)
	return nil
}

// MarshalJSON writes the number as a decimal string.
func (n BigUint) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(n), 10)), nil
}

// UnmarshalJSON accepts a decimal string or a JSON integer.
func (n *BigUint) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(unquoteNumber(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not an unsigned 64-bit integer", b)
	}
	*n = BigUint(v)
	return nil
}

// unquoteNumber returns the content of a JSON string, or b itself if it is not a string.
func unquoteNumber(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}
