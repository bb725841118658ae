// Package arguments reads the JSON arguments of tools as typed values and reports all faults at
// once.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Object reads the members of a JSON object by name and type. If a member is missing or
// does not fit, its getter returns the zero value and notes the fault; [Object.Done]
// returns the noted faults. An explicit null counts as absent. A scalar may be written as a
// string, and so may an array or an object, whose text the string then holds.
type Object struct {
	noun    string                // the word for a member in messages
	members []member              // in the order of the text
	known   []string              // names that getters have asked for, in order
	faults  []*tool.ArgumentError // the faults so far

	inside  string                 // a member that is an object; see Inside
	belongs func(name string) bool // reports whether an unknown member belongs inside that member; may be nil

	// The first memory of the slices above. Most objects need no more.
	firstMembers [3]member
	firstKnown   [8]string
}

// member is one member of an object.
type member struct {
	name string
	raw  jsontext.Value // the value as JSON
	read bool           // a caller has read the member
}

// Params returns a reader for the parameters of a query: nil, null or a JSON object. The
// paths in its faults are parameter names.
func Params(raw json.RawMessage) *Object { return newObject("parameter", OfTool(raw)) }

// Members returns a reader for the arguments of a tool: nil, null or a JSON object. The
// paths in its faults are member names.
func Members(raw json.RawMessage) *Object { return newObject(toolMember, raw) }

// toolMember is the word for a member of the arguments of a tool.
const toolMember = "member"

// Has reports whether the named member is present and not null. It does not mark the member
// as read.
func (o *Object) Has(name string) bool {
	for i := range o.members {
		if o.members[i].name == name {
			return o.members[i].raw.Kind() != 'n'
		}
	}
	return false
}

// Gives reports whether the named member is present and says something: it is not null, false, or an
// empty text, array or object. It does not mark the member as read.
func (o *Object) Gives(name string) bool {
	for i := range o.members {
		if o.members[i].name == name {
			return !isEmpty(o.members[i].raw)
		}
	}
	return false
}

// Raw returns the JSON text of the named member, or nil if it is absent.
func (o *Object) Raw(name string) json.RawMessage { return json.RawMessage(o.find(name)) }

// Items returns the elements of the named member, and reports whether it is an array, or a string that
// holds the text of one. The result is nil, true if the member is absent.
func (o *Object) Items(name string) (items []json.RawMessage, ok bool) {
	raw := o.find(name)
	if raw == nil {
		return nil, true
	}
	if text := heldArray(raw); text != nil {
		raw = text
	}
	return items, json.Unmarshal(raw, &items) == nil
}

// Fail notes a fault of the named member.
func (o *Object) Fail(name, detail, help string) {
	o.faults = append(o.faults, &tool.ArgumentError{Path: name, Detail: detail, Help: help})
}

// Refuse marks the named member as read, and notes a fault if it is present and says something; see
// [Object.Gives].
func (o *Object) Refuse(name, detail, help string) {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			m.read = true
			if !isEmpty(m.raw) {
				o.Fail(name, detail, help)
			}
			return
		}
	}
}

// Inside says where unknown members belong that were meant for a nested object: if the function
// `belongs` reports true for the name of one, its fault says to put the member inside the named one.
func (o *Object) Inside(name string, belongs func(member string) bool) {
	o.inside, o.belongs = name, belongs
}

// Merge notes the faults of a nested object, with their paths under the named member. It notes an
// error that is not a *tool.ArgumentError by its text.
func (o *Object) Merge(name string, err error) {
	if err == nil {
		return
	}
	var a *tool.ArgumentError
	if !errors.As(err, &a) {
		o.Fail(name, err.Error(), "")
		return
	}
	a = a.Under(name)
	o.faults = append(o.faults, a)
	o.faults = append(o.faults, a.Also...)
	a.Also = nil
}

// maxFaults is the maximum number of faults in one error. Without a limit, an object could
// have as many bad members as fit into its text.
const maxFaults = 20

// Done returns the faults as one *tool.ArgumentError, or nil if there are none. Unknown members,
// which no getter has read, come first. At most maxFaults faults are listed. If there are more, a
// last fault gives their number.
func (o *Object) Done() error {
	var faults []*tool.ArgumentError
	more := 0
	for i := range o.members {
		switch m := &o.members[i]; {
		case m.read, o.noun == toolMember && runOptions[m.name] && isEmpty(m.raw):
		case len(faults) < maxFaults:
			faults = append(faults, o.unknown(m.name, m.raw))
		default:
			more++
		}
	}
	faults = append(faults, o.faults...)
	if len(faults) == 0 {
		return nil
	}
	if n := len(faults); n > maxFaults {
		more, faults = more+n-maxFaults, faults[:maxFaults:maxFaults]
	}
	if more > 0 {
		faults = append(faults, &tool.ArgumentError{Detail: fmt.Sprintf("%d more faults are not listed", more)})
	}
	first := *faults[0]
	first.Also = faults[1:]
	return &first
}

