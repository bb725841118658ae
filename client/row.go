package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Row is one row: a JSON object with the columns by name, as the server wrote it. Values of the types I64
// and U64 are strings of digits; see [WithNumbers].
type Row json.RawMessage

// Decode decodes the row into v, a pointer to a struct or a map, like [json.Unmarshal]. It also decodes a
// string with a number into an int64, uint64, int, uint or float64, so that a struct can have such fields for columns
// of 64-bit integers. In a map of values of any type these columns are strings.
func (r Row) Decode(v any) error {
	return jsonv2.Unmarshal(r, v, jsonv1.DefaultOptionsV1(), jsonv2.WithUnmarshalers(quotedNumbers))
}

// MarshalJSON returns the row itself.
func (r Row) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// UnmarshalJSON keeps a copy of the JSON.
func (r *Row) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(r).UnmarshalJSON(b) }

// quotedNumbers decodes strings into numbers.
var quotedNumbers = jsonv2.JoinUnmarshalers(
	quoted(func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }),
	quoted(func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }),
	quoted(strconv.Atoi),
	quoted(func(s string) (uint, error) {
		n, err := strconv.ParseUint(s, 10, strconv.IntSize)
		return uint(n), err
	}),
	quoted(func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }),
)

// quoted decodes a JSON string with the function `parse`. It leaves every other value to the decoder.
func quoted[T any](parse func(string) (T, error)) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
		if dec.PeekKind() != '"' {
			return errors.ErrUnsupported
		}
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		n, err := parse(token.String())
		if err != nil {
			return fmt.Errorf("%q is not a number of the type %T", token.String(), n)
		}
		*into = n
		return nil
	})
}
