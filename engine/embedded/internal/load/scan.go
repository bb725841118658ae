package load

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// scanner scans one line. It accepts only lines that are certainly valid. When a method reports
// false, the full parser, which handles every spelling and every fault, reads the line again.
type scanner struct {
	b     []byte        // the line
	i     int           // position in b
	arena []byte        // the texts of the line that contained escapes, unescaped
	stamp uint64        // identifies the line, for batch.stamp
	vec   []float32     // memory for vectors
	elems []value.Value // memory for list elements
	vals  []value.Value // by property: the value in the line
	// sources is the member `sources` of the line.
	sources string
	key     []byte // memory for the id that the key determines
}

// parseFast reads a line that starts with its type and has no fault, and adds its row. If it
// reports false, it has added nothing.
func (p *parser) parseFast(line []byte) bool {
	s := &p.scan
	s.b, s.i, s.arena, s.sources = line, 0, s.arena[:0], ""
	if !s.take('{') {
		return false
	}
	member, ok := s.name()
	if !ok {
		return false
	}
	var entity plan.Entity
	switch string(member) {
	case "type":
		entity = plan.Node
	case "edge":
		entity = plan.Edge
	default:
		return false
	}
	name, ok := s.text()
	if !ok {
		return false
	}
	b := p.batch(entity, name)
	if b == nil {
		return false
	}
	s.stamp++
	if !p.members(b) {
		b.truncate()
		return false
	}
	b.note(s.sources, p.opts)
	b.lines = append(b.lines, int64(p.line))
	return true
}

// members reads the members after the type of an entity.
func (p *parser) members(b *batch) bool {
	s := &p.scan
	var from, to, id []byte
	var hasFrom, hasTo, hasData bool
	for !s.take('}') {
		if !s.take(',') {
			return false
		}
		member, ok := s.name()
		if !ok {
			return false
		}
		switch string(member) {
		case "from":
			if from, ok = s.text(); !ok || hasFrom {
				return false
			}
			hasFrom = true
		case "to":
			if to, ok = s.text(); !ok || hasTo {
				return false
			}
			hasTo = true
		case "sources":
			text, ok := s.text()
			if !ok || s.sources != "" {
				return false
			}
			s.sources = string(text)
			if p.opts.checkSources(s.sources) != nil {
				return false
			}
		case "data":
			if hasData {
				return false
			}
			hasData = true
			if id, ok = p.fields(b); !ok {
				return false
			}
		default:
			return false
		}
	}
	isEdge := b.typ.Entity == plan.Edge
	if s.space(); s.i != len(s.b) || hasFrom != isEdge || hasTo != isEdge {
		return false
	}
	for i := range b.props {
		if b.stamp[i] != s.stamp && !p.appendMissing(b, i) {
			return false
		}
	}
	if b.seen != nil {
		b.markSeen(func(i int) bool { return b.stamp[i] == s.stamp })
	}
	if id == nil && b.ids != nil && b.typ.Key == nil && p.opts.Mode.Finds() {
		made, err := p.find(b.typ, view(from), view(to), func(i int) value.Value { return b.props[i].Value(b.props[i].Len() - 1) })
		if id = []byte(made); err != nil {
			return false
		}
	}
	if !s.identity(b, id) {
		return false
	}
	return !isEdge || b.from.AppendString(view(from)) == nil && b.to.AppendString(view(to)) == nil
}

// fields reads the properties of an entity, and its id if the id is not a property.
func (p *parser) fields(b *batch) (id []byte, ok bool) {
	s := &p.scan
	if !s.take('{') {
		return nil, false
	}
	for k := 0; ; k++ {
		if s.take('}') {
			return id, true
		}
		if k > 0 && !s.take(',') {
			return nil, false
		}
		name, ok := s.name()
		if !ok {
			return nil, false
		}
		// Most lines list their properties in the order of the previous line.
		i := -1
		if k < len(b.order) {
			i = b.order[k]
		}
		if i < 0 || b.typ.Props[i].Name != string(name) {
			if i, ok = b.typ.Prop(string(name)); !ok {
				if string(name) != "id" || id != nil {
					return nil, false
				}
				if id, ok = s.text(); !ok || len(id) == 0 {
					return nil, false
				}
				continue
			}
			if k < len(b.order) {
				b.order[k] = i
			}
		}
		if b.stamp[i] == s.stamp || p.hides(b.typ, i) {
			return nil, false
		}
		b.stamp[i] = s.stamp
		if !s.value(b.props[i], b.typ.Props[i].Type) {
			return nil, false
		}
		if b.rules[i] && b.typ.CheckValue(i, b.props[i].Value(b.props[i].Len()-1)) != nil {
			return nil, false
		}
	}
}

// appendMissing appends the default or a null for a property that the line does not have. It reports false if the
// property cannot be null, or if its value may have to be computed.
func (p *parser) appendMissing(b *batch, i int) bool {
	prop := b.typ.Props[i]
	if !prop.Type.Nullable && prop.Default == nil && (b.seen == nil || slices.Contains(b.typ.Key, i)) || prop.Embed != nil && p.opts.Embeds {
		return false
	}
	if b.seen == nil {
		if v := b.typ.Default(i); !v.IsNull() {
			return (!b.rules[i] || b.typ.CheckValue(i, v) == nil) && b.props[i].Append(v) == nil
		}
	}
	b.props[i].AppendNull()
	return true
}

