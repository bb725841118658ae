package naive

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// members are the members of a JSON object.
type members map[string]jsontext.Value

// parse decodes one line into the item `it`, and returns the faults of the line.
func (l *load) parse(line []byte, it *item) []*engine.LineError {
	var m members
	if err := json.Unmarshal(line, &m); err != nil || m == nil {
		return fault("", "the line is not a JSON object: %v", err)
	}
	allowed := []string{"type", "data", "sources"}
	nodeType, isNode := m["type"]
	edgeType, isEdge := m["edge"]
	if isNode == isEdge {
		return fault("", "a line must have either type or edge")
	}
	if isEdge {
		allowed = []string{"edge", "from", "to", "data", "sources"}
	}
	if l.opts.Changes != nil {
		if allowed = append(allowed, "was"); m["delete"] != nil {
			allowed = []string{"type", "edge", "delete"}
		}
	}
	var errs []*engine.LineError
	for name := range m {
		if !slices.Contains(allowed, name) {
			errs = append(errs, fault(name, "a line cannot have a member of this name")...)
		}
	}
	isDelete, faults := l.changed(m, it)
	if errs = append(errs, faults...); isDelete {
		return errs
	}
	if raw, ok := m["sources"]; ok {
		text, err := jsonString(raw)
		if err == nil && text != "" {
			it.claims, err = parseClaims(text)
		}
		if err != nil {
			errs = append(errs, fault("sources", "%v", err)...)
		}
	}
	if isNode {
		errs = append(errs, l.node(nodeType, it)...)
	} else {
		errs = append(errs, l.edge(edgeType, m, it)...)
	}
	if it.typeKey.name == "" {
		return errs
	}
	var data members
	if raw, ok := m["data"]; ok {
		if err := json.Unmarshal(raw, &data); err != nil || data == nil {
			return append(errs, fault("data", "the data is not a JSON object")...)
		}
	}
	return append(errs, l.data(data, it)...)
}

// fault returns a list of one error about a field of the line.
func fault(field, format string, args ...any) []*engine.LineError {
	return []*engine.LineError{{Field: field, Err: fmt.Errorf(format, args...)}}
}

// node reads the type of a node.
func (l *load) node(name jsontext.Value, it *item) []*engine.LineError {
	s, err := jsonString(name)
	if err != nil || l.after.schema.Node(s) == nil {
		return fault("type", "there is no node type %s", name)
	}
	it.typeKey = typeKey{plan.Node, s}
	if l.hides(it.typeKey) {
		return fault("type", "there is no node type %s", s)
	}
	return nil
}

// edge reads the type and the endpoints of an edge.
func (l *load) edge(name jsontext.Value, m members, it *item) []*engine.LineError {
	s, err := jsonString(name)
	if err != nil || l.after.schema.Edge(s) == nil {
		return fault("edge", "there is no edge type %s", name)
	}
	it.typeKey = typeKey{plan.Edge, l.after.schema.Edge(s).Name}
	if l.hides(it.typeKey) {
		return fault("edge", "there is no edge type %s", name)
	}
	var errs []*engine.LineError
	for member, end := range map[string]*value.Value{"from": &it.from, "to": &it.to} {
		if *end, err = l.end(it.typeKey.name, member == "to", m[member]); err != nil {
			errs = append(errs, fault(member, "the endpoint is missing or wrong: %v", err)...)
		}
	}
	return errs
}

// end decodes an end of an edge: a string or, at an interface, an object with the type and the id of a node.
func (l *load) end(edge string, to bool, raw jsontext.Value) (value.Value, error) {
	typ := l.after.schema.Edge(edge)
	if _, isInterface := typ.End(to); !isInterface {
		id, err := jsonString(raw)
		return value.OfString(id), err
	}
	var m members
	if err := json.Unmarshal(raw, &m); err != nil || len(m) != 2 {
		return value.Null, fmt.Errorf("%s is not an object with type and id", raw)
	}
	node, err := jsonString(m["type"])
	if err != nil {
		return value.Null, err
	}
	id, err := jsonString(m["id"])
	if err == nil && !endFits(l.after.schema, typ, to, node) {
		err = fmt.Errorf("%q cannot be at this end", node)
	}
	return plan.OfNode(node, id), err
}

// data decodes the properties and the id.
func (l *load) data(data members, it *item) []*engine.LineError {
	var errs []*engine.LineError
	for name, raw := range data {
		p := l.property(it.typeKey.kind, it.typeKey.name, name)
		if rightsOf(l.opts.Reads, it.typeKey.kind, it.typeKey.name).Hides(name) {
			p = nil // a hidden property cannot be named
		}
		switch {
		case p != nil && raw.Kind() == 'n':
			it.cleared[name] = true
		case p != nil:
			v, err := decode(raw, p.Type)
			if err != nil {
				errs = append(errs, &engine.LineError{Field: "data." + name, Err: err})
				continue
			}
			it.props[name] = v
		case name == "id":
			id, err := l.id(raw, it)
			if err != nil {
				errs = append(errs, &engine.LineError{Field: "data.id", Err: err})
			}
			it.id = id
		default:
			errs = append(errs, fault("data."+name, "%s has no such property", it.typeKey.name)...)
		}
	}
	return errs
}

