package enginetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// hasWords reports whether the values of a property are sentences. Since names can swap, the property need not be the one
// that had the name first.
func (d *drawer) hasWords(typ string, p *catalog.Property) bool {
	return d.wordy[typ+"."+p.Name] && p.Type.Kind == value.String && !p.Type.List && p.Type.Enum == nil
}

// value draws a value of a property. If null is allowed, it sometimes draws null.
func (d *drawer) value(typ string, p *catalog.Property) value.Value {
	if v, ok := d.timeOf(typ, p); ok {
		return v
	}
	if p.Type.Nullable && d.percent(30) {
		return value.Null
	}
	wild, wordy := d.wild[typ+"."+p.Name], d.hasWords(typ, p)
	if !p.Type.List {
		return d.scalar(p.Type, wild, wordy)
	}
	elems := make([]value.Value, d.IntN(4))
	for i := range elems {
		elems[i] = d.scalar(p.Type.Elem(), wild, wordy)
	}
	return value.OfList(p.Type.Kind, elems)
}

// properties draws all properties of an entity. Most values satisfy the rules of the type.
func (d *drawer) properties(kind plan.Entity, typ string) set {
	props := set{}
	for _, p := range properties(d.schema, kind, typ) {
		v := d.value(typ, p)
		for range 4 {
			if d.allowed(kind, typ, p.Name, v) {
				break
			}
			v = d.value(typ, p)
		}
		switch {
		case d.percent(2):
			v = value.Null // draw null even if the property is required
		case p.Type.Enum != nil && d.percent(4):
			v = value.OfString("none")
		}
		if !v.IsNull() || d.percent(50) {
			props[p.Name] = v
		}
	}
	d.orderTimes(kind, typ, props)
	return props
}

// allowed estimates whether a value satisfies the ranges and checks of a property.
func (d *drawer) allowed(kind plan.Entity, typ, name string, v value.Value) bool {
	if kind == plan.Edge || v.IsNull() {
		return true
	}
	n := d.schema.Node(typ)
	for _, r := range n.Ranges {
		if r.Property != name {
			continue
		}
		low, _ := value.Compare(v, *r.Min)
		high := 0
		if r.Max != nil {
			high, _ = value.Compare(v, *r.Max)
		}
		if low < 0 || high > 0 {
			return false
		}
	}
	for _, c := range n.Checks {
		if c.Property == name && (v.Str() == "" || !strings.ContainsAny(v.Str()[:1], "abcd")) {
			return false
		}
	}
	return true
}

// ulidLength is the length of an id that an engine chooses.
const ulidLength = 26

// isULID reports whether an engine has chosen an id. One that it derived from the ends of an edge has small letters.
func isULID(id string) bool { return len(id) == ulidLength && id == strings.ToUpper(id) }

// see records the entities that exist. It ignores ids that an engine chose, because a script that
// uses them could not be repeated.
func (d *drawer) see(ids map[string][]string) {
	for typ, list := range ids {
		ids[typ] = slices.DeleteFunc(list, isULID)
	}
	d.ids = ids
}

// nodeID draws the id of a node, usually of one that exists.
func (d *drawer) nodeID(typ string) string {
	if have := d.ids[key(plan.Node, typ)]; len(have) > 0 && d.percent(94) {
		if d.branching && d.rare.percent(15) {
			return have[0] // so that both sides of a merge often write edges at the same node
		}
		return pick(d, have)
	}
	return fmt.Sprintf("n%d", d.IntN(12))
}

// entityID draws an explicit id for an edge or for a node without a key. If enough entities of the
// type exist, it draws the id of one of those.
func (d *drawer) entityID(kind plan.Entity, typ string) string {
	have := d.ids[key(kind, typ)]
	if kind == plan.Node {
		if len(have) >= maxNodes {
			return pick(d, have)
		}
		return fmt.Sprintf("n%d", d.IntN(maxNodes))
	}
	if len(have) >= maxEdges || len(have) > 0 && d.percent(15) {
		return pick(d, have)
	}
	return fmt.Sprintf("e%d", d.IntN(2*maxEdges))
}

