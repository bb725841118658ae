// Package load reads graphs from NDJSON into rows of columns and puts them into a
// transaction.
package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// parser reads lines into batches. Only one goroutine may use it.
type parser struct {
	schema   *schema.Schema    // types of the entities
	opts     *Options          // options of the load
	nodes    []*batch          // by node type: its rows in this block; nil if there are none
	edges    []*batch          // by edge type: its rows in this block; nil if there are none
	last     [2]*batch         // by entity: the batch of the previous line
	lastName [2]string         // by entity: the type's name in that line
	scan     scanner           // splits the text of a line into tokens
	line     uint32            // number in the current block
	changes  changes           // of the lines of the current block
	bad      engine.LoadErrors // bad lines found so far

	dec      *jsontext.Decoder // reads the line
	inner    *jsontext.Decoder // reads heldData
	arena    []byte            // unquoted texts of the current line
	heldData []byte            // the member `data`, if it came before the type in the line
	vals     []value.Value     // by property: the value in the line
	seen     []bool            // by property: whether it occurs in the line
	sources  string            // the member `sources` of the line
	id       jsontext.Value    // the member `id` of `data`, if it is not a property; else nil
	key      []byte            // memory for the id that the key determines
}

// newParser returns a parser.
func newParser(s *schema.Schema, opts *Options) *parser {
	return &parser{schema: s, opts: opts, nodes: make([]*batch, len(s.Nodes)), edges: make([]*batch, len(s.Edges)),
		dec: jsontext.NewDecoder(noInput), inner: jsontext.NewDecoder(noInput)}
}

// noInput is an empty input.
var noInput = new(bytes.Buffer)

// parsed is the content of a block of lines.
type parsed struct {
	batches     []*batch          // rows of the block, one batch for each type
	changes     changes           // deletes and moves of the block
	lines       uint32            // number of lines in the block
	bad         engine.LoadErrors // with line numbers in the block
	lineTooLong bool              // parsing stopped at a line that is too long
}

