// Package breaking classifies the differences between two contracts of a graph as breaking or not
// breaking for the callers of its tools.
package breaking

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// Kind is a kind of change.
type Kind string

// The kinds of changes. Kinds explains them.
const (
	QueryAdded        Kind = "query-added"
	QueryRemoved      Kind = "query-removed"
	QueryRenamed      Kind = "query-renamed"
	ToolRenamed       Kind = "tool-renamed"
	ToolHidden        Kind = "tool-hidden"        // MCP clients do not see it any more
	ToolExposed       Kind = "tool-exposed"       // MCP clients see it now
	ToolsPaired       Kind = "tools-paired"       // two meta tools replace the tools of the queries
	ToolsUnpaired     Kind = "tools-unpaired"     // each query is a tool again
	BecameMutation    Kind = "became-mutation"    // the query writes now
	BecameRead        Kind = "became-read"        // the query does not write any more
	BecameDestructive Kind = "became-destructive" // the mutation may delete or replace data now
	NotDestructive    Kind = "not-destructive"
	NotIdempotent     Kind = "not-idempotent"
	BecameIdempotent  Kind = "became-idempotent"
	TextChanged       Kind = "text-changed" // a title, description, question or demand of a check

	ParamAdded         Kind = "param-added"
	ParamAddedRequired Kind = "param-added-required"
	ParamRemoved       Kind = "param-removed"
	ParamRequired      Kind = "param-required"
	ParamOptional      Kind = "param-optional"
	ParamRetyped       Kind = "param-retyped"   // to a type that rejects old values
	ParamWidened       Kind = "param-widened"   // accepts more values
	ParamTightened     Kind = "param-tightened" // a limit rejects more values
	ParamLoosened      Kind = "param-loosened"  // a limit rejects fewer values
	DefaultRemoved     Kind = "default-removed"
	DefaultChanged     Kind = "default-changed"  // also a new default of an optional parameter
	ArgumentRemoved    Kind = "argument-removed" // an argument of the call other than `params`
	ArgumentAdded      Kind = "argument-added"   // an argument of the call other than `params`
	CallerAdded        Kind = "caller-added"     // a member of actor()
	CallerRemoved      Kind = "caller-removed"   // see CallerAdded

	ColumnAdded       Kind = "column-added"
	ColumnRemoved     Kind = "column-removed"
	ColumnRetyped     Kind = "column-retyped"
	ColumnNullable    Kind = "column-nullable"
	ColumnNotNullable Kind = "column-not-nullable"
	EnumValueAdded    Kind = "enum-value-added"
	EnumValueRemoved  Kind = "enum-value-removed"
	TypeAdded         Kind = "interface-type-added"   // to an interface over which the query ranges
	TypeRemoved       Kind = "interface-type-removed" // see TypeAdded
	ResultRemoved     Kind = "result-removed"         // a member of the answer other than `rows`
	ResultAdded       Kind = "result-added"           // a member of the answer other than `rows`
)

// KindDoc explains what a kind of change means for callers.
type KindDoc struct {
	Kind     Kind
	Breaking bool   // such a change breaks clients
	Why      string // how clients notice the change
}

// Kinds lists all kinds, in the order of the constants.
var Kinds = []KindDoc{
	{QueryAdded, false, "no client calls it yet"},
	{QueryRemoved, true, "calls fail because the tool is unknown"},
	{QueryRenamed, true, "its route under /queries and its name in policies change"},
	{ToolRenamed, true, "calls by the old name fail because the tool is unknown"},
	{ToolHidden, true, "MCP and listings no longer show it"},
	{ToolExposed, false, "MCP and listings now show it"},
	{ToolsPaired, true, "calls by the name of a query fail because the tool is unknown"},
	{ToolsUnpaired, true, "calls to stored_query_list and stored_query_run fail because these tools are unknown"},
	{BecameMutation, true, "calls only read data before; now they write data, and return counts instead of rows"},
	{BecameRead, true, "calls return rows instead of counts"},
	{BecameDestructive, true, "clients have been calling it without asking their users first"},
	{NotDestructive, false, "clients no longer need to ask their users before a call"},
	{NotIdempotent, true, "a client that repeats a call changes the data again"},
	{BecameIdempotent, false, "clients may repeat a call"},
	{TextChanged, false, "people and models read titles, descriptions and questions; programs do not depend on them"},
	{ParamAdded, false, "calls may leave it out"},
	{ParamAddedRequired, true, "calls without it are refused"},
	{ParamRemoved, true, "calls with it are refused: an unknown parameter is an error"},
	{ParamRequired, true, "calls without it are refused"},
	{ParamOptional, false, "calls may leave it out"},
	{ParamRetyped, true, "arguments that were accepted are refused"},
	{ParamWidened, false, "every argument that was accepted is still accepted"},
	{ParamTightened, true, "arguments that were accepted are refused"},
	{ParamLoosened, false, "every argument that was accepted is still accepted"},
	{DefaultRemoved, true, "calls without the parameter are refused, or run without its value"},
	{DefaultChanged, false, "calls without the parameter are accepted, and run with another value"},
	{ArgumentRemoved, true, "calls with it are refused"},
	{ArgumentAdded, false, "calls may leave it out"},
	{CallerAdded, true, "the answer now depends on who calls, and a Go program must say who that is"},
	{CallerRemoved, false, "the answer depends on less of the caller"},
	{ColumnAdded, false, "rows have one more member"},
	{ColumnRemoved, true, "clients that read the column find nothing"},
	{ColumnRetyped, true, "clients that read the column find values of another type"},
	{ColumnNullable, true, "clients that read the column may find null"},
	{ColumnNotNullable, false, "clients no longer find null"},
	{EnumValueAdded, true, "clients may find a value that they do not handle"},
	{EnumValueRemoved, false, "clients no longer find the value"},
	{TypeAdded, false, "rows may show nodes of one more type"},
	{TypeRemoved, false, "rows no longer show nodes of the type"},
	{ResultRemoved, true, "clients that read the member find nothing"},
	{ResultAdded, false, "results have one more member"},
}