// The maximum sizes of the graphs, small enough that the model can enumerate all assignments
// quickly.
const (
	maxNodes = 10 // of one type
	maxEdges = 20 // of one type
)

// loadLines draws n lines of a load. On average, `badPercent` percent of them are bad.
func (d *drawer) loadLines(n, badPercent int) []string {
	var lines []string
	for range n {
		line := d.loadLine()
		if d.percent(badPercent) {
			line = d.spoil(line)
		}
		lines = append(lines, line)
		if d.percent(5) {
			lines = append(lines, pick(d, []string{"", "  "}))
		}
	}
	return lines
}

// loadLine draws an NDJSON line of a load, for a node or an edge.
func (d *drawer) loadLine() string {
	if e := d.edgeType(); d.percent(55) && (d.linked(e) || d.percent(15)) {
		return d.edgeLine(e)
	}
	return d.nodeLine(pick(d, d.schema.Nodes))
}

// edgeType draws an edge type. It prefers an edge type that connects two node types with nodes.
func (d *drawer) edgeType() *catalog.Edge {
	e := pick(d, d.schema.Edges)
	for range 3 {
		if d.linked(e) {
			break
		}
		e = pick(d, d.schema.Edges)
	}
	return e
}

// linked reports whether both ends of an edge type have nodes.
func (d *drawer) linked(e *catalog.Edge) bool {
	return d.populated(e, false) && d.populated(e, true)
}

// nodeLine draws the NDJSON line of a node of type n.
func (d *drawer) nodeLine(n *catalog.Node) string {
	data := d.jsonProperties(plan.Node, n.Name)
	if n.Key == nil {
		data = append(data, `"id":`+jsonText(d.entityID(plan.Node, n.Name)))
	}
	return fmt.Sprintf(`{"type":%q,"data":{%s}}`, n.Name, strings.Join(data, ","))
}

// edgeLine draws the NDJSON line of an edge of type e.
func (d *drawer) edgeLine(e *catalog.Edge) string {
	return d.edgeLineAt(e, d.endJSON(e, false), d.endJSON(e, true))
}

// edgeLineAt draws the NDJSON line of an edge of type e with the given ends.
func (d *drawer) edgeLineAt(e *catalog.Edge, from, to string) string {
	data := d.jsonProperties(plan.Edge, e.Name)
	if !d.foundByEnds(e) {
		id := d.entityID(plan.Edge, e.Name)
		if had, ok := d.edgeEnds[e.Name+" "+id]; ok && d.rare.percent(90) {
			from, to = had[0], had[1] // because an edge keeps its ends
		}
		d.edgeEnds[e.Name+" "+id] = [2]string{from, to}
		data = append(data, `"id":`+jsonText(id))
	}
	return fmt.Sprintf(`{"edge":%q,"from":%s,"to":%s,"data":{%s}}`, e.Name, from, to, strings.Join(data, ","))
}

// foundByEnds decides whether the line of an edge has no id, because its type has a unique rule for the ends. It must be
// the only rule that has both: the engine and the model choose different ids for an edge whose derived id is taken.
func (d *drawer) foundByEnds(e *catalog.Edge) bool {
	rules := identifying(e)
	return d.loading.Finds() && len(rules) == 1 && len(rules[0]) == 2 && d.rare.percent(60)
}

// spoil makes a line invalid.
func (d *drawer) spoil(line string) string {
	switch d.IntN(6) {
	case 0:
		return line[:len(line)-1]
	case 1:
		return strings.Replace(line, `"data":{`, `"data":{"nope":1,`, 1)
	case 2:
		return strings.Replace(line, `"data":{`, `"more":1,"data":{`, 1)
	case 3:
		return strings.NewReplacer(`"type":"`, `"type":"X`, `"edge":"`, `"edge":"X`).Replace(line)
	case 4:
		return strings.Replace(line, `"p0":`, `"p0":{},"p9":`, 1)
	default:
		return strings.Replace(line, `"data":`, `"data":null,"data":`, 1)
	}
}