// block parses whole lines. The last line need not have a newline.
func (p *parser) block(text []byte) parsed {
	p.line, p.bad, p.changes = 0, engine.LoadErrors{}, changes{}
	stop := false
	for len(text) > 0 && !p.bad.More && !stop {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		p.line++
		if stop = len(line) > MaxLine; stop {
			p.fail("", errTooLong)
			break
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && !p.parseFast(line) {
			p.envelope(line)
		}
	}
	out := parsed{lines: p.line, bad: p.bad, lineTooLong: stop, changes: p.changes}
	for _, list := range [][]*batch{p.nodes, p.edges} {
		for _, b := range list {
			if b != nil && len(b.lines) > 0 {
				out.batches = append(out.batches, b.cut())
			}
		}
	}
	return out
}

// fail records a fault in the current line. At most maxErrors faults are kept.
func (p *parser) fail(field string, err error) {
	if len(p.bad.Lines) == maxErrors {
		p.bad.More = true
		return
	}
	// Clone the field, because it may alias the line.
	p.bad.Lines = append(p.bad.Lines, engine.LineError{Line: int64(p.line), Field: strings.Clone(field), Err: err})
}

// envelope parses one line.
func (p *parser) envelope(line []byte) {
	before := len(p.bad.Lines)
	if cap(p.arena) < len(line) {
		p.arena = make([]byte, 0, 2*len(line))
	}
	p.arena, p.heldData, p.id, p.sources = p.arena[:0], p.heldData[:0], nil, ""
	p.dec.Reset(bytes.NewBuffer(line))
	var t *schema.Type
	var kind string
	var from, to end
	var gone, was string // the members delete and was
	var hasFrom, hasTo, hasData bool
	if tok, err := p.dec.ReadToken(); err != nil || tok.Kind() != '{' {
		p.fail("", syntax(err, "the line is not a JSON object"))
		return
	}
	for p.dec.PeekKind() != '}' {
		name, ok := p.name(p.dec)
		if !ok {
			return
		}
		switch name {
		case "type", "edge":
			if kind != "" {
				p.fail(name, errors.New("the line has both type and edge; give type for a node, or edge for an edge"))
				return
			}
			text, ok := p.text(p.dec, name)
			if !ok {
				return
			}
			e := plan.Node
			if name == "edge" {
				e = plan.Edge
			}
			kind = name
			if t = p.schema.Type(e, text); t == nil || p.hides(t, -1) {
				p.fail(name, p.noType(e, text))
				return
			}
		case "from":
			if from, ok = p.end(name); !ok {
				return
			}
			hasFrom = true
		case "to":
			if to, ok = p.end(name); !ok {
				return
			}
			hasTo = true
		case "sources":
			text, ok := p.text(p.dec, name)
			if !ok {
				return
			}
			if err := p.opts.checkSources(text); err != nil {
				p.fail(name, err)
				return
			}
			p.sources = text
		case "data":
			hasData = true
			if t != nil {
				if !p.data(p.dec, t) {
					return
				}
				continue
			}
			raw, err := p.dec.ReadValue()
			if err != nil {
				p.fail("data", syntax(err, ""))
				return
			}
			p.heldData = append(p.heldData, raw...)
		case "delete", "was":
			text, ok := "", p.opts.Changes && p.opts.Mode != engine.Sync // a copy has every row, and deletes what it lacks
			if !ok {
				p.fail(name, errors.New("only the load of a followed source can have the member"))
				return
			}
			if text, ok = p.text(p.dec, name); ok && text == "" {
				p.fail(name, errors.New("the id is empty"))
			}
			if text == "" {
				return
			}
			if name == "was" {
				was = strings.Clone(text)
			} else {
				gone = strings.Clone(text)
			}
		default:
			p.fail(name, errors.New("the member is unknown; a line can have type or edge, and from, to, data and sources"))
			if err := p.dec.SkipValue(); err != nil {
				return
			}
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail("", syntax(err, ""))
		return
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		p.fail("", errors.New("the line has more than one JSON value; write one value per line"))
		return
	}
	if t == nil {
		p.fail("", errors.New("the line has neither type nor edge; name the node type or the edge type"))
		return
	}
	if gone != "" {
		if hasFrom || hasTo || hasData || was != "" {
			p.fail("delete", errors.New("the line has other members besides its type; give only the id to delete"))
			return
		}
		p.changes.gone = append(p.changes.gone, change{typ: t, id: gone, line: int64(p.line)})
		return
	}
	if len(p.heldData) > 0 {
		p.inner.Reset(bytes.NewBuffer(p.heldData))
		if !p.data(p.inner, t) {
			return
		}
	} else if !hasData {
		p.begin(t)
	}
	if t.Entity == plan.Edge {
		if !hasFrom {
			p.fail("from", errors.New("the source is missing; give the "+endForm(p.schema.EndType(t, false))+" of the source node"))
		}
		if !hasTo {
			p.fail("to", errors.New("the target is missing; give the "+endForm(p.schema.EndType(t, true))+" of the target node"))
		}
		if hasFrom && hasTo {
			p.checkEnd("from", p.schema.EndType(t, false), &from)
			p.checkEnd("to", p.schema.EndType(t, true), &to)
		}
	} else if hasFrom || hasTo {
		p.fail("", fmt.Errorf("a node has no endpoints; write edge instead of type if %s is an edge", t.Name))
	}
	if len(p.bad.Lines) == before && p.finish(t, from.text, to.text) && was != "" {
		p.moved(t, was)
	}
}

// begin prepares for the properties of an entity.
func (p *parser) begin(t *schema.Type) {
	n := len(t.Props)
	if cap(p.vals) < n {
		p.vals, p.seen = make([]value.Value, n), make([]bool, n)
	}
	p.vals, p.seen = p.vals[:n], p.seen[:n]
	clear(p.vals)
	clear(p.seen)
}

// data reads the properties of an entity.
func (p *parser) data(dec *jsontext.Decoder, t *schema.Type) bool {
	p.begin(t)
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '{' {
		p.fail("data", syntax(err, "data is not a JSON object"))
		return false
	}
	for dec.PeekKind() != '}' {
		name, ok := p.name(dec)
		if !ok {
			return false
		}
		raw, err := dec.ReadValue()
		if err != nil {
			p.fail("data."+name, syntax(err, ""))
			return false
		}
		i, ok := t.Prop(name)
		switch {
		case ok && !p.hides(t, i):
			p.seen[i] = true
			v, err := p.value(raw, t.Props[i].Type)
			if err != nil {
				p.fail("data."+name, err)
				continue
			}
			p.vals[i] = v
		case name == "id":
			p.id = append(jsontext.Value(nil), raw...)
		default:
			p.fail("data."+name, fmt.Errorf("%s %s has no such property; its properties are %s", t.Entity, t.Name, p.propNames(t)))
		}
	}
	_, err = dec.ReadToken()
	if err != nil {
		p.fail("data", syntax(err, ""))
	}
	return err == nil
}

// finish checks an entity and adds it. It reports whether it did.
func (p *parser) finish(t *schema.Type, from, to string) bool {
	r := p.rows(t)
	for i, v := range p.vals {
		if p.leftOut(t, i) {
			p.seen[i] = true
			r.left = append(r.left, missingVector{len(r.lines), i})
			continue
		}
		if p.kept(t, i) {
			continue
		}
		if !p.seen[i] && v.IsNull() {
			v = t.Default(i)
			p.vals[i] = v
		}
		if err := t.CheckValue(i, v); err != nil {
			p.fail("data."+t.Props[i].Name, err)
			return false
		}
	}
	id, ok := p.identity(t, from, to)
	if !ok {
		return false
	}
	add := func(field string, err error) bool {
		if err != nil {
			p.fail(field, err)
			r.truncate()
		}
		return err == nil
	}
	if r.ids != nil && !add("data.id", r.ids.AppendString(id)) {
		return false
	}
	if r.from != nil && (!add("from", r.from.AppendString(from)) || !add("to", r.to.AppendString(to))) {
		return false
	}
	for i, v := range p.vals {
		var err error
		if v.Kind() == value.String && !v.IsList() {
			err = r.props[i].AppendString(v.Str())
		} else {
			err = r.props[i].Append(v)
		}
		if !add("data."+t.Props[i].Name, err) {
			return false
		}
	}
	if r.seen != nil {
		r.markSeen(func(i int) bool { return p.seen[i] })
	}
	r.note(p.sources, p.opts)
	r.lines = append(r.lines, int64(p.line))
	return true
}

// leftOut reports whether the vector property i must be computed from its source.
func (p *parser) leftOut(t *schema.Type, i int) bool {
	e := t.Props[i].Embed
	if e == nil || !p.opts.Embeds || p.seen[i] {
		return false
	}
	source, ok := t.Prop(e.Source)
	return ok && p.vals[source].Kind() == value.String && !p.vals[source].IsList()
}

// kept reports whether the entity keeps its value of property i.
func (p *parser) kept(t *schema.Type, i int) bool {
	return p.opts.Mode.Patches() && !p.seen[i] && !slices.Contains(t.Key, i)
}

// identity returns the id of the current entity, or an empty id if one must be made.
func (p *parser) identity(t *schema.Type, from, to string) (string, bool) {
	if t.Key != nil {
		p.key = t.AppendID(p.key[:0], p.vals)
		id := unsafe.String(unsafe.SliceData(p.key), len(p.key))
		if p.id != nil && !p.sameKey(t, id) {
			p.fail("data.id", fmt.Errorf("found %s, but the key determines the id %q", p.id, id))
			return "", false
		}
		return id, true
	}
	if p.id == nil {
		id, err := p.find(t, from, to, func(i int) value.Value { return p.vals[i] })
		if err != nil {
			p.fail("data.id", err)
		}
		return id, err == nil
	}
	id, err := jsontext.AppendUnquote(nil, p.id)
	if err != nil || p.id.Kind() != '"' {
		p.fail("data.id", fmt.Errorf("found %s, expected a string", p.id))
		return "", false
	}
	if len(id) == 0 {
		p.fail("data.id", errors.New("the id is empty; give one, or leave it out"))
		return "", false
	}
	return string(id), true
}

// sameKey reports whether the given id is a spelling of the key.
func (p *parser) sameKey(t *schema.Type, id string) bool {
	raw := p.id
	if raw.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return false
		}
		if string(text) == id {
			return true
		}
		if len(t.Key) == 1 {
			v, err := keyMember(text, t.Props[t.Key[0]].Type)
			return err == nil && value.Text(v) == id
		}
		raw = text
	}
	if len(t.Key) == 1 {
		v, err := p.value(raw, t.Props[t.Key[0]].Type)
		return err == nil && !v.IsNull() && value.Text(v) == id
	}
	// For a composite key the id is an array of spellings.
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return false
	}
	var members []value.Value
	for dec.PeekKind() != ']' {
		m, err := dec.ReadValue()
		if err != nil || len(members) == len(t.Key) {
			return false
		}
		typ := t.Props[t.Key[len(members)]].Type
		text := []byte(m)
		if m.Kind() == '"' {
			if text, err = jsontext.AppendUnquote(nil, m); err != nil {
				return false
			}
		}
		v, err := keyMember(text, typ)
		if err != nil {
			return false
		}
		members = append(members, v)
	}
	return len(members) == len(t.Key) && string(t.AppendKey(nil, members)) == id
}

