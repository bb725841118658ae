package arguments

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Options is the name of the member that has the run options of a call whose parameters are at the top.
const Options = "_"

// Nest moves members that `params` reports as parameters into the member params, and then the run options in the member
// [Options] to the top. Clients send them so, because a graph wants it, or because a framework flattens objects. A member that
// params has already stays where it is.
func (o *Object) Nest(params func(name string) bool) {
	o.nestParams(params)
	if i := o.index(Options); i >= 0 && !params(Options) {
		if inner := newObject(o.noun, json.RawMessage(o.members[i].raw)); len(inner.faults) == 0 {
			o.members = slices.Delete(o.members, i, i+1)
			for _, m := range inner.members {
				if o.index(m.name) >= 0 {
					o.Fail(Options+"."+m.name, "the member is given twice, at the top too", "")
					continue
				}
				o.members = append(o.members, m)
			}
		}
	}
}

// nestParams moves members into the member params.
func (o *Object) nestParams(params func(name string) bool) {
	given := newObject("parameter", OfTool(o.rawAt(o.index("params"))))
	if len(given.faults) > 0 {
		return
	}
	moved := len(given.members)
	o.members = slices.DeleteFunc(o.members, func(m member) bool {
		if m.read || m.name == "params" || !params(m.name) || given.index(m.name) >= 0 {
			return false
		}
		given.members = append(given.members, m)
		return true
	})
	if moved == len(given.members) {
		return
	}
	var text bytes.Buffer
	for i, m := range given.members {
		name, _ := jsontext.AppendQuote(nil, m.name)
		text.WriteByte("{,"[min(i, 1)])
		text.Write(append(append(name, ':'), m.raw...))
	}
	text.WriteByte('}')
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.name == "params" })
	o.members = append(o.members, member{name: "params", raw: text.Bytes()})
}

// index returns the index of the named member, or -1.
func (o *Object) index(name string) int {
	return slices.IndexFunc(o.members, func(m member) bool { return m.name == name })
}

// rawAt returns the value of a member, or nil if the index is negative.
func (o *Object) rawAt(i int) json.RawMessage {
	if i < 0 {
		return nil
	}
	return json.RawMessage(o.members[i].raw)
}
