package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonForm is a JSON file with an object that maps names to servers. Some clients also allow
// comments and trailing commas in the file.
type jsonForm struct {
	at        string             // JSON pointer to the object; it has one segment
	entry     func(s Server) any // returns the value that describes s
	variables bool               // whether entries can refer to environment variables
}

// expands implements form.
func (f jsonForm) expands() bool { return f.variables }

// merge implements form.
func (f jsonForm) merge(text []byte, s Server) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the file is not JSON: %w", err)
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("the file does not contain a JSON object")
	}
	entry, err := json.Marshal(f.entry(s))
	if err != nil {
		return nil, err
	}
	before := v.Find(f.at + "/" + s.Name)
	if before != nil && same(*before, entry) {
		return text, nil
	}
	root := v.Value.(*hujson.Object)
	l := layoutOf(root)
	servers := l.member(root, 1, f.at[1:], func() hujson.ValueTrimmed { return &hujson.Object{} })
	object, ok := servers.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the member %s of the file is not an object", f.at[1:])
	}
	value, err := l.formatEntry(entry)
	if err != nil {
		return nil, err
	}
	l.member(object, 2, s.Name, func() hujson.ValueTrimmed { return value }).Value = value
	return v.Pack(), nil
}

// layout is the indentation of one level in a file.
type layout string

// member returns the value of a member of an object. If the object has no such member, member adds
// it on a line of its own.
func (l layout) member(o *hujson.Object, depth int, name string, value func() hujson.ValueTrimmed) *hujson.Value {
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &o.Members[i].Value
		}
	}
	// Keep the comments after the last member where they are.
	before := append(bytes.TrimRight(o.AfterExtra, " \t\r\n"), '\n')
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(before, strings.Repeat(string(l), depth)...), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: []byte(" "), Value: value()},
	}
	if n := len(o.Members); n > 0 {
		m.Value.AfterExtra = o.Members[n-1].Value.AfterExtra // not nil if a comma follows the last member
	}
	o.Members = append(o.Members, m)
	o.AfterExtra = append([]byte{'\n'}, strings.Repeat(string(l), depth-1)...)
	return &o.Members[len(o.Members)-1].Value
}

// formatEntry indents an entry as the value of a member on the second level of the file.
func (l layout) formatEntry(entry []byte) (hujson.ValueTrimmed, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, entry, strings.Repeat(string(l), 2), string(l)); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(b.Bytes())
	return v.Value, err
}

// layoutOf returns the indentation of the members of a file's outermost object.
func layoutOf(root *hujson.Object) layout {
	if len(root.Members) > 0 {
		before := root.Members[0].Name.BeforeExtra
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 && i+1 < len(before) && len(bytes.TrimSpace(before[i:])) == 0 {
			return layout(before[i+1:])
		}
	}
	return "  "
}

// same reports whether a value equals the entry, except for its layout.
func same(v hujson.Value, entry []byte) bool {
	v = v.Clone()
	v.Standardize()
	var b bytes.Buffer
	return json.Compact(&b, v.Pack()) == nil && b.String() == string(entry)
}

// stdioEntry returns a function that makes an entry in the form that most clients share. `kind` is
// the value of the member `type`; "" leaves the member out. `variable` is the format of a reference
// to an environment variable; "" means that entries cannot refer to variables.
func stdioEntry(kind, variable string) func(Server) any {
	return func(s Server) any {
		e := struct {
			Type    string            `json:"type,omitempty"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env,omitempty"`
		}{Type: kind, Command: s.Command[0], Args: s.Command[1:]}
		if variable != "" {
			e.Env = variables(s, variable)
		}
		return e
	}
}

// opencodeEntry returns the entry for s in the configuration of opencode.
func opencodeEntry(s Server) any {
	return struct {
		Type        string            `json:"type"`
		Command     []string          `json:"command"`
		Enabled     bool              `json:"enabled"`
		Environment map[string]string `json:"environment,omitempty"`
	}{"local", s.Command, true, variables(s, "{env:%s}")}
}

// variables maps the names of environment variables to references in the given format, such as
// "${%s}".
func variables(s Server, form string) map[string]string {
	env := map[string]string{}
	for _, name := range s.Env {
		env[name] = fmt.Sprintf(form, name)
	}
	return env
}
