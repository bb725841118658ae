package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
)

// message is one JSON-RPC message. Its raw parts are slices of the body that it was read from.
type message struct {
	raw      []byte // the whole message
	id       []byte // a JSON string or number as sent; nil for a notification
	method   string // such as tools/call
	response bool   // a response, although the server never sends requests
	params   []byte // nil when absent or null

	// Members of params, if params is an object.
	name, uri, args, meta []byte
}

// isCall reports whether the message needs an answer.
func (m *message) isCall() bool { return m.id != nil }

// maxDepth is how deep the values of a message may nest.
const maxDepth = 1000

// maxID is the maximum number of bytes of an id. Ids are bounded because every answer repeats the
// id.
const maxID = 1 << 10

// badMessage is the error for a body that is not a message, or for a batch with an element that is
// not a message.
type badMessage struct {
	code   int64  // JSON-RPC error code
	detail string // what is wrong with the body
	id     []byte // id of the message; nil if unknown
}

func (e *badMessage) Error() string { return e.detail }

// decoder is a decoder with the buffer that it reads.
type decoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

// decoders is a pool because each decoder has its own buffer and stacks.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// byteOrderMark may precede a message; Windows programs write it.
var byteOrderMark = []byte("\ufeff")

// readMessages reads a body, which is one message or a batch. The error is a *badMessage.
func readMessages(body []byte) (msgs []message, batch bool, err error) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	if tooDeep(body) {
		return nil, false, &badMessage{code: codeInvalidRequest, detail: fmt.Sprintf("the message nests deeper than %d levels", maxDepth)}
	}
	d := decoders.Get().(*decoder)
	defer func() {
		d.text = bytes.Buffer{} // drop the reference to the body
		d.Reset(&d.text)
		decoders.Put(d)
	}()
	d.text = *bytes.NewBuffer(body)
	d.Reset(&d.text)
	msgs, batch, err = reader{&d.Decoder, body}.all()
	if err != nil {
		var bad *badMessage
		if !errors.As(err, &bad) {
			err = &badMessage{code: codeParse, detail: "the message is not valid JSON: " + plain(err)}
		}
		return nil, batch, err
	}
	return msgs, batch, nil
}

// plain returns the text of a decoder's error without the prefix that contains the package's name.
func plain(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.Err != nil {
		return fmt.Sprintf("%v at byte %d", syntactic.Err, syntactic.ByteOffset)
	}
	return err.Error()
}

// reader splits a body into messages.
type reader struct {
	d    *jsontext.Decoder
	body []byte // the bytes that d decodes
}

// all returns the messages of the body. The result `batch` reports whether the messages are in an
// array.
func (r reader) all() (msgs []message, batch bool, err error) {
	if r.d.PeekKind() != '[' {
		m, err := r.message()
		if err != nil {
			return nil, false, err
		}
		return []message{m}, false, r.end()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return nil, true, err
	}
	for r.d.PeekKind() != ']' {
		if len(msgs) == maxBatch {
			n, err := r.rest(len(msgs))
			if err != nil {
				return nil, true, err
			}
			return nil, true, &badMessage{code: codeInvalidRequest,
				detail: fmt.Sprintf("found a batch of %d messages, expected at most %d; send the others in further requests", n, maxBatch)}
		}
		m, err := r.message()
		if err != nil {
			return nil, true, err
		}
		msgs = append(msgs, m)
	}
	if _, err := r.d.ReadToken(); err != nil {
		return nil, true, err
	}
	if len(msgs) == 0 {
		return nil, true, &badMessage{code: codeInvalidRequest, detail: "found an empty batch, expected at least one message"}
	}
	return msgs, true, r.end()
}

