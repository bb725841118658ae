// Package breaking classifies the differences between two contracts of a graph as breaking or not
// breaking for the callers of its tools.
package breaking

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/codegen"
)

// Kind is a kind of change.
type Kind string

// The kinds of changes. Kinds explains them.
const (
	QueryAdded        Kind = "query-added"
	QueryRemoved      Kind = "query-removed"
	QueryRenamed      Kind = "query-renamed"
	ToolRenamed       Kind = "tool-renamed"
	ToolHidden        Kind = "tool-hidden"
	ToolExposed       Kind = "tool-exposed"
	ToolsPaired       Kind = "tools-paired"
	ToolsUnpaired     Kind = "tools-unpaired"
	BecameMutation    Kind = "became-mutation"
	BecameRead        Kind = "became-read"
	BecameDestructive Kind = "became-destructive"
	NotDestructive    Kind = "not-destructive"
	NotIdempotent     Kind = "not-idempotent"
	BecameIdempotent  Kind = "became-idempotent"
	TextChanged       Kind = "text-changed"

	ParamAdded         Kind = "param-added"
	ParamAddedRequired Kind = "param-added-required"
	ParamRemoved       Kind = "param-removed"
	ParamRequired      Kind = "param-required"
	ParamOptional      Kind = "param-optional"
	ParamRetyped       Kind = "param-retyped"
	ParamWidened       Kind = "param-widened"
	ParamTightened     Kind = "param-tightened"
	ParamLoosened      Kind = "param-loosened"
	ArgumentRemoved    Kind = "argument-removed"
	ArgumentAdded      Kind = "argument-added"

	ColumnAdded       Kind = "column-added"
	ColumnRemoved     Kind = "column-removed"
	ColumnRetyped     Kind = "column-retyped"
	ColumnNullable    Kind = "column-nullable"
	ColumnNotNullable Kind = "column-not-nullable"
	EnumValueAdded    Kind = "enum-value-added"
	EnumValueRemoved  Kind = "enum-value-removed"
	ResultRemoved     Kind = "result-removed"
	ResultAdded       Kind = "result-added"
)

// KindDoc explains what a kind of change means for callers.
type KindDoc struct {
	Kind     Kind
	Breaking bool
	Why      string
}

// Kinds lists all kinds, in the order of the constants.
var Kinds = []KindDoc{
	{QueryAdded, false, "nobody calls it yet"},
	{QueryRemoved, true, "calls answer that the tool is unknown"},
	{QueryRenamed, true, "its route under /queries, and its name in policies, are others"},
	{ToolRenamed, true, "calls by the former name answer that the tool is unknown"},
	{ToolHidden, true, "MCP and listings do not have it any more"},
	{ToolExposed, false, "it is listed, and was not"},
	{ToolsPaired, true, "calls by the names of queries answer that the tool is unknown"},
	{ToolsUnpaired, true, "stored_query_list and stored_query_run are unknown tools"},
	{BecameMutation, true, "what was safe to call writes now, and answers with counts instead of rows"},
	{BecameRead, true, "it answers with rows instead of counts"},
	{BecameDestructive, true, "clients that ask before they destroy did not ask"},
	{NotDestructive, false, "clients may stop to ask"},
	{NotIdempotent, true, "clients that repeat a call do more than they did"},
	{BecameIdempotent, false, "a call may be repeated"},
	{TextChanged, false, "titles and descriptions are for reading"},
	{ParamAdded, false, "it may be left out"},
	{ParamAddedRequired, true, "calls without it are refused"},
	{ParamRemoved, true, "calls with it are refused: an unknown parameter is an error"},
	{ParamRequired, true, "calls without it are refused"},
	{ParamOptional, false, "it may be left out"},
	{ParamRetyped, true, "arguments that were taken are refused"},
	{ParamWidened, false, "every argument that was taken is taken"},
	{ParamTightened, true, "arguments that were taken are refused"},
	{ParamLoosened, false, "every argument that was taken is taken"},
	{ArgumentRemoved, true, "calls with it are refused"},
	{ArgumentAdded, false, "it may be left out"},
	{ColumnAdded, false, "rows have one more member"},
	{ColumnRemoved, true, "who reads it finds nothing"},
	{ColumnRetyped, true, "who reads it finds values of another type"},
	{ColumnNullable, true, "who reads it finds null"},
	{ColumnNotNullable, false, "null is not there any more"},
	{EnumValueAdded, true, "who knows all values finds another"},
	{EnumValueRemoved, false, "a value is not there any more"},
	{ResultRemoved, true, "who reads it finds nothing"},
	{ResultAdded, false, "results have one more member"},
}

