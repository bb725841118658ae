package foreign

import (
	"regexp"
	"slices"
	"strings"
)

// stages reads the clauses of a match in braces. WITH or LET, and a WHERE after it, may stand among them.
func (r *rewriter) stages() {
	defer r.deeper()()
	r.expect("{")
	for staged := false; !r.accept("}"); {
		switch {
		case r.accept("with"):
			r.with()
			staged = true
		case r.accept("let"):
			r.let()
		case staged && (r.is("where") || r.is("filter")):
			r.next()
			r.wherePart()
		case staged && r.is("match"):
			panic(giveUp{})
		default:
			r.item()
		}
	}
}

// with reads the values after WITH, which later parts use by their names.
func (r *rewriter) with() {
	distinct := r.accept("distinct")
	braces := r.accept("{")
	var kept []string
	values := 0 // that are no nodes or edges
	for {
		start := r.peek(0)
		e := r.operand()
		if r.accept("as") {
			t := r.next()
			alias := t.text
			if v, ok := strings.CutPrefix(e, "$"); t.kind != word && t.kind != dollar || ok && !strings.Contains(v, ".") && v != alias {
				panic(giveUp{})
			}
			if r.known(start.text) && r.isAlone(e) {
				kept = append(kept, start.text)
			} else {
				values++
			}
			r.values[alias] = e
			r.computed = append(r.computed, column{alias: alias, text: e, fromWith: true})
		} else if start.kind != word && start.kind != dollar {
			panic(giveUp{})
		} else {
			kept = append(kept, start.text)
			if strings.HasPrefix(e, "$") && r.schema.Node(r.vars[start.text]) != nil {
				r.keys = append(r.keys, e)
			}
		}
		if !r.accept(",") && (!braces || r.is("}")) {
			break
		}
	}
	if braces {
		r.expect("}")
	}
	grouped := slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && (aggregated(c.text) || r.lists(c.text)) })
	if !grouped {
		r.keys = nil
	}
	if distinct && !grouped { // groups are distinct
		refuse(values > 0)
		r.keepDistinct(kept)
	}
	r.drop(kept)
	r.staged = r.staged || grouped
}

// isAlone reports whether an expression is a variable.
func (r *rewriter) isAlone(e string) bool { return strings.HasPrefix(e, "$") && r.bound(e[1:]) }

// drop ends the scope of all variables but some.
func (r *rewriter) drop(kept []string) {
	for _, v := range r.order {
		if !slices.Contains(kept, v) && !slices.Contains(r.dropped, v) {
			r.dropped = append(r.dropped, v)
		}
	}
}

// checkStage checks that another match can be one with those before it: they have no limit, and no part of the text uses
// a variable whose scope has ended.
func (r *rewriter) checkStage() {
	if slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		r.groupsBeforeMatch()
	}
	refuse(r.early || r.pairs || slices.ContainsFunc(r.dropped, r.mentions))
}

// nextStage reads NEXT of ISO GQL between RETURN with variables and MATCH.
func (r *rewriter) nextStage() {
	var kept []string
	for _, c := range r.computed {
		i := slices.IndexFunc(r.order, func(v string) bool { return "$"+lower(v) == c.text })
		refuse(i < 0 || c.alias != "")
		kept = append(kept, r.order[i])
	}
	refuse(len(kept) == 0 || r.limit != "" || r.skip != "" || len(r.groups)+len(r.having) > 0)
	if r.distinct {
		r.keepDistinct(kept)
	}
	r.drop(kept)
	r.columns, r.computed, r.distinct, r.sort = nil, nil, false, nil
}

// valueStage ends a stage of NEXT or of a subselect after FROM: its columns become values, which later parts use by their
// names.
func (r *rewriter) valueStage() {
	refuse(r.distinct || r.limit != "" || r.skip != "" || len(r.having) > 0 || len(r.match) == 0)
	grouped := len(r.groups) > 0
	for i, c := range r.computed {
		if c.fromWith {
			continue
		}
		name := c.alias
		if name == "" {
			name = strings.TrimPrefix(c.text[strings.LastIndexByte(c.text, '.')+1:], "$")
		}
		refuse(r.values[name] != "" && r.values[name] != c.text || wordLen(name) != len(name) || r.lists(c.text))
		grouped = grouped || aggregated(c.text)
		r.values[name] = c.text
		r.computed[i].alias, r.computed[i].fromWith = name, true
	}
	r.staged = r.staged || grouped
	r.columns, r.sort, r.aliases = nil, nil, nil
}