// rest skips the remaining elements of a batch, and returns the number of all its elements. The
// argument `n` is the number of elements that were read before.
func (r reader) rest(n int) (int, error) {
	for r.d.PeekKind() != ']' {
		if err := r.d.SkipValue(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// end checks that nothing follows the value that was read.
func (r reader) end() error {
	if _, err := r.d.ReadToken(); err != io.EOF {
		return &badMessage{code: codeParse, detail: "the message is not valid JSON: something follows its end"}
	}
	return nil
}

// message reads one message.
func (r reader) message() (m message, err error) {
	if r.d.PeekKind() != '{' {
		if err := r.d.SkipValue(); err != nil {
			return m, err
		}
		return m, &badMessage{code: codeInvalidRequest, detail: "found a message that is not a JSON object"}
	}
	var version, method, badID, longID bool
	var start int64
	err = r.members(func(key string) error {
		switch key {
		case "params":
			return r.params(&m)
		}
		v, err := r.value()
		if err != nil {
			return err
		}
		switch key {
		case "jsonrpc":
			version = string(v) == `"2.0"`
		case "id":
			switch jsontext.Value(v).Kind() {
			case '"', '0':
				if longID = len(v) > maxID; !longID {
					m.id = v
				}
			case 'n':
			default:
				badID = true
			}
		case "method":
			method = jsontext.Value(v).Kind() == '"'
			m.method = methodNamed(v)
		case "result", "error":
			m.response = true
		}
		return nil
	}, func(from int64) { start = from })
	m.raw = r.body[start:r.d.InputOffset()]
	switch {
	case err != nil:
		return m, err
	case longID:
		return m, &badMessage{code: codeInvalidRequest, detail: fmt.Sprintf("the id is longer than %d bytes", maxID)}
	case badID:
		return m, &badMessage{code: codeInvalidRequest, detail: "the id is neither a string nor a number"}
	case !version:
		return m, &badMessage{code: codeInvalidRequest, detail: `the member jsonrpc is not "2.0"`, id: m.id}
	case method:
		m.response = false
	case !m.response || m.id == nil:
		return m, &badMessage{code: codeInvalidRequest, detail: "the message has no method", id: m.id}
	}
	return m, nil
}

// params reads the parameters and records the members that the transports need.
func (r reader) params(m *message) error {
	switch r.d.PeekKind() {
	case 'n':
		_, err := r.d.ReadToken()
		return err
	case '{':
	default:
		v, err := r.value()
		m.params = v
		return err
	}
	var start int64
	err := r.members(func(key string) error {
		v, err := r.value()
		if err != nil {
			return err
		}
		switch key {
		case "name":
			m.name = v
		case "uri":
			m.uri = v
		case "arguments":
			m.args = arguments.OfTool(v)
		case "_meta":
			m.meta = v
		}
		return nil
	}, func(from int64) { start = from })
	if err != nil {
		return err
	}
	m.params = r.body[start:r.d.InputOffset()]
	return nil
}

// members reads an object. It calls the function `opened` with the offset of the start of the
// object. Then it calls f after each name; f must read the value.
func (r reader) members(f func(key string) error, opened func(from int64)) error {
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	opened(r.d.InputOffset() - 1)
	for r.d.PeekKind() != '}' {
		v, err := r.d.ReadValue()
		if err != nil {
			return err
		}
		if err := f(known(v)); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// value reads a value and returns it as a slice of the body.
func (r reader) value() ([]byte, error) {
	v, err := r.d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := r.d.InputOffset()
	return r.body[end-int64(len(v)) : end : end], nil
}

// methodNamed returns the value of a JSON string. It does not allocate memory for the name of a method that the
// server has.
func methodNamed(v []byte) string {
	if len(v) >= 2 && v[0] == '"' {
		if row := methods[string(v[1:len(v)-1])]; row != nil {
			return row.name
		}
	}
	return unquoted(v)
}

// known returns the name of a member as a string. It does not allocate memory for the names that
// this package uses.
func known(v []byte) string {
	switch string(v) {
	case `"jsonrpc"`:
		return "jsonrpc"
	case `"id"`:
		return "id"
	case `"method"`:
		return "method"
	case `"params"`:
		return "params"
	case `"name"`:
		return "name"
	case `"arguments"`:
		return "arguments"
	case `"_meta"`:
		return "_meta"
	case `"uri"`:
		return "uri"
	}
	return unquoted(v)
}

// unquoted returns the value of a JSON string, or "" for any other input.
func unquoted(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, v) // the decoder has checked it
	return string(b)
}

// tooDeep reports whether text nests deeper than maxDepth. It assumes that text is valid JSON.
func tooDeep(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}