// jsonProperties draws the properties of an entity, as members of a JSON object in name order.
func (d *drawer) jsonProperties(kind plan.Entity, typ string) []string {
	props := d.properties(kind, typ)
	var key []string
	if kind == plan.Node {
		key = d.schema.Node(typ).Key
	}
	var data []string
	for _, name := range sortedKeys(props) {
		if omits(d, kind, typ, name) {
			continue
		}
		if d.loading.Patches() && !slices.Contains(key, name) && d.rare.percent(40) {
			continue
		}
		data = append(data, jsonText(name)+":"+d.json(props[name].(value.Value)))
	}
	return data
}

// omits reports whether a write leaves out a property that has a default.
func omits(d *drawer, kind plan.Entity, typ, name string) bool {
	for _, p := range properties(d.schema, kind, typ) {
		if p.Name == name {
			return p.Default != nil && d.rare.percent(50)
		}
	}
	return false
}

// json formats a value in one of its allowed spellings.
func (d *drawer) json(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		var elems []string
		for _, e := range v.Elems() {
			elems = append(elems, d.json(e))
		}
		return "[" + strings.Join(elems, ",") + "]"
	}
	switch v.Kind() {
	case value.Vector:
		return strings.ReplaceAll(fmt.Sprint(v.Vector()), " ", ",")
	case value.Blob:
		return `"` + base64.StdEncoding.EncodeToString(v.Bytes()) + `"`
	case value.String:
		return jsonText(v.Str())
	}
	_, notInteger := v.Kind().OfInteger(int64(v.Code())) // also for an instant with parts of a millisecond
	switch k := v.Kind(); {
	case k.IsFloat() && v.Float() == 0 && math.Signbit(v.Float()): // its text is that of 0
		return "-0"
	case notInteger == nil && d.percent(30):
		return fmt.Sprint(int64(v.Code()))
	case k == value.DateTime && d.percent(30):
		return `"` + d.instant(value.Text(v)) + `"`
	case k.HasText(), k == value.Decimal, k.JSON() == value.JSONWide && d.percent(30):
		return `"` + value.Text(v) + `"`
	}
	return value.Text(v)
}

// instant draws another spelling of an instant. A few spellings are refused: they have digits below the
// microsecond, or a comma.
func (d *drawer) instant(text string) string {
	fraction := strings.TrimSuffix(text, "Z")
	switch d.IntN(20) {
	case 0:
		return fraction + pick(d, []string{"4Z", "0009Z", "0000001Z", "0000000001Z"})
	case 1:
		return strings.Replace(text, ".", ",", 1)
	case 2, 3, 4:
		return fraction + pick(d, []string{"+00:00", "-00:00", "000z", "0000000000Z"})
	}
	return strings.ToLower(text)
}

// jsonText returns a text as a JSON string.
func jsonText(s string) string {
	b, err := json.Marshal(s)
	must(err)
	return string(b)
}

// mode draws a load mode.
func (d *drawer) mode() engine.LoadMode {
	mode := pick(d, []engine.LoadMode{engine.Merge, engine.Merge, engine.Merge, engine.Append, engine.Overwrite})
	if mode == engine.Merge && d.rare.percent(40) {
		return engine.Patch
	}
	if mode == engine.Merge && d.rare.percent(65) {
		return engine.Sync
	}
	return mode
}

// seedData draws lines that load without a violation. It loads each line into a scratch model and
// drops lines that the model rejects.
func (d *drawer) seedData() string {
	scratch := naive.New(sourceText, d.schema, naive.Sound)
	p := &pair{ctx: context.Background(), schema: d.schema, model: scratch}
	var lines []string
	add := func(line string) {
		res, err := scratch.Load(p.ctx, strings.NewReader(line), engine.LoadOptions{Mode: engine.Append})
		if err == nil && res.Commit != nil {
			lines = append(lines, line)
		}
		d.see(p.modelIDs())
	}
	for _, n := range d.schema.Nodes {
		for range d.IntN(maxNodes) {
			add(d.nodeLine(n))
		}
	}
	for _, e := range d.schema.Edges {
		for range d.IntN(maxEdges) {
			add(d.edgeLine(e))
		}
	}
	d.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "\n")
}
