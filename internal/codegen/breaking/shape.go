package breaking

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// schema holds the parts of a JSON Schema that the contract does not state elsewhere.
type schema struct {
	Properties map[string]*schema `json:"properties"` // by property name
	Minimum    *json.Number       `json:"minimum"`    // nil if there is no limit
	Maximum    *json.Number       `json:"maximum"`    // nil if there is no limit
	Pattern    string             `json:"pattern"`    // regular expression for a text, or ""
	Items      *schema            `json:"items"`      // schema of the elements of a list
}

// parseSchema decodes a schema. If it cannot be decoded, the result has no properties.
func parseSchema(raw json.RawMessage) *schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return &schema{}
	}
	return &s
}

// property returns the schema of a property, or an empty schema if there is none.
func (s *schema) property(name string) *schema {
	if p := s.Properties[name]; p != nil {
		return p
	}
	return &schema{}
}

// params compares the parameters of two versions of a query.
func (c *comparer) params(was, is *contract.Query) {
	before, after := parseSchema(was.InputSchema), parseSchema(is.InputSchema)
	for _, p := range was.Params {
		i := slices.IndexFunc(is.Params, func(q contract.Param) bool { return q.Name == p.Name })
		if i < 0 {
			c.add(ParamRemoved, "the parameter %s was removed", p.Name)
			continue
		}
		next := &is.Params[i]
		c.param(&p, next)
		c.accepted(&p, next, was.Interfaces, is.Interfaces)
		a, b := before.property("params").property(p.Name), after.property("params").property(p.Name)
		a, b = limits(a, &p), limits(b, next)
		switch {
		case p.Type == next.Type:
			c.bounds(p.Name, a, b)
			c.pattern(p.Name, a, b)
		case wider(p.Type, next.Type):
			// The wider type drops the bounds of the narrower one and may have a pattern of its
			// own. Both follow from the change of type, so only tightened bounds are reported.
			inner := &comparer{query: c.query}
			inner.bounds(p.Name, a, b)
			for _, change := range inner.changes {
				if change.Kind == ParamTightened {
					c.changes = append(c.changes, change)
				}
			}
		}
	}
	c.added(was.Params, is.Params)
	if was.Mutation == is.Mutation { // reads and mutations have different run options
		c.members(before, after, []string{"params"}, ArgumentRemoved, ArgumentAdded, "argument")
	}
}

// added records the parameters, or the fields of records, that only the later version has.
func (c *comparer) added(was, is []contract.Param) {
	for _, p := range is {
		switch {
		case slices.ContainsFunc(was, func(q contract.Param) bool { return q.Name == p.Name }):
		case p.Optional:
			c.add(ParamAdded, "the optional parameter %s: %s was added", p.Name, p.Type)
		default:
			c.add(ParamAddedRequired, "the required parameter %s: %s was added", p.Name, p.Type)
		}
	}
}

// fields compares the fields of the records in two versions of a parameter. The order of the fields
// makes no difference to callers.
func (c *comparer) fields(was, is []contract.Param) {
	for _, f := range was {
		i := slices.IndexFunc(is, func(o contract.Param) bool { return o.Name == f.Name })
		if i < 0 {
			c.add(ParamRemoved, "the parameter %s was removed", f.Name)
			continue
		}
		c.param(&f, &is[i])
	}
	c.added(was, is)
}

// limits returns the limits of a parameter's values or, for a list, of its elements. They are those
// of `s`, the schema of the parameter. The schema cannot express every limit; limits that it lacks
// come from the contract.
func limits(s *schema, p *contract.Param) *schema {
	if s.Items != nil {
		s = s.Items
	}
	own := *s
	lo, hi, _ := strings.Cut(p.Range, "..")
	for _, end := range []struct {
		text string
		dst  **json.Number
	}{{lo, &own.Minimum}, {hi, &own.Maximum}} {
		if n := json.Number(end.text); *end.dst == nil && n != "" {
			*end.dst = &n
		}
	}
	if p.Check != "" {
		own.Pattern = p.Check
	}
	return &own
}

// defaults compares the default of a parameter in two versions.
func (c *comparer) defaults(was, is *contract.Param) {
	switch before, after := string(was.Default), string(is.Default); {
	case before == after:
	case after == "":
		c.add(DefaultRemoved, "the parameter %s no longer has the default %s", is.Name, before)
	case before != "":
		c.add(DefaultChanged, "the default of the parameter %s is now %s; it was %s", is.Name, after, before)
	case was.Optional:
		c.add(DefaultChanged, "the parameter %s now has the default %s", is.Name, after)
	}
}

