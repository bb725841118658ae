package foreign_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// row is a node or an edge: its properties by name, and its id as id__, or the ids of its ends as from__ and to__.
type row map[string]any

// data has the rows of each type.
type data map[string][]row

// shape says what data the generator makes.
type shape struct {
	nodes, edges int  // of each type, at most
	ties         bool // most values are equal
	holes        bool // some types have no rows
}

// shapes has the data on which each text runs.
var shapes = []shape{
	{nodes: 24, edges: 80},
	{nodes: 24, edges: 80},
	{nodes: 60, edges: 30},
	{nodes: 12, edges: 60, ties: true},
	{nodes: 8, edges: 8, ties: true},
	{nodes: 24, edges: 80, holes: true},
	{nodes: 16, edges: 40, ties: true, holes: true},
	{}, // no rows
}

// generator makes data with what queries get wrong: nulls, equal names, texts that differ in case alone, parallel edges, hubs,
// cycles, nodes without edges, and the values that the texts compare with.
type generator struct {
	shape
	rng    *rand.Rand
	schema *catalog.Schema
	wanted map[string][]string // by name of a property: the values that the texts compare it with
	now    time.Time
}

// literal finds the literals in a query, each with the name of the property before it.
var literal = regexp.MustCompile(`(\w+)\)?(?:: | (?:=|!=|<|<=|>|>=|contains|starts_with|matches|in) |\()\[?((?:(?:date|datetime)\()?"[^"]*"|-?[0-9][0-9.]*)((?:, "[^"]*")*)`)

// member finds the literals that a query seeks in a list.
var member = regexp.MustCompile(`"([^"]*)" in \$\w+\.(\w+)`)

