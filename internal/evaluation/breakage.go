package evaluation

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// call is a call of a tool.
type call struct {
	Tool string `json:"tool"`
	Args any    `json:"args"` // an object, unless the breakage made a text of it
}

// clone returns a deep copy of a call.
func (c call) clone() call { return call{c.Tool, cloned(c.Args)} }

// cloned returns a deep copy of a JSON value.
func cloned(v any) any {
	switch v := v.(type) {
	case object:
		o := make(object, len(v))
		for k, e := range v {
			o[k] = cloned(e)
		}
		return o
	case []any:
		a := make([]any, len(v))
		for i, e := range v {
			a[i] = cloned(e)
		}
		return a
	}
	return v
}

// site is a member of an object in the arguments of a call.
type site struct {
	parent   object  // the object
	of       *schema // the schema of the object
	key      string  // the name of the member
	schema   *schema // the schema of the member; nil if the object is open, like the params of graph_query
	required bool
}

// sites returns the members of the arguments at every depth, in the order of their names.
func sites(v any, s *schema) []site {
	var all []site
	switch v := v.(type) {
	case object:
		if s == nil || s.Properties == nil {
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, site{v, s, k, s.Properties[k], slices.Contains(s.Required, k)})
			all = append(all, sites(v[k], s.Properties[k])...)
		}
	case []any:
		for _, e := range v {
			if s != nil {
				all = append(all, sites(e, s.Items)...)
			}
		}
	}
	return all
}

// breaker breaks a call in one way. Its function changes the call, which is a copy, and reports whether
// the way applies to the call.
type breaker struct {
	name string // in reports
	does string // what it does to the call
	// Free is true if the right value is lost with the breakage, so that the repaired call may have
	// another value that the schema accepts.
	free  bool
	apply func(b *breakage) bool
}

// breakage is a call that is being broken.
type breakage struct {
	call    *call
	names   []string // see Example.Names
	schema  *schema  // of the arguments
	sites   []site
	random  *rand.Rand
	isKnown func(tool string) bool
}

// ways lists the ways in which a call is broken.
var ways = []breaker{
	{"typo", "a key is misspelt", false, (*breakage).misspellKey},
	{"case", "a key is written in another case", false, (*breakage).recaseKey},
	{"missing", "a required key is left out", false, (*breakage).dropKey},
	{"extra", "a key is added that the tool does not take", false, (*breakage).addKey},
	{"type", "a value has another type", false, (*breakage).changeType},
	{"text", "an object is sent as a text", false, (*breakage).quoteObject},
	{"level", "keys are one level too high or too deep", false, (*breakage).moveKeys},
	{"enum", "a value of a fixed set is misspelt", false, (*breakage).misspellEnum},
	{"bound", "a number or a text is outside its bounds", true, (*breakage).exceedBound},
	{"name", "the tool, or a name of the graph or the language, is misspelt", false, (*breakage).misspellName},
}

// broken returns a copy of a call that is broken in one way, or false if the way does not apply. The
// seed, the tool and the way decide about the copy, so that other tools have no effect on it.
func (w *breaker) broken(seed uint64, right call, e *Example, s *schema, isKnown func(string) bool) (call, bool) {
	h := fnv.New64a()
	h.Write([]byte(right.Tool + "\x00" + w.name))
	c := right.clone()
	b := &breakage{&c, e.Names, s, sites(c.Args, s), rand.New(rand.NewPCG(seed, h.Sum64())), isKnown}
	return c, w.apply(b)
}

// pick returns a random element of the slice.
func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// among returns the sites that pass a test.
func (b *breakage) among(test func(s site) bool) []site {
	var some []site
	for _, s := range b.sites {
		if test(s) {
			some = append(some, s)
		}
	}
	return some
}

func (b *breakage) misspellKey() bool {
	some := b.among(func(s site) bool { return len(s.key) >= 3 })
	if len(some) == 0 {
		return false
	}
	s := pick(b.random, some)
	return s.rename(misspelt(b.random, s.key, func(key string) bool { return s.of.Properties[key] != nil }))
}

func (b *breakage) recaseKey() bool {
	if len(b.sites) == 0 {
		return false
	}
	s := pick(b.random, b.sites)
	parts := strings.Split(s.key, "_")
	for i := range parts {
		if i > 0 || len(parts) == 1 {
			parts[i] = upperFirst(parts[i])
		}
	}
	return s.rename(strings.Join(parts, ""))
}

// rename gives the member another name.
func (s site) rename(to string) bool {
	v := s.parent[s.key]
	delete(s.parent, s.key)
	s.parent[to] = v
	return true
}

func upperFirst(s string) string {
	r := []rune(s)
	if len(r) > 0 {
		r[0] = unicode.ToUpper(r[0])
	}
	return string(r)
}

func (b *breakage) dropKey() bool {
	some := b.among(func(s site) bool {
		// An error about a missing object names the members that are required, and not the others that
		// were in it.
		_, isObject := s.parent[s.key].(object)
		return s.required && !isObject
	})
	if len(some) == 0 {
		return false
	}
	s := pick(b.random, some)
	delete(s.parent, s.key)
	return true
}

// unasked lists keys that models like to add.
var unasked = []string{"verbose", "format", "reasoning", "explanation", "timeout_ms", "max_results"}

