package evaluation

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// The forms of the advice in an error.
var (
	faultLine   = regexp.MustCompile(`^([A-Za-z0-9_.\[\]-]+): (.*)$`)
	suggestion  = regexp.MustCompile("did you mean `?([^`?]+?)`?\\?")
	into        = regexp.MustCompile(`put it inside "([a-z_]+)"`)
	outOf       = regexp.MustCompile(`put it next to "([a-z_]+)"`)
	between     = regexp.MustCompile(`expected (-?[0-9.]+) to (-?[0-9.]+)$`)
	least       = regexp.MustCompile(`expected at least (-?[0-9.]+)$`)
	most        = regexp.MustCompile(`expected at most (-?[0-9.]+)$`)
	unexpected  = regexp.MustCompile("unexpected `([^`]+)`")
	listed      = regexp.MustCompile(`; its properties are ([^;]*)`)
	quotedWord  = regexp.MustCompile("`([^`]+)`")
	nameInError = regexp.MustCompile(`[\p{L}0-9_$/-]*[\p{L}0-9_]`)
)

// repairer corrects a call by the text of its error.
type repairer struct {
	call  *call
	right call    // the values that the caller means
	of    *schema // of the arguments
	did   bool    // the call has changed
}

// repaired returns the call after the corrections that the error names. The argument `right` has the
// values that the caller means. It reports false if the error names no correction.
func repaired(c call, fault string, s *schema, right call) (call, bool) {
	c = c.clone()
	r := &repairer{call: &c, right: right, of: s}
	lines := strings.Split(fault, "\n")
	// Keys and whole objects come first: after that, an argument may no longer be missing.
	for _, rule := range []func(path, detail string){r.key, r.value, r.missing} {
		for _, l := range lines {
			if m := faultLine.FindStringSubmatch(l); m != nil {
				rule(m[1], m[2])
			} else {
				rule("", l)
			}
		}
	}
	if !r.did {
		r.tool(fault)
	}
	if !r.did {
		r.word(fault)
	}
	return c, r.did
}

// key corrects a member that the tool does not take.
func (r *repairer) key(path, detail string) {
	if !strings.HasPrefix(detail, "unknown member") && !strings.HasPrefix(detail, "unknown parameter") {
		return
	}
	parent, name, ok := r.parent(path)
	if !ok {
		return
	}
	v := parent[name]
	switch m := suggestion.FindStringSubmatch(detail); {
	case m != nil:
		if _, taken := parent[m[1]]; taken {
			return
		}
		delete(parent, name)
		parent[m[1]] = v
	case into.MatchString(detail):
		to := into.FindStringSubmatch(detail)[1]
		if parent[to] == nil {
			parent[to] = object{}
		}
		inner, ok := parent[to].(object)
		if !ok {
			return
		}
		delete(parent, name)
		inner[name] = v
	case outOf.MatchString(detail):
		outer, ok := r.call.Args.(object)
		if !ok || outer[name] != nil {
			return
		}
		delete(parent, name)
		outer[name] = v
		if holder := outOf.FindStringSubmatch(detail)[1]; len(parent) == 0 {
			delete(outer, holder)
		}
	case strings.Contains(detail, "put its members in its place"):
		inner, ok := v.(object)
		if !ok {
			return
		}
		delete(parent, name)
		for k, e := range inner {
			parent[k] = e
		}
	case strings.Contains(detail, "known are") || strings.Contains(detail, "none is taken"):
		delete(parent, name)
	default:
		return
	}
	r.did = true
}

// value corrects a value of the wrong kind, or one that is outside its bounds.
func (r *repairer) value(path, detail string) {
	_, wanted, ok := strings.Cut(detail, ", expected ")
	if !ok || !strings.HasPrefix(detail, "found ") {
		return
	}
	old, ok := r.get(r.call.Args, path)
	if !ok {
		return
	}
	number, isNumber := old.(float64)
	meant, known := r.get(r.right.Args, path)
	limit := func(text string) {
		if bound, err := strconv.ParseFloat(text, 64); err == nil {
			r.set(path, bound)
		}
	}
	switch m := suggestion.FindStringSubmatch(wanted); {
	case m != nil:
		r.set(path, m[1])
	case strings.HasPrefix(wanted, "a JSON object"):
		var o object
		if s, ok := old.(string); ok && json.Unmarshal([]byte(s), &o) == nil {
			r.set(path, o)
		}
	case between.MatchString(detail) && isNumber:
		b := between.FindStringSubmatch(detail)
		if low, err := strconv.ParseFloat(b[1], 64); err == nil && number < low {
			limit(b[1])
		} else {
			limit(b[2])
		}
	case least.MatchString(detail):
		limit(least.FindStringSubmatch(detail)[1])
	case most.MatchString(detail):
		limit(most.FindStringSubmatch(detail)[1])
	case known && fits(meant, wanted):
		r.set(path, meant)
	}
}

