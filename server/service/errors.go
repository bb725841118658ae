package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// UnknownTool says that no tool has the name, as far as the caller may know.
type UnknownTool struct{ Name string }

// Forbidden says that the caller may see the thing but not do this with it.
type Forbidden struct {
	Action tool.Action
	Branch string // empty for an action on the graph
}

// Rejected says that the text of a query, or of a schema, has faults.
type Rejected struct {
	What        string // what has the faults: "the query text", if empty
	Diagnostics diag.List
	Sources     map[string]string // the texts, by the file names in the diagnostics
	Example     string            // a text of the kind that was wanted, shown beside parse errors
}

// Oversize says that a result is larger than the graph's limits allow, where those say
// to refuse it.
type Oversize struct {
	Rows     int   // that the result has; without MaxRows, those that are too many
	Bytes    int64 // that it would take as JSON: an estimate, from the rows that fit
	MaxRows  int   // zero for no limit
	MaxBytes int
	Single   bool // it is about one row, that no answer has room for

	// Less, if it is not empty, says what to ask for instead: the answer has no rows.
	Less string
}

// Overdue says that a call was stopped because it took longer than it may.
type Overdue struct {
	Limit bool // the server's limit, not one that the client has asked for
	Err   error
}

// Panic is a panic in a call.
type Panic struct {
	Value any
	Stack []byte
}

func (e *UnknownTool) Error() string { return "unknown tool: " + e.Name }

func (e *Forbidden) Error() string {
	if e.Branch == "" {
		return fmt.Sprintf("the policy does not allow %s", e.Action)
	}
	return fmt.Sprintf("the policy does not allow %s on branch %s", e.Action, e.Branch)
}

// Error renders every diagnostic with the part of the source line that it is about.
func (e *Rejected) Error() string {
	var b strings.Builder
	b.WriteString(cmp.Or(e.What, "the query text") + " has errors:\n")
	_ = diag.Render(&b, e.Diagnostics, e.Sources, false) // a Builder takes everything
	if e.Example != "" && slices.ContainsFunc(e.Diagnostics, isParse) {
		b.WriteString("the form is, for example: " + e.Example)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (e *Oversize) Error() string {
	if e.Less != "" {
		return fmt.Sprintf("the answer has %d bytes, wanted at most %d; %s", e.Bytes, e.MaxBytes, e.Less)
	}
	if e.Single {
		return fmt.Sprintf("one row has about %d bytes, wanted at most %d for the whole answer; return fewer columns, or leave the row out", e.Bytes, e.MaxBytes)
	}
	if e.MaxRows == 0 {
		return fmt.Sprintf("the first %d rows have more than the %d bytes that an answer may have; take it in pages with max_rows and page_token, or export it", e.Rows, e.MaxBytes)
	}
	return fmt.Sprintf("the result has %d rows and about %d bytes, wanted at most %d rows and %d bytes; add a limit, or return fewer columns",
		e.Rows, e.Bytes, e.MaxRows, e.MaxBytes)
}

// isParse reports whether a diagnostic is about the form of the text.
func isParse(d diag.Diagnostic) bool { return strings.HasPrefix(string(d.Code), "P") }

func (e *Overdue) Error() string { return e.Err.Error() }
func (e *Overdue) Unwrap() error { return e.Err }

func (e *Panic) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