func (b *breakage) addKey() bool {
	if len(b.schema.Properties) == 0 {
		return false // a tool without arguments ignores the keys that some clients make up
	}
	at := []object{b.call.Args.(object)}
	for _, s := range b.sites {
		if o, ok := s.parent[s.key].(object); ok && s.schema != nil && s.schema.Properties != nil {
			at = append(at, o)
		}
	}
	pick(b.random, at)[pick(b.random, unasked)] = "yes"
	return true
}

func (b *breakage) changeType() bool {
	some := b.among(func(s site) bool { return s.schema != nil && s.schema.kind() != "" && s.schema.kind() != "object" })
	if len(some) == 0 {
		return false
	}
	s := pick(b.random, some)
	old := s.parent[s.key]
	other := map[string][]any{
		"string":  {42.0, true, []any{old}, object{"value": old}},
		"integer": {"many", 2.5, []any{old}, true},
		"number":  {"much", []any{old}, true},
		"boolean": {"yes", 1.0, []any{old}},
		"array":   {"all", object{"items": old}, 1.0},
	}[s.schema.kind()]
	if len(other) == 0 {
		return false
	}
	s.parent[s.key] = pick(b.random, other)
	return true
}

func (b *breakage) quoteObject() bool {
	some := b.among(func(s site) bool { _, ok := s.parent[s.key].(object); return ok })
	if len(some) == 0 {
		if len(b.call.Args.(object)) == 0 {
			return false
		}
		b.call.Args = encoded(b.call.Args)
		return true
	}
	s := pick(b.random, some)
	s.parent[s.key] = encoded(s.parent[s.key])
	return true
}

// encoded returns a value as JSON.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // v was read from JSON
	}
	return string(b)
}

func (b *breakage) moveKeys() bool {
	args := b.call.Args.(object)
	if params, ok := args["params"].(object); ok {
		delete(args, "params")
		for k, v := range params {
			if args[k] == nil {
				args[k] = v
			}
		}
		return true
	}
	if len(args) == 0 {
		return false
	}
	b.call.Args = object{pick(b.random, []string{"arguments", "params", "input"}): args}
	return true
}

func (b *breakage) misspellEnum() bool {
	some := b.among(func(s site) bool {
		_, ok := s.parent[s.key].(string)
		return ok && s.schema != nil && len(s.schema.Enum) > 0
	})
	if len(some) == 0 {
		return false
	}
	s := pick(b.random, some)
	old := s.parent[s.key].(string)
	if b.random.IntN(2) == 0 {
		s.parent[s.key] = upperFirst(old)
	} else {
		s.parent[s.key] = misspelt(b.random, old, func(v string) bool { return slices.Contains(s.schema.Enum, any(v)) })
	}
	return true
}

func (b *breakage) exceedBound() bool {
	some := b.among(func(s site) bool {
		return s.schema != nil && (s.schema.Minimum != nil || s.schema.Maximum != nil || s.schema.Pattern != "")
	})
	if len(some) == 0 {
		return false
	}
	s := pick(b.random, some)
	switch low, high := s.schema.Minimum, s.schema.Maximum; {
	case high != nil && (low == nil || b.random.IntN(2) == 0):
		s.parent[s.key] = *high + 1 + float64(b.random.IntN(1000))
	case low != nil:
		s.parent[s.key] = *low - 1 - float64(b.random.IntN(1000))
	default:
		s.parent[s.key] = "NOT, of course, THIS!"
	}
	return true
}

func (b *breakage) misspellName() bool {
	if len(b.names) == 0 || b.random.IntN(2) == 0 {
		b.call.Tool = misspelt(b.random, b.call.Tool, b.isKnown)
		return true
	}
	name := pick(b.random, b.names)
	to := misspelt(b.random, name, func(n string) bool { return slices.Contains(b.names, n) })
	done := false
	b.call.Args = mapTexts(b.call.Args, func(text string) string {
		if done {
			return text
		}
		after := replaceWord(text, name, to)
		done = after != text
		return after
	})
	return done
}

// mapTexts replaces each text in a value, in the order of the keys.
func mapTexts(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case object:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = mapTexts(v[k], f)
		}
	case []any:
		for i := range v {
			v[i] = mapTexts(v[i], f)
		}
	}
	return v
}

// replaceWord replaces the first occurrence of a word that is not part of a longer one.
func replaceWord(text, word, by string) string {
	for at := 0; word != ""; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || !isWordByte(text[start-1])) && (end == len(text) || !isWordByte(text[end])) {
			return text[:start] + by + text[end:]
		}
		at = end
	}
	return text
}

// isWordByte reports whether a byte is a part of a name.
func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// misspelt returns a word with one slip of a typist: two letters swapped, one left out, or one doubled.
// The result is not taken.
func misspelt(r *rand.Rand, word string, taken func(string) bool) string {
	runes := []rune(word)
	for range 20 {
		i := r.IntN(max(1, len(runes)-1))
		w := slices.Clone(runes)
		switch r.IntN(3) {
		case 0:
			if len(w) > 1 {
				w[i], w[i+1] = w[i+1], w[i]
			}
		case 1:
			if len(w) > 3 {
				w = slices.Delete(w, i, i+1)
			}
		default:
			w = slices.Insert(w, i, w[i])
		}
		if s := string(w); s != word && !taken(s) {
			return s
		}
	}
	return word + word[len(word)-1:]
}