// param compares two versions of a parameter.
func (c *comparer) param(was, is *contract.Param) {
	c.defaults(was, is)
	switch {
	case was.Optional && !is.Optional:
		c.add(ParamRequired, "the parameter %s is now required", is.Name)
	case !was.Optional && is.Optional:
		c.add(ParamOptional, "the parameter %s is now optional", is.Name)
	}
	if was.Description() != is.Description() {
		c.add(TextChanged, "the description of the parameter %s changed", is.Name)
	}
	if was.Node != is.Node && was.Node != "" && is.Node != "" {
		c.add(ParamRetyped, "the parameter %s is now the id of a node of the type %s; it was one of the type %s", is.Name, is.Node, was.Node)
	}
	if was.Type == is.Type {
		return
	}
	before, wasRecords := recordFields(was)
	after, isRecords := recordFields(is)
	if wasRecords && isRecords {
		c.fields(before, after)
		return
	}
	gone, came, both := enumChange(was.Type, is.Type)
	switch {
	case both && len(gone) > 0:
		c.add(ParamTightened, "the parameter %s no longer accepts %s", is.Name, strings.Join(gone, ", "))
		if len(came) > 0 {
			c.add(ParamLoosened, "the parameter %s now accepts %s", is.Name, strings.Join(came, ", "))
		}
	case both && len(came) > 0:
		c.add(ParamLoosened, "the parameter %s now accepts %s", is.Name, strings.Join(came, ", "))
	case both: // the same values in another order
	case wider(was.Type, is.Type):
		c.add(ParamWidened, "the type of the parameter %s is now %s; it was %s", is.Name, is.Type, was.Type)
	default:
		c.add(ParamRetyped, "the type of the parameter %s is now %s; it was %s", is.Name, is.Type, was.Type)
	}
}

// bounds compares the bounds of a parameter.
func (c *comparer) bounds(name string, was, is *schema) {
	bound := func(what string, was, is *json.Number, sign int) {
		switch {
		case was == nil && is == nil || was != nil && is != nil && *was == *is:
		case was == nil:
			c.add(ParamTightened, "the parameter %s now has the %s %s", name, what, *is)
		case is == nil:
			c.add(ParamLoosened, "the parameter %s no longer has a %s; it was %s", name, what, *was)
		default:
			kind := ParamLoosened
			if sign*compareNumbers(*is, *was) > 0 {
				kind = ParamTightened
			}
			c.add(kind, "the %s of the parameter %s is now %s; it was %s", what, name, *is, *was)
		}
	}
	bound("minimum", was.Minimum, is.Minimum, 1)
	bound("maximum", was.Maximum, is.Maximum, -1)
}

// compareNumbers compares two numbers. It compares integers of any size exactly. The result is
// negative if a is less than b, positive if a is greater, and otherwise 0.
func compareNumbers(a, b json.Number) int {
	x, okX := new(big.Int).SetString(a.String(), 10)
	y, okY := new(big.Int).SetString(b.String(), 10)
	if okX && okY {
		return x.Cmp(y)
	}
	f, _ := a.Float64()
	g, _ := b.Float64()
	return cmp.Compare(f, g)
}

// pattern compares the patterns that a parameter must match.
func (c *comparer) pattern(name string, was, is *schema) {
	switch {
	case was.Pattern == is.Pattern:
	case is.Pattern == "":
		c.add(ParamLoosened, "the parameter %s no longer has to match %s", name, was.Pattern)
	default:
		c.add(ParamTightened, "the parameter %s must now match %s", name, is.Pattern)
	}
}

// columns compares columns. If the argument `under` is not empty, columns compares the members of a
// record, and `under` is the prefix of their names in messages.
func (c *comparer) columns(under string, was, is []contract.Column) {
	for _, col := range was {
		name := under + col.Name
		i := slices.IndexFunc(is, func(o contract.Column) bool { return o.Name == col.Name })
		if i < 0 {
			c.add(ColumnRemoved, "the column %s was removed", name)
			continue
		}
		next := &is[i]
		switch {
		case col.Node != next.Node, (col.Fields == nil) != (next.Fields == nil):
			c.add(ColumnRetyped, "the column %s is now %s; it was %s", name, columnType(next), columnType(&col))
		case col.Fields != nil && col.Type != next.Type:
			c.add(ColumnRetyped, "the column %s is now %s; it was %s", name, columnType(next), columnType(&col))
		case col.Fields != nil:
			c.nullable(name, col.Nullable, next.Nullable)
			c.columns(name+".", col.Fields, next.Fields)
		default:
			c.column(name, col.Type, next.Type)
		}
	}
	for _, col := range is {
		if !slices.ContainsFunc(was, func(o contract.Column) bool { return o.Name == col.Name }) {
			c.add(ColumnAdded, "the column %s was added", under+col.Name)
		}
	}
}