// id decodes an explicit id. If the key of a node is a single property, the id may have every
// spelling that a value of this property may have.
func (l *load) id(raw jsontext.Value, it *item) (string, error) {
	if it.typeKey.kind == plan.Node {
		n := l.after.schema.Node(it.typeKey.name)
		if len(n.Key) == 1 {
			if v, err := decode(raw, n.Property(n.Key[0]).Type); err == nil {
				return value.Text(v), nil
			}
		}
	}
	id, err := jsonString(raw)
	if err == nil && id == "" {
		err = errors.New("the id is empty")
	}
	return id, err
}

// decode decodes a value of a type.
func decode(raw jsontext.Value, t value.Type) (value.Value, error) {
	switch {
	case t.List:
		var elems []jsontext.Value
		if err := json.Unmarshal(raw, &elems); err != nil || elems == nil {
			return value.Null, fmt.Errorf("%s is not a list", raw)
		}
		vals := make([]value.Value, len(elems))
		for i, e := range elems {
			v, err := decode(e, t.Elem())
			if err != nil {
				return value.Null, err
			}
			vals[i] = v
		}
		return value.OfList(t.Kind, vals), nil
	case t.Kind == value.Vector:
		return decodeVector(raw, t.Dim)
	case t.Kind == value.Bool:
		var b bool
		if err := json.Unmarshal(raw, &b); err != nil || raw.Kind() == 'n' {
			return value.Null, fmt.Errorf("%s is not a Bool", raw)
		}
		return value.OfBool(b), nil
	case t.Kind.IsInteger():
		return decodeInteger(raw, t.Kind)
	case t.Kind.IsFloat():
		f, err := strconv.ParseFloat(string(raw), map[value.Kind]int{value.F32: 32, value.F64: 64}[t.Kind])
		if err != nil || raw.Kind() != '0' {
			return value.Null, fmt.Errorf("%s is not of type %s", raw, t.Kind)
		}
		if t.Kind == value.F32 {
			return value.OfF32(float32(f)), nil
		}
		return value.OfF64(f), nil
	case t.Kind.HasText():
		return decodeText(raw, t.Kind)
	}
	s, err := jsonString(raw)
	if err != nil {
		return value.Null, err
	}
	if t.Kind == value.Decimal {
		return decimal(s, t)
	}
	if t.Kind == value.Blob {
		b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "base64:"))
		return value.OfBlob(b), err
	}
	return value.OfString(s), nil
}

// decimal parses a number as a value of a Decimal type.
func decimal(s string, t value.Type) (value.Value, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok || !decimalForm.MatchString(s) {
		return value.Null, fmt.Errorf("%q is not a decimal", s)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale())), nil)
	v, ok := value.OfDecimal(r.Mul(r, new(big.Rat).SetInt(scale)).Num(), t.Scale())
	if !ok || !r.IsInt() || !fitsDecimal(v, t) {
		return value.Null, fmt.Errorf("%s is not of type %s", s, t)
	}
	return v, nil
}

// decimalForm matches a sign, digits, and a point with digits.
var decimalForm = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?$`)

// fitsDecimal reports whether a Decimal has the scale of a type, and no more digits than the type.
func fitsDecimal(v value.Value, t value.Type) bool {
	digits := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(value.Text(v)), "0")
	return v.Scale() == t.Scale() && len(digits) <= t.Precision()
}

// decodeInteger decodes a number, or a string that contains one.
func decodeInteger(raw jsontext.Value, kind value.Kind) (value.Value, error) {
	digits := string(raw)
	if raw.Kind() == '"' && (kind == value.I64 || kind == value.U64) {
		digits, _ = jsonString(raw)
	}
	wrong := fmt.Errorf("%s is not of type %s", raw, kind)
	var err error
	var n int64
	var u uint64
	switch kind {
	case value.I32:
		n, err = strconv.ParseInt(digits, 10, 32)
	case value.I64:
		n, err = strconv.ParseInt(digits, 10, 64)
	case value.U32:
		u, err = strconv.ParseUint(digits, 10, 32)
	default:
		u, err = strconv.ParseUint(digits, 10, 64)
	}
	if err != nil {
		return value.Null, wrong
	}
	return value.OfBits(kind, uint64(n)|u), nil
}

// decodeText decodes a value of a kind that JSON lacks and that is written as a string, such as a
// date. Some such kinds may also be written as an integer, such as days since the epoch.
func decodeText(raw jsontext.Value, kind value.Kind) (value.Value, error) {
	if raw.Kind() == '0' && kind.Integer() != "" {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return value.Null, fmt.Errorf("%s is not an integer", raw)
		}
		return kind.OfInteger(n)
	}
	s, err := jsonString(raw)
	if err != nil {
		return value.Null, err
	}
	if kind == value.DateTime && !instantForm.MatchString(s) {
		return value.Null, fmt.Errorf("%s is not an instant in microseconds", raw)
	}
	return kind.Parse(s)
}

// instantForm matches RFC 3339 with at most six digits after the second, and zeros.
var instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6}0*)?([Zz]|[+-]\d\d:\d\d)$`)

// decodeVector decodes an array of dim numbers.
func decodeVector(raw jsontext.Value, dim int) (value.Value, error) {
	var v []float32
	if err := json.Unmarshal(raw, &v); err != nil || len(v) != dim {
		return value.Null, fmt.Errorf("%s is not a vector of %d numbers", raw, dim)
	}
	return value.OfVector(v), nil
}

// jsonString decodes a JSON string.
func jsonString(raw jsontext.Value) (string, error) {
	if raw.Kind() != '"' {
		return "", fmt.Errorf("%s is not a string", raw)
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}