// want notes the literals of a query, and what a regular expression finds.
func (g *generator) want(query string) {
	add := func(name, v string) {
		if v != "" && !slices.Contains(g.wanted[name], v) {
			g.wanted[name] = append(g.wanted[name], v)
		}
	}
	for _, m := range literal.FindAllStringSubmatch(query, -1) {
		for _, v := range strings.Split(m[2]+m[3], `", "`) {
			v = strings.Trim(strings.TrimPrefix(strings.TrimPrefix(v, "datetime("), "date("), `"`)
			add(m[1], v)
			add(m[1], strings.NewReplacer("(?i)", "", `\`, "", "^", "", "$", "").Replace(v))
		}
	}
	for _, m := range member.FindAllStringSubmatch(query, -1) {
		add(m[2], m[1])
	}
}

// make makes the rows of all types.
func (g *generator) make() data {
	out := data{}
	hole := func() bool { return g.holes && g.rng.IntN(4) == 0 }
	for _, n := range g.schema.Nodes {
		if hole() {
			continue
		}
		taken := map[string]bool{}
		for i := 0; len(out[n.Name]) < g.nodes && i < 50*g.nodes; i++ {
			r := row{}
			for _, p := range n.Properties {
				r[p.Name] = g.value(p, n.Ranges, n.Checks, i, n.IsKey(p.Name))
			}
			r["id__"] = fmt.Sprintf("%s-%d", strings.ToLower(n.Name), i)
			switch {
			case len(n.Key) == 1:
				r["id__"] = fmt.Sprint(r[n.Key[0]])
			case len(n.Key) > 1:
				var members []string
				for _, k := range slices.Sorted(slices.Values(n.Key)) {
					members = append(members, fmt.Sprint(r[k]))
				}
				b, _ := json.Marshal(members)
				r["id__"] = string(b)
			}
			if g.takes(taken, r, append(slices.Clone(n.Unique), n.Key)) {
				out[n.Name] = append(out[n.Name], r)
			}
		}
	}
	for _, e := range g.schema.Edges {
		taken := map[string]bool{}
		degree := map[string]int{}
		least, most := 0, math.MaxInt
		if e.Card != nil {
			if least = e.Card.Min; e.Card.Max >= 0 {
				most = e.Card.Max
			}
		}
		add := func(from, to string) {
			r := row{"from__": from, "to__": to, "src": from, "dst": to}
			for _, p := range e.Properties {
				r[p.Name] = g.value(p, nil, nil, len(out[e.Name]), false)
			}
			if from == "" || to == "" || degree[from] >= most || !g.takes(taken, r, e.Unique) {
				return
			}
			delete(r, "src")
			delete(r, "dst")
			degree[from]++
			out[e.Name] = append(out[e.Name], r)
		}
		from, to := out[e.From], out[e.To]
		if len(from) == 0 || len(to) == 0 || least == 0 && hole() {
			continue
		}
		for _, f := range from {
			for i := 0; degree[f["id__"].(string)] < least && i < 100; i++ {
				add(f["id__"].(string), g.skewed(to))
			}
		}
		for len(out[e.Name]) > 0 || least == 0 {
			for range g.edges {
				add(g.skewed(from), g.skewed(to))
			}
			for _, r := range slices.Clone(out[e.Name])[:min(6, len(out[e.Name]))] { // parallel edges, and ways back
				add(r["from__"].(string), r["to__"].(string))
				if e.From == e.To {
					add(r["to__"].(string), r["from__"].(string))
				}
			}
			break
		}
	}
	return out
}

// skewed draws a node, the first ones more often; the last fifth has few edges.
func (g *generator) skewed(rows []row) string {
	return rows[int(float64(len(rows))*0.85*math.Pow(g.rng.Float64(), 1.7))]["id__"].(string)
}

// takes reports whether a row has new values of each set of unique properties, and notes them.
func (g *generator) takes(taken map[string]bool, r row, sets [][]string) bool {
	var marks []string
	for i, set := range sets {
		mark, null := strconv.Itoa(i), false
		for _, p := range set {
			null = null || r[p] == nil
			mark += "\x00" + fmt.Sprint(r[p])
		}
		if len(set) > 0 && !null {
			marks = append(marks, mark)
		}
	}
	if slices.ContainsFunc(marks, func(m string) bool { return taken[m] }) {
		return false
	}
	for _, m := range marks {
		taken[m] = true
	}
	return true
}

// intn draws a number below n, below 2 if most values are equal.
func (g *generator) intn(n int) int {
	if g.ties {
		n = min(n, 2)
	}
	return g.rng.IntN(n)
}

// float draws a number below 1, or one of two.
func (g *generator) float() float64 {
	if g.ties {
		return float64(g.rng.IntN(2)) / 2
	}
	return g.rng.Float64()
}

// value makes a value of a property, for the i-th row of its type.
func (g *generator) value(p *catalog.Property, ranges []catalog.Range, checks []catalog.Check, i int, key bool) any {
	if p.Type.Nullable && (kindOf(p.Type.Kind) == "" || g.rng.IntN(4) == 0) {
		return nil
	}
	if p.Type.List {
		elem := *p
		elem.Type = p.Type.Elem()
		var out []any
		for range 1 + g.intn(3) {
			out = append(out, g.value(&elem, nil, nil, i, false))
		}
		return out
	}
	wanted := g.wanted[p.Name]
	pick := ""
	if key && i < len(wanted) {
		pick = wanted[i]
	} else if !key && len(wanted) > 0 && g.rng.IntN(2) == 0 {
		pick = wanted[g.intn(len(wanted))]
	}
	switch k := p.Type.Kind; {
	case p.Type.Enum != nil:
		if slices.Contains(p.Type.Enum, pick) {
			return pick
		}
		return p.Type.Enum[g.intn(len(p.Type.Enum))]
	case k == value.Bool:
		return g.rng.IntN(2) == 0
	case k == value.Date:
		t := g.time(pick)
		return t.Format("2006-01-02")
	case k == value.DateTime:
		return g.time(pick).Format("2006-01-02T15:04:05Z")
	case k.IsFloat():
		f := math.Round(g.float()*2400) / 4 // an F32 holds a quarter exactly
		if v, err := strconv.ParseFloat(pick, 64); err == nil {
			f = math.Round(v*(0.4+1.2*g.float())*4) / 4
		}
		return bounded(p.Name, f, ranges)
	case k.IsInteger():
		f := float64(g.intn(9))
		if v, err := strconv.ParseFloat(pick, 64); err == nil {
			f = v + float64(g.intn(3)-1)
			if key {
				f = v
			}
		} else if key {
			f = float64(1000 + g.intn(100000))
		}
		if !key {
			f = bounded(p.Name, f, ranges)
			if slices.ContainsFunc(ranges, func(r catalog.Range) bool { return r.Property == p.Name && r.Min != nil }) && pick == "" {
				f = bounded(p.Name, f+1990+float64(g.intn(36)), ranges)
			}
		}
		return int64(max(f, 0))
	}
	return g.text(p.Name, pick, checks, i, key)
}

// bounded moves a number into the range of its property.
func bounded(name string, f float64, ranges []catalog.Range) float64 {
	for _, r := range ranges {
		if r.Property == name {
			if r.Min != nil {
				f = max(f, number(*r.Min))
			}
			if r.Max != nil {
				f = min(f, number(*r.Max))
			}
		}
	}
	return f
}

func number(v value.Value) float64 {
	if v.Kind().IsFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// time makes a moment: near a day that a text names, near the present, or any.
func (g *generator) time(near string) time.Time {
	if t, err := time.Parse("2006-01-02", near[:min(len(near), 10)]); err == nil {
		return t.Add(time.Duration(g.intn(5)-2) * 12 * time.Hour)
	}
	hours := g.intn(24 * 80)
	if g.intn(2) == 0 {
		hours = g.intn(24 * 4000)
	}
	t := g.now.Add(time.Duration(24*20-hours)*time.Hour - time.Duration(g.intn(3600))*time.Second)
	return t.Truncate(time.Second)
}

// words are the texts of properties without a rule. Some differ in case alone, and some look like parts of a query.
var words = []string{"Ann", "ann", "Bo Berg", "history", "History of art", "a climate", "Deep", "deep sea", "count(x)", "x_y", "50% off", "xzy", "wool", "Wool hat", "Lamp", "fragile", "go", "rust"}

// forms are the texts of properties with a rule, by the regular expression.
var forms = map[string]func(i int, w string) string{
	"@":                func(i int, w string) string { return fmt.Sprintf("p%d%s", i, domain(w)) },
	"^[0-9]{4,5}$":     func(i int, _ string) string { return fmt.Sprintf("%04d", 1000+i) },
	"^[0-9X-]+$":       func(i int, w string) string { return digits(w, fmt.Sprintf("0000-%d", i)) },
	"^[a-z][a-z0-9]*$": func(i int, w string) string { return lowers(w, fmt.Sprintf("e%d", i)) },
	"^[0-9-]+X?$":      func(i int, w string) string { return digits(w, fmt.Sprintf("978-%d", i)) },
	"^[A-Z]{3}$":       func(i int, w string) string { return capitals(w, i) },
}

func domain(w string) string {
	if strings.HasPrefix(w, "@") {
		return w
	}
	return "@example.org"
}

func digits(w, or string) string {
	if strings.Trim(w, "0123456789-X") == "" && w != "" {
		return w
	}
	return or
}

func lowers(w, or string) string {
	if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && w != "" {
		return w
	}
	return or
}

func capitals(w string, i int) string {
	if len(w) == 3 && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return w
	}
	return string([]byte{'A' + byte(i/26%26), 'Q', 'A' + byte(i%26)})
}

// text makes a text of a property.
func (g *generator) text(name, pick string, checks []catalog.Check, i int, key bool) string {
	for _, c := range checks {
		if c.Property == name {
			return forms[c.Pattern](i, pick)
		}
	}
	switch {
	case name == "email" && !strings.Contains(pick, "@"):
		return fmt.Sprintf("p%d@example.org", i)
	case name == "email" && strings.HasPrefix(pick, "@"):
		return fmt.Sprintf("p%d%s", i, pick)
	case key && pick != "":
		return pick
	case key:
		return fmt.Sprintf("%s-%d", name, i)
	case pick != "":
		return []string{pick, pick, pick, "the " + pick, pick + " and more", strings.ToUpper(pick[:1]) + pick[1:], strings.ToLower(pick)}[g.intn(7)]
	}
	return words[g.intn(len(words))]
}

// kindOf returns the name of a kind of columns for run.py, or "" for a kind that the other databases do not get.
func kindOf(k value.Kind) string {
	switch {
	case k == value.String, k == value.Bool, k == value.Date, k == value.DateTime:
		return map[value.Kind]string{value.String: "String", value.Bool: "Bool", value.Date: "Date", value.DateTime: "DateTime"}[k]
	case k.IsFloat():
		return "F"
	case k.IsInteger():
		return "I"
	}
	return ""
}

// tables describes the types for run.py.
func tables(s *catalog.Schema) (out []map[string]any) {
	table := func(name string, edge bool, properties []*catalog.Property, more map[string]any) {
		columns := []map[string]any{}
		for _, p := range properties {
			if kind := kindOf(p.Type.Kind); kind != "" {
				columns = append(columns, map[string]any{"name": p.Name, "kind": kind, "list": p.Type.List})
			}
		}
		t := map[string]any{"name": name, "edge": edge, "properties": columns}
		maps.Copy(t, more)
		out = append(out, t)
	}
	for _, n := range s.Nodes {
		table(n.Name, false, n.Properties, map[string]any{"key": append([]string{}, n.Key...)})
	}
	for _, e := range s.Edges {
		table(e.Name, true, e.Properties, map[string]any{"from": e.From, "to": e.To})
	}
	return out
}