// rows returns the batch of a type.
func (p *parser) rows(t *schema.Type) *batch {
	list := p.nodes
	if t.Entity == plan.Edge {
		list = p.edges
	}
	if list[t.Index] == nil {
		list[t.Index] = newBatch(t, p.opts.Mode.Patches())
	}
	return list[t.Index]
}

// name reads the name of a member.
func (p *parser) name(dec *jsontext.Decoder) (string, bool) {
	raw, err := dec.ReadValue()
	if err != nil {
		p.fail("", syntax(err, ""))
		return "", false
	}
	return p.unquote(raw), true
}

// text reads a string.
func (p *parser) text(dec *jsontext.Decoder, field string) (string, bool) {
	raw, err := dec.ReadValue()
	if err != nil {
		p.fail(field, syntax(err, ""))
		return "", false
	}
	if raw.Kind() != '"' {
		p.fail(field, fmt.Errorf("found %s, expected a string", clip(raw)))
		return "", false
	}
	return p.unquote(raw), true
}

// unquote returns the content of a valid JSON string. The result is valid as long as the
// line.
func (p *parser) unquote(raw []byte) string {
	at := len(p.arena)
	out, _ := jsontext.AppendUnquote(p.arena, raw) // the decoder has checked it
	p.arena = out
	return unsafe.String(unsafe.SliceData(out[at:]), len(out)-at)
}