// keepDistinct makes each node of a variable appear once: what the match says of other variables holds if they
// exist.
func (r *rewriter) keepDistinct(kept []string) {
	var mine, rest []cond
	for _, c := range r.match {
		others := slices.ContainsFunc(must(scan(c.render(false))), func(t token) bool {
			return t.kind == mark && t.text == "$" || t.kind == dollar && !slices.ContainsFunc(kept, func(v string) bool { return lower(v) == t.text })
		})
		switch {
		case !others:
			mine = append(mine, c)
		case c.op == "optional":
			panic(giveUp{})
		default:
			rest = append(rest, c)
		}
	}
	r.pairs = r.pairs || slices.ContainsFunc(mine, func(c cond) bool { return traversed.MatchString(c.text) })
	if len(rest) == 0 {
		return
	}
	refuse(len(kept) != 1 || r.schema.Node(r.vars[kept[0]]) == nil)
	binding := "$" + lower(kept[0]) + ": " + r.vars[kept[0]]
	if !slices.ContainsFunc(mine, func(c cond) bool { return c.op == "" && strings.HasPrefix(c.text, binding) }) {
		mine = append([]cond{leaf(binding)}, mine...)
	}
	r.match = append(mine, cond{op: "exists", subs: rest})
}

// groupKeys adds columns for the keys by which WITH groups, and of nodes their ids, because their properties may be
// equal.
func (r *rewriter) groupKeys() {
	if !slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		return
	}
	for _, v := range slices.Clone(r.computed) {
		if v.fromWith && !aggregated(v.text) && !slices.ContainsFunc(r.computed, func(c column) bool { return !c.fromWith && c.text == v.text }) {
			if r.isAlone(v.text) {
				r.keys = append(r.keys, v.text)
			} else {
				r.add(v.alias, v.text)
			}
		}
	}
	for _, v := range r.keys {
		if !slices.ContainsFunc(r.computed, func(c column) bool { return c.text == v || c.text == v+".id" }) {
			r.add(v[1:]+"_id", v+".id")
		}
	}
}

// havingColumns adds columns for the values of WITH that only conditions on groups use.
func (r *rewriter) havingColumns() {
	text := join(r.having)
	for _, v := range slices.Clone(r.computed) {
		if v.fromWith && aggregated(v.text) && !slices.ContainsFunc(r.computed, func(c column) bool { return !c.fromWith && c.alias == v.alias }) &&
			slices.ContainsFunc(must(scan(text+" ")), func(t token) bool { return t.kind == word && t.text == v.alias }) {
			r.add(v.alias, v.text)
		}
	}
}

// havingKeys writes the properties of nodes in conditions on groups as columns.
func (r *rewriter) havingKeys() {
	for i, c := range r.having {
		r.having[i] = c.renamed(func(property string) string {
			for j, col := range r.computed {
				if col.fromWith || col.text != property {
					continue
				}
				if col.alias == "" {
					k := slices.Index(r.columns, property)
					refuse(k < 0)
					col.alias = r.newColumn(property)
					r.computed[j], r.columns[k] = col, property+" as "+col.alias
				}
				return col.alias
			}
			alias := r.newColumn(property)
			r.add(alias, property)
			return alias
		})
	}
}

// keyProperty matches a property of a variable.
var keyProperty = regexp.MustCompile(`\$[a-zA-Z_]\w*\.\w+`)

// renamed returns a condition with other names for the properties in it.
func (c cond) renamed(name func(string) string) cond {
	if c.op == "" {
		return leaf(keyProperty.ReplaceAllStringFunc(c.text, name))
	}
	out := cond{op: c.op}
	for _, s := range c.subs {
		out.subs = append(out.subs, s.renamed(name))
	}
	return out
}

// newColumn returns an alias for a property that no column has.
func (r *rewriter) newColumn(property string) string {
	alias := property[strings.IndexByte(property, '.')+1:]
	for slices.Contains(r.aliases, alias) {
		alias += "2"
	}
	r.aliases = append(r.aliases, alias)
	return alias
}