// docs maps each kind to its description.
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
	Kind     Kind   `json:"kind"`           // what has changed
	Breaking bool   `json:"breaking"`       // the change breaks clients
	Query    string `json:"query"`          // empty if the change affects all queries
	File     string `json:"file"`           // source file of the query, even if it was removed
	Line     int    `json:"line,omitempty"` // line in File; 0 if unknown, as for a removed query
	Message  string `json:"message"`        // text for people
}

// Compare returns the changes from one contract of a graph to the next: breaking changes first,
// then by query in the order of the contracts.
func Compare(before, after *contract.Contract) []Change {
	c := &comparer{}
	was := byName(before.Queries)
	addedByTool := map[string]*contract.Query{} // new queries, by the name of their tool
	for i := range after.Queries {
		if q := &after.Queries[i]; was[q.Name] == nil {
			addedByTool[q.Tool] = q
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
		} else if next = addedByTool[q.Tool]; next != nil {
			c.query = next
			renamed[next.Name] = true
			c.add(QueryRenamed, "the query %s was renamed to %s", q.Name, next.Name)
		} else {
			c.add(QueryRemoved, "the query %s (tool %s) was removed", q.Name, q.Tool)
			continue
		}
		c.compare(q, next)
	}
	for i := range after.Queries {
		if q := &after.Queries[i]; was[q.Name] == nil && !renamed[q.Name] {
			c.query = q
			c.add(QueryAdded, "the query %s (tool %s) was added", q.Name, q.Tool)
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int { return cmp.Compare(breakingFirst(a), breakingFirst(b)) })
	return c.changes
}

// breakingFirst is a sort key that puts breaking changes before safe ones.
func breakingFirst(c Change) int {
	if c.Breaking {
		return 0
	}
	return 1
}

// byName maps the names of queries to the queries.
func byName(queries []contract.Query) map[string]*contract.Query {
	m := map[string]*contract.Query{}
	for i := range queries {
		m[queries[i].Name] = &queries[i]
	}
	return m
}

// comparer compares the contracts of one query after the other and collects the changes.
type comparer struct {
	query   *contract.Query // the changes of this query are recorded
	changes []Change        // the changes found so far
}

// add appends a change of the current query.
func (c *comparer) add(k Kind, format string, args ...any) {
	c.changes = append(c.changes, Change{
		Kind: k, Breaking: k.Breaking(), Query: c.query.Name, File: c.query.File, Message: fmt.Sprintf(format, args...),
	})
}

// compare compares two versions of one query, and adds the changes.
func (c *comparer) compare(was, is *contract.Query) {
	if was.Tool != is.Tool {
		c.add(ToolRenamed, "the tool %s was renamed to %s", was.Tool, is.Tool)
	}
	switch {
	case was.Exposed && !is.Exposed:
		c.add(ToolHidden, "the tool %s is now hidden", is.Tool)
	case !was.Exposed && is.Exposed:
		c.add(ToolExposed, "the tool %s is now exposed", is.Tool)
	}
	if was.Title != is.Title {
		c.add(TextChanged, "the title is now %q; it was %q", is.Title, was.Title)
	}
	if was.ToolDescription() != is.ToolDescription() {
		c.add(TextChanged, "the description of the tool changed")
	}
	if !slices.Equal(was.Questions, is.Questions) {
		c.add(TextChanged, "the questions that the query answers changed")
	}
	if was.MustBeEmpty != is.MustBeEmpty {
		c.add(TextChanged, "the demand of the check changed")
	}
	c.params(was, is)
	for _, member := range is.Caller {
		if !slices.Contains(was.Caller, member) {
			c.add(CallerAdded, "the query now uses %s", member)
		}
	}
	for _, member := range was.Caller {
		if !slices.Contains(is.Caller, member) {
			c.add(CallerRemoved, "the query no longer uses %s", member)
		}
	}
	switch {
	case !was.Mutation && is.Mutation:
		c.add(BecameMutation, "the query was a read and is now a mutation")
		return // a mutation has no columns, and its hints differ from those of a read
	case was.Mutation && !is.Mutation:
		c.add(BecameRead, "the query was a mutation and is now a read")
		return
	case !was.Destructive && is.Destructive:
		c.add(BecameDestructive, "the tool is now destructive")
	case was.Destructive && !is.Destructive:
		c.add(NotDestructive, "the tool is no longer destructive")
	}
	switch {
	case was.Idempotent && !is.Idempotent:
		c.add(NotIdempotent, "the tool is no longer idempotent")
	case !was.Idempotent && is.Idempotent:
		c.add(BecameIdempotent, "the tool is now idempotent")
	}
	c.interfaces(was.Interfaces, is.Interfaces)
	c.columns("", was.Columns, is.Columns)
	c.results(was, is)
}