// noType returns the error for a type that the schema does not have.
func (p *parser) noType(e plan.Entity, name string) error {
	types := p.schema.NodeTypes()
	if e == plan.Edge {
		types = p.schema.Edges
	}
	var names []string
	for _, t := range types {
		if !p.hides(t, -1) {
			names = append(names, t.Name)
		}
	}
	message := fmt.Sprintf("the schema has no %s type %q", e, name)
	if near := diag.DidYouMean(name, names); near != "" {
		message += "; " + near
	}
	return errors.New(message)
}

// hides reports whether the caller must not know of a type, or of a property of it; see [Options.Hidden].
func (p *parser) hides(t *schema.Type, property int) bool {
	return p.opts.Hidden != nil && p.opts.Hidden(t, property)
}

// propNames lists the names of the properties of a type, for messages.
func (p *parser) propNames(t *schema.Type) string {
	var names []string
	for i, prop := range t.Props {
		if !p.hides(t, i) {
			names = append(names, prop.Name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// syntax returns the error to report for err, an error of the tokenizer. If err is nil, it returns
// an error with the text `otherwise`.
func syntax(err error, otherwise string) error {
	if err == nil {
		return errors.New(otherwise)
	}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		return fmt.Errorf("byte %d: %w", s.ByteOffset+1, s.Err)
	}
	return err
}

// clip shortens JSON for a message.
func clip(raw []byte) string {
	if len(raw) > 40 {
		return strings.ToValidUTF8(string(raw[:40]), "") + "…"
	}
	return string(raw)
}