// fits reports whether a value is of the kind that an error wants.
func fits(v any, wanted string) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(wanted, "a string") || strings.HasPrefix(wanted, "a text") || strings.HasPrefix(wanted, "a date") ||
			strings.HasPrefix(wanted, "an instant") || strings.HasPrefix(wanted, "one of") && strings.Contains(wanted, v)
	case float64, int:
		return strings.HasPrefix(wanted, "an integer") || strings.HasPrefix(wanted, "a number")
	case bool:
		return strings.HasPrefix(wanted, "true or false")
	case []any:
		return strings.HasPrefix(wanted, "an array") || strings.HasPrefix(wanted, "a JSON array")
	case object:
		return strings.HasPrefix(wanted, "a JSON object") || strings.HasPrefix(wanted, "an object")
	}
	return false
}

// missing adds an argument that the error names.
func (r *repairer) missing(path, detail string) {
	if !strings.HasPrefix(detail, "missing") {
		return
	}
	if v, ok := r.get(r.call.Args, path); ok && v != nil {
		return
	}
	if meant, ok := r.get(r.right.Args, path); ok {
		r.set(path, cloned(meant))
	}
}

// tool corrects the name of the tool.
func (r *repairer) tool(fault string) {
	if m := suggestion.FindStringSubmatch(fault); m != nil && strings.Contains(fault, "unknown tool") {
		r.call.Tool, r.did = m[1], true
	}
}

// word replaces a word of the call that the error quotes by the one that it suggests.
func (r *repairer) word(fault string) {
	for l := range strings.Lines(fault) {
		var wanted []string
		if m := suggestion.FindStringSubmatch(fault); m != nil {
			wanted = append(wanted, m[1])
		}
		if m := listed.FindStringSubmatch(l); m != nil {
			wanted = append(wanted, strings.Split(m[1], ", ")...)
		}
		if at := unexpected.FindStringIndex(l); at != nil {
			for _, q := range quotedWord.FindAllStringSubmatch(l[at[1]:], -1) {
				wanted = append(wanted, q[1])
			}
		}
		// The word to replace is the one in the error and in the call that is spelt most like the
		// wanted one.
		for distance := 1; distance <= 3; distance++ {
			for _, to := range wanted {
				for _, from := range nameInError.FindAllString(l, -1) {
					if from == to || !tokenizer.Within(strings.ToLower(from), strings.ToLower(to), distance) {
						continue
					}
					done := false
					r.call.Args = mapTexts(r.call.Args, func(s string) string {
						if done {
							return s
						}
						after := replaceWord(s, from, to)
						done = after != s
						return after
					})
					if done {
						r.did = true
						return
					}
				}
			}
		}
	}
}

// steps cuts a path such as resolutions[0].take into its members and indexes.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
}

// get returns the value at a path.
func (r *repairer) get(v any, path string) (any, bool) {
	for _, s := range steps(path) {
		switch x := v.(type) {
		case object:
			e, ok := x[s]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// parent returns the object with the member at a path, and the name of the member.
func (r *repairer) parent(path string) (object, string, bool) {
	all := steps(path)
	if len(all) == 0 {
		return nil, "", false
	}
	v, ok := r.get(r.call.Args, strings.Join(all[:len(all)-1], "."))
	o, isObject := v.(object)
	_, has := o[all[len(all)-1]]
	return o, all[len(all)-1], ok && isObject && has
}

// set sets the value at a path, and makes the objects on the way to it that are missing.
func (r *repairer) set(path string, to any) {
	all := steps(path)
	if len(all) == 0 {
		r.call.Args, r.did = to, true
		return
	}
	v := r.call.Args
	for i, s := range all {
		last := i == len(all)-1
		switch x := v.(type) {
		case object:
			if last {
				x[s] = to
			} else if x[s] == nil {
				x[s] = object{}
			}
			v = x[s]
		case []any:
			at, err := strconv.Atoi(s)
			if err != nil || at < 0 || at >= len(x) {
				return
			}
			if last {
				x[at] = to
			}
			v = x[at]
		default:
			return
		}
	}
	r.did = true
}
