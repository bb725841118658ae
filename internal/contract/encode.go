package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode returns the text of a contract, or of a struct that contains one. Each parameter, column and frame has
// one line, so that a change of one is a change of one line.
func Encode(v any) ([]byte, error) {
	compact, err := marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = layOut(&b, compact, "\n", 4)
	b.WriteByte('\n')
	return b.Bytes(), err
}

// marshal returns v as JSON without escapes of HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// quote returns a name as JSON.
func quote(name string) []byte {
	b, err := marshal(name)
	if err != nil {
		panic(fmt.Sprintf("contract: encode the name %q: %v", name, err)) // every string can be encoded
	}
	return b
}

// layOut writes a JSON value in lines. Members and elements at more than the given number of levels stay on the
// line of the value that contains them. `indent` is the end of a line and the indentation of the next one.
func layOut(b *bytes.Buffer, text json.RawMessage, indent string, levels int) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	delim, nested := open.(json.Delim)
	if !nested || levels == 0 || !dec.More() {
		b.Write(text)
		return nil
	}
	b.WriteString(delim.String())
	for separator := ""; dec.More(); separator = "," {
		b.WriteString(separator + indent + "  ")
		below := levels - 1
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			b.Write(append(quote(key.(string)), ": "...))
			if key == "frames" {
				below = 1
			}
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := layOut(b, v, indent+"  ", below); err != nil {
			return err
		}
	}
	b.WriteString(indent + string(text[len(text)-1]))
	return nil
}
