package arguments

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// byteOrderMark is the mark that some programs write before UTF-8.
const byteOrderMark = "\ufeff"

// OfTool returns the JSON of the arguments of a tool that a client sent in another form: as a string with
// the text of the object, or as an empty array, which is how PHP writes an empty object. It returns any
// other value as it is.
func OfTool(raw json.RawMessage) json.RawMessage {
	if v := jsontext.Value(raw); v.Kind() == '[' && isEmpty(bytes.TrimSpace(v)) {
		return json.RawMessage("{}")
	}
	return unwrap(raw)
}

// unwrap returns the text of the object that a JSON string holds. It returns any other value as it is. No
// caller means a string where an object must be.
func unwrap(raw json.RawMessage) json.RawMessage {
	if text := held(jsontext.Value(raw), '{'); text != nil {
		return json.RawMessage(text)
	}
	return raw
}

// heldArray returns the text of the array that a JSON string holds, or nil if it holds none.
func heldArray(raw jsontext.Value) jsontext.Value {
	text := held(raw, '[')
	if !text.IsValid() {
		return nil
	}
	return text
}

// held returns the text that a JSON string holds, or nil if `raw` is not a string or its text does not
// begin with the bracket `opening`.
func held(raw jsontext.Value, opening byte) jsontext.Value {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return nil
	}
	if text = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte(byteOrderMark))); len(text) == 0 || text[0] != opening {
		return nil
	}
	return text
}

// isEmpty reports whether a value says nothing: null, false, an empty text, array or object. Clients
// that must send every member send such values for the ones that they do not use.
func isEmpty(raw jsontext.Value) bool {
	switch raw.Kind() {
	case 'n', 'f':
		return true
	case '"':
		return string(raw) == `""`
	case '[', '{':
		return len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	}
	return false
}

// runOptions are the members that many tools have next to their own.
var runOptions = map[string]bool{
	"params": true, "branch": true, "snapshot": true, "page_token": true, "dry_run": true, "idempotency_key": true, "if_commit": true, "confirm": true,
}

// NoMembers returns a fault if the arguments of a tool that takes none contain a run option that is
// not empty: the caller means a branch or a condition, and the tool would ignore it. Other members are
// ignored, because some clients make up a member for a tool without any.
func NoMembers(raw json.RawMessage) error {
	o := Members(raw)
	for i := range o.members {
		o.members[i].read = !runOptions[o.members[i].name]
	}
	return o.Done()
}