// decoder is a decoder with the buffer that it reads.
type decoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

// decoders are pooled because each has its own buffer and stacks.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode returns a decoder of a JSON text, which the caller puts back with done.
func decode(raw []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.text = *bytes.NewBuffer(raw)
	d.Reset(&d.text)
	return d
}

// done puts the decoder back.
func (d *decoder) done() {
	d.text = bytes.Buffer{} // drop the reference to the text
	d.Reset(&d.text)
	decoders.Put(d)
}

// newObject parses a JSON object; the object may be the text that a string holds. No text, an empty string, or null
// is an object without members.
func newObject(noun string, raw json.RawMessage) *Object {
	o := &Object{noun: noun}
	o.members, o.known = o.firstMembers[:0], o.firstKnown[:0]
	raw = bytes.TrimSpace(bytes.TrimPrefix(unwrap(raw), []byte(byteOrderMark)))
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return o
	}
	d := decode(raw)
	defer d.done()
	if d.PeekKind() != '{' {
		v, err := d.ReadValue()
		if err != nil {
			o.malformed(err)
			return o
		}
		o.Fail("", "found "+describe(v)+", expected a JSON object", "")
		return o
	}
	if _, err := d.ReadToken(); err != nil {
		o.malformed(err)
		return o
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			o.malformed(err)
			return o
		}
		m := member{name: name.String()}
		v, err := d.ReadValue()
		if err != nil {
			o.malformed(err)
			return o
		}
		// The decoder reuses v at the next read. A slice of raw has the same text and stays
		// valid.
		end := d.InputOffset()
		m.raw = jsontext.Value(raw[end-int64(len(v)) : end : end])
		o.members = append(o.members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		o.malformed(err)
	} else if len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		o.Fail("", "there is text after the JSON object", "")
	}
	return o
}

// malformed notes that the text is not valid JSON. It drops the members read so far, so
// that no further fault follows from this one.
func (o *Object) malformed(err error) {
	o.members = nil
	detail := "the text is not valid JSON: " + err.Error()
	var s *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		detail = "a member occurs twice"
		if errors.As(err, &s) {
			detail = "the member " + string(s.JSONPointer) + " occurs twice"
		}
	case errors.As(err, &s):
		detail = "the text is not valid JSON: " + s.Err.Error()
	}
	o.faults = []*tool.ArgumentError{{Detail: detail}}
}

// Broken reports whether the text was not a JSON object. Missing members are then not
// reported as faults.
func (o *Object) Broken() bool {
	return len(o.faults) > 0 && o.faults[0].Path == ""
}

// find returns the value of the named member, or nil if it is absent or null.
func (o *Object) find(name string) jsontext.Value {
	o.known = append(o.known, name)
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			m.read = true
			if m.raw.Kind() == 'n' {
				return nil
			}
			return m.raw
		}
	}
	return nil
}

// Value returns the named member as a value of type t. If t is nullable and the member is
// absent, it returns null.
func (o *Object) Value(name string, t value.Type) value.Value {
	raw := o.find(name)
	if raw == nil {
		if !t.Nullable && !o.Broken() {
			o.Fail(name, "missing, expected "+expectedValue(t), "")
		}
		return value.Null
	}
	v, f := convert(raw, t)
	if f != nil {
		path := name
		if f.at != "" {
			path += f.at
		}
		o.Fail(path, f.detail, f.help)
	}
	return v
}

// unknown returns the fault of a member that no getter has asked for.
func (o *Object) unknown(name string, raw jsontext.Value) *tool.ArgumentError {
	if len(name) > maxQuoted {
		return &tool.ArgumentError{Path: strings.ToValidUTF8(name[:maxQuoted], "") + "…", Detail: "unknown " + o.noun}
	}
	e := &tool.ArgumentError{Path: name, Detail: "unknown " + o.noun}
	switch e.Help = diag.DidYouMean(name, o.known); {
	case o.belongs != nil && o.belongs(name):
		e.Help = `put it inside "` + o.inside + `"`
	case o.wraps(raw):
		e.Help = "put its members in its place"
	case e.Help != "":
	case len(o.known) > 0:
		e.Help = "known are " + strings.Join(slices.Compact(slices.Sorted(slices.Values(o.known))), ", ")
	default:
		e.Help = "none is taken"
	}
	return e
}

// wraps reports whether a value is an object with nothing but members that getters have asked for: the
// caller put the arguments one level too deep.
func (o *Object) wraps(raw jsontext.Value) bool {
	if raw.Kind() != '{' {
		return false
	}
	inner := newObject(o.noun, json.RawMessage(raw))
	return len(inner.members) > 0 && !slices.ContainsFunc(inner.members, func(m member) bool { return !slices.Contains(o.known, m.name) })
}
