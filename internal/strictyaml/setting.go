package strictyaml

import "fmt"

// Setting describes a value of a configuration file. The reader takes keys and limits from it, and
// the reference page and the JSON Schema of the file are printed from it.
type Setting struct {
	Key  string // "" for a whole file, an entry of a list or a map, and a form
	Type Type   // what kind of value it takes

	// Text is one sentence that says what the setting does.
	Text string

	Required bool   // a file must have it
	Default  string // the value without the setting, as YAML or in words; "" if it is required
	Limits   string // the allowed values, in words, if the fields below do not say them
	Example  string // a value in YAML, on one line

	Min, Max int64    // the bounds of an Int, both included
	OneOf    []string // the values of a Choice
	Pattern  string   // a regular expression for a Text, or for the keys of a Map; "" for any
	NotEmpty bool     // a List or a Map needs at least one entry
	Repeats  bool     // a List may have the same entry twice

	Keys       []*Setting // the keys of a Mapping
	ExactlyOne []string   // two keys of a Mapping; exactly one of them must be present
	Each       *Setting   // of a List or a Map: what the entries are
	Forms      []*Setting // of a Union: the forms of the value
}

// Type is the type of a setting.
type Type uint8

// The types of settings.
const (
	Text    Type = iota // any text
	Choice              // a text that is one of some words
	Int                 // a whole number
	Bool                // true or false
	List                // a list
	Mapping             // keys that the program knows
	Map                 // keys that the author chooses
	Union               // one of several forms
)

// KeyNames returns the keys of a Mapping.
func (s *Setting) KeyNames() []string {
	names := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		names[i] = k.Key
	}
	return names
}

// Mapping reads a mapping with the keys of a Setting. The argument `what` is the name of the mapping
// in reports. Each value keeps its Setting, which [Node.Number] and [Node.Word] use.
func (n *Node) Mapping(what string, s *Setting) (Fields, bool) {
	f, ok := n.Fields(what, s.KeyNames()...)
	for _, k := range s.Keys {
		if v := f[k.Key]; v != nil {
			v.setting = k
		}
	}
	return f, ok
}

// Number reads a whole number within the limits of its setting. Call it on a value that
// [Node.Mapping] returned for a setting of type Int.
func (n *Node) Number() (int64, bool) {
	if n == nil {
		return 0, false
	}
	s := n.described(Int)
	return n.Int(s.Key, s.Min, s.Max)
}

// Word returns the text of the node, which must be one of the words that its setting allows. Call
// it on a value that [Node.Mapping] returned for a setting of type Choice.
func (n *Node) Word() (string, bool) {
	if n == nil {
		return "", false
	}
	s := n.described(Choice)
	return n.OneOf(s.Key, s.OneOf...)
}

// described returns the setting of the node. The setting must have the type `as`.
func (n *Node) described(as Type) *Setting {
	if n.setting == nil || n.setting.Type != as {
		panic(fmt.Sprintf("strictyaml: the value at %v has no setting of the type that is read", n.Span()))
	}
	return n.setting
}