var docs = func() map[Kind]KindDoc {
	m := map[Kind]KindDoc{}
	for _, d := range Kinds {
		m[d.Kind] = d
	}
	return m
}()

// Breaking reports whether changes of this kind break callers.
func (k Kind) Breaking() bool { return docs[k].Breaking }

// Why explains what changes of this kind mean for callers.
func (k Kind) Why() string { return docs[k].Why }

// Change is one difference between two contracts.
type Change struct {
	Kind     Kind   `json:"kind"`
	Breaking bool   `json:"breaking"`
	Query    string `json:"query"`          // empty if the change affects all queries
	File     string `json:"file"`           // source file of the query, even if it was removed
	Line     int    `json:"line,omitempty"` // line in File; 0 if unknown, as for a removed query
	Message  string `json:"message"`
}

// Compare returns the changes from one contract of a graph to the next: breaking changes first,
// then by query in the order of the contracts.
func Compare(before, after *codegen.Contract) []Change {
	c := &comparer{}
	was := byName(before.Queries)
	tools := map[string]*codegen.ContractQuery{} // new queries, by tool name
	old := map[string]bool{}
	for i := range before.Queries {
		old[before.Queries[i].Name] = true
	}
	for i := range after.Queries {
		if q := &after.Queries[i]; !old[q.Name] {
			tools[q.Tool] = q
		}
	}
	is := byName(after.Queries)
	renamed := map[string]bool{}
	for i := range before.Queries {
		q := &before.Queries[i]
		next := is[q.Name]
		c.query = q
		if next != nil {
			c.query = next
		} else if next = tools[q.Tool]; next != nil {
			c.query = next
			renamed[next.Name] = true
			c.note(QueryRenamed, "the query %s is called %s now", q.Name, next.Name)
		} else {
			c.note(QueryRemoved, "the query %s, tool %s, is gone", q.Name, q.Tool)
			continue
		}
		c.compare(q, next)
	}
	for i := range after.Queries {
		if q := &after.Queries[i]; was[q.Name] == nil && !renamed[q.Name] {
			c.query = q
			c.note(QueryAdded, "the query %s, tool %s, is there", q.Name, q.Tool)
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int { return cmp.Compare(rank(a), rank(b)) })
	return c.changes
}

func rank(c Change) int {
	if c.Breaking {
		return 0
	}
	return 1
}

func byName(queries []codegen.ContractQuery) map[string]*codegen.ContractQuery {
	m := map[string]*codegen.ContractQuery{}
	for i := range queries {
		m[queries[i].Name] = &queries[i]
	}
	return m
}

type comparer struct {
	query   *codegen.ContractQuery // the query whose changes are recorded
	changes []Change
}

func (c *comparer) note(k Kind, format string, args ...any) {
	c.changes = append(c.changes, Change{
		Kind: k, Breaking: k.Breaking(), Query: c.query.Name, File: c.query.File, Message: fmt.Sprintf(format, args...),
	})
}

func (c *comparer) compare(was, is *codegen.ContractQuery) {
	if was.Tool != is.Tool {
		c.note(ToolRenamed, "the tool %s is called %s now", was.Tool, is.Tool)
	}
	switch {
	case was.Exposed && !is.Exposed:
		c.note(ToolHidden, "the tool %s is hidden now", is.Tool)
	case !was.Exposed && is.Exposed:
		c.note(ToolExposed, "the tool %s is exposed now", is.Tool)
	}
	if was.Title != is.Title {
		c.note(TextChanged, "the title is %q now, and was %q", is.Title, was.Title)
	}
	if was.Description != is.Description {
		c.note(TextChanged, "the description is another")
	}
	c.params(was, is)
	switch {
	case !was.Mutation && is.Mutation:
		c.note(BecameMutation, "the read is a mutation now")
		return // a mutation has no columns, and its hints differ from those of a read
	case was.Mutation && !is.Mutation:
		c.note(BecameRead, "the mutation is a read now")
		return
	case !was.Destructive && is.Destructive:
		c.note(BecameDestructive, "the tool is destructive now")
	case was.Destructive && !is.Destructive:
		c.note(NotDestructive, "the tool is not destructive any more")
	}
	switch {
	case was.Idempotent && !is.Idempotent:
		c.note(NotIdempotent, "the tool is not idempotent any more")
	case !was.Idempotent && is.Idempotent:
		c.note(BecameIdempotent, "the tool is idempotent now")
	}
	c.columns("", was.Columns, is.Columns)
	c.results(was, is)
}