// identity adds the id.
func (s *scanner) identity(b *batch, id []byte) bool {
	t := b.typ
	switch {
	case t.IDProp >= 0:
		p := b.props[t.IDProp]
		return id == nil || string(id) == view(p.Raw(p.Len()-1))
	case t.Key != nil:
		if cap(s.vals) < len(t.Props) {
			s.vals = make([]value.Value, len(t.Props))
		}
		s.vals = s.vals[:len(t.Props)]
		for _, k := range t.Key {
			s.vals[k] = b.props[k].Value(b.props[k].Len() - 1)
		}
		s.key = t.AppendID(s.key[:0], s.vals)
		return (id == nil || string(id) == string(s.key)) && b.ids.AppendString(view(s.key)) == nil
	}
	return b.ids.AppendString(view(id)) == nil // an empty id is made later
}

// value reads a value into a column.
func (s *scanner) value(to *column.Builder, t value.Type) bool {
	s.space()
	if s.i >= len(s.b) {
		return false
	}
	if s.b[s.i] == 'n' {
		if !t.Nullable || !s.literal("null") {
			return false
		}
		to.AppendNull()
		return true
	}
	switch {
	case t.List:
		return s.list(to, t)
	case t.Kind == value.Vector:
		return s.vector(to, t.Dim)
	}
	switch t.Kind {
	case value.String:
		text, ok := s.text()
		return ok && to.AppendString(view(text)) == nil
	case value.Decimal:
		text, ok := s.text()
		if !ok {
			return false
		}
		v, err := value.ParseDecimal(view(text), t)
		return err == nil && to.Append(v) == nil
	case value.F32, value.F64:
		f, ok := s.float(t.Kind)
		if ok {
			to.AppendFloat(f)
		}
		return ok
	default:
		n, ok := s.integer(t.Kind)
		if ok {
			to.AppendInt(n)
		}
		return ok
	}
}

// vector reads the components of a vector.
func (s *scanner) vector(to *column.Builder, dim int) bool {
	s.vec = s.vec[:0]
	ok := s.array(func() bool {
		f, ok := s.float(value.F32)
		s.vec = append(s.vec, float32(f))
		return ok && len(s.vec) <= dim
	})
	if !ok || len(s.vec) != dim {
		return false
	}
	to.AppendVector(s.vec)
	return true
}

// list reads the elements of a list.
func (s *scanner) list(to *column.Builder, t value.Type) bool {
	s.elems = s.elems[:0]
	ok := s.array(func() bool {
		var v value.Value
		switch t.Kind {
		case value.String:
			text, ok := s.text()
			if !ok {
				return false
			}
			v = value.OfString(view(text))
		case value.I32:
			n, ok := s.integer(t.Kind)
			if !ok {
				return false
			}
			v = value.OfI32(int32(n))
		case value.I64:
			n, ok := s.integer(t.Kind)
			if !ok {
				return false
			}
			v = value.OfI64(n)
		case value.F64:
			f, ok := s.float(t.Kind)
			if !ok {
				return false
			}
			v = value.OfF64(f)
		default:
			return false
		}
		s.elems = append(s.elems, v)
		return true
	})
	return ok && to.Append(value.OfList(t.Kind, s.elems)) == nil
}

// array reads an array. It calls `elem` at each element, and `elem` reads the element.
func (s *scanner) array(elem func() bool) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		if s.space(); !elem() {
			return false
		}
		if s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// integer reads a value of a kind that is stored as an integer.
func (s *scanner) integer(k value.Kind) (int64, bool) {
	quoted := s.i < len(s.b) && s.b[s.i] == '"'
	switch k {
	case value.Bool:
		if s.literal("true") {
			return 1, true
		}
		return 0, s.literal("false")
	case value.I32, value.U32, value.I64, value.U64:
		if quoted {
			return 0, false
		}
		n, ok := s.whole()
		switch k {
		case value.I32:
			ok = ok && n >= math.MinInt32 && n <= math.MaxInt32
		case value.U32:
			ok = ok && n >= 0 && n <= math.MaxUint32
		case value.U64:
			ok = ok && n >= 0
		}
		return n, ok
	}
	return s.textOf(k)
}

// textOf reads a value of a kind that has its own text form.
func (s *scanner) textOf(k value.Kind) (int64, bool) {
	switch {
	case !k.HasText():
		return 0, false
	case s.i < len(s.b) && s.b[s.i] == '"':
		text, ok := s.text()
		if !ok {
			return 0, false
		}
		n, err := k.ParseBits(view(text))
		return n, err == nil
	case k.Integer() == "":
		return 0, false
	}
	n, ok := s.whole()
	if !ok {
		return 0, false
	}
	v, err := k.OfInteger(n)
	return int64(v.Bits()), err == nil
}

// batch returns the batch of the type with this name, or nil if the type does not exist.
func (p *parser) batch(e plan.Entity, name []byte) *batch {
	last := p.last[e]
	if last != nil && p.lastName[e] == string(name) {
		return last
	}
	t := p.schema.Type(e, string(name))
	if t == nil || p.hides(t, -1) || t.Entity == plan.Edge && (p.schema.EndType(t, false).Of != nil || p.schema.EndType(t, true).Of != nil) {
		return nil // the full parser reads ends that are objects
	}
	b := p.rows(t)
	p.last[e], p.lastName[e] = b, string(name)
	return b
}