// interfaces looks at each interface that variables of both versions of the query stand for. It
// compares the node types that implemented the interface with those that implement it now.
func (c *comparer) interfaces(was, is []contract.Interface) {
	for _, i := range was {
		at := slices.IndexFunc(is, func(o contract.Interface) bool { return o.Name == i.Name })
		if at < 0 {
			continue
		}
		for _, typ := range is[at].Types {
			if !slices.Contains(i.Types, typ) {
				c.add(TypeAdded, "%s now implements %s, over which the query ranges", typ, i.Name)
			}
		}
		for _, typ := range i.Types {
			if !slices.Contains(is[at].Types, typ) {
				c.add(TypeRemoved, "%s no longer implements %s, over which the query ranges", typ, i.Name)
			}
		}
	}
}

// accepted compares the types of the nodes that a parameter accepts, if it is a node of an interface in both
// versions.
func (c *comparer) accepted(was, is *contract.Param, before, after []contract.Interface) {
	types := func(list []contract.Interface) []string {
		if i := slices.IndexFunc(list, func(o contract.Interface) bool { return o.Name == is.Type }); i >= 0 {
			return list[i].Types
		}
		return nil
	}
	if was.Type != is.Type {
		return
	}
	old, now := types(before), types(after)
	for _, typ := range now {
		if !slices.Contains(old, typ) {
			c.add(ParamLoosened, "the parameter %s now accepts a node of the type %s", is.Name, typ)
		}
	}
	for _, typ := range old {
		if !slices.Contains(now, typ) {
			c.add(ParamTightened, "the parameter %s no longer accepts a node of the type %s", is.Name, typ)
		}
	}
}

// columnType returns the text for the type of a column in a message.
func columnType(c *contract.Column) string {
	switch {
	case c.Node != "" && c.Type == "[record]":
		return "a list of " + c.Node + " nodes"
	case c.Node != "":
		return "the node " + c.Node
	case c.Type == "record":
		return "a record"
	case c.Type == "[record]":
		return "a list of records"
	}
	return "of type " + c.Type
}

// column compares the types of two versions of a column.
func (c *comparer) column(name, was, is string) {
	before, wasNull := strings.CutSuffix(was, "?")
	after, isNull := strings.CutSuffix(is, "?")
	c.nullable(name, wasNull, isNull)
	gone, came, both := enumChange(before, after)
	switch {
	case before == after:
	case both:
		if len(came) > 0 {
			c.add(EnumValueAdded, "the column %s may now be %s", name, strings.Join(came, ", "))
		}
		if len(gone) > 0 {
			c.add(EnumValueRemoved, "the column %s is no longer %s", name, strings.Join(gone, ", "))
		}
	default:
		c.add(ColumnRetyped, "the type of the column %s is now %s; it was %s", name, after, before)
	}
}

// nullable compares whether two versions of a column may be null.
func (c *comparer) nullable(name string, was, is bool) {
	switch {
	case !was && is:
		c.add(ColumnNullable, "the column %s may now be null", name)
	case was && !is:
		c.add(ColumnNotNullable, "the column %s is now never null", name)
	}
}

// results compares the members of the structured result.
func (c *comparer) results(was, is *contract.Query) {
	c.members(parseSchema(was.OutputSchema), parseSchema(is.OutputSchema), []string{"rows"}, ResultRemoved, ResultAdded, "member")
}

// members compares the members of two schemas. It skips the members in `but`, which are compared in
// more detail elsewhere.
func (c *comparer) members(was, is *schema, but []string, removed, added Kind, noun string) {
	for _, name := range slices.Sorted(maps.Keys(was.Properties)) {
		if is.Properties[name] == nil && !slices.Contains(but, name) {
			c.add(removed, "the %s %s was removed", noun, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is.Properties)) {
		if was.Properties[name] == nil && !slices.Contains(but, name) {
			c.add(added, "the %s %s was added", noun, name)
		}
	}
}
