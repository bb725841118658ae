// Package wireerror holds the errors of calls, other than the errors of the engine. It maps every
// error, including those of the engine, to the form that clients receive. The mapping is [Explain];
// the HTTP statuses are in package internal/server/internal/envelope.
package wireerror

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// UnknownTool reports that no tool that the caller may see has the name.
type UnknownTool struct {
	Name string
	Near string // the most similar name of a tool that the caller may see, or ""
	Run  string // how to run the stored query of that name, which is no tool of its own; "" if the caller sees no such query
}

// Suggested is an error about an unknown name, with the name that the caller may have meant.
type Suggested struct {
	Err  error
	Near string // a name that the caller may see
}

// Forbidden reports that the caller may see a thing but lacks the permission for an action
// on it.
type Forbidden struct {
	Action tool.Action  // the action that the policy denied
	Branch *tool.Branch // nil for an action on the graph, or on a branch that is not known
	Source string       // for tool.LoadSource
	// OnDrafts says that the policy allows the action on the drafts of the caller, and on no other branch.
	OnDrafts bool
	// NoDraft says that the policy allows the action on the drafts of the caller, who has none with the
	// name in Branch.
	NoDraft bool
	// OutOfScope says that no scope of the caller's token covers the action either.
	OutOfScope bool
}

// PartOnly reports that a call is about all of a branch, and that the policy lets the caller read or change a part of it only.
type PartOnly struct {
	What   string      // what needs all of it, as the subject of a sentence
	Action tool.Action // tool.Change, or an action that reads
	Branch tool.Branch
}

// InsufficientScope reports that the policy allows an action, but no scope of the caller's token covers it.
type InsufficientScope struct {
	Action    tool.Action
	Scope     string // the scope to ask the issuer for; "" if none covers the action
	Challenge string // the value of WWW-Authenticate; may be ""
}

// Protected is the error for a caller that tried to change a branch in another way than by merging
// a proposal, or to create it with changes that nobody reviewed, although the branch changes only by
// merging proposals.
type Protected struct {
	Action tool.Action // the refused action, which the caller may do on other branches
	Branch tool.Branch
	Start  string       // for branch_create, what the branch would start with: a commit and its branch, in words
	From   *tool.Branch // for branch_create, a branch from which it may start, or nil
}

// Rejected reports that the text of a query or a schema has faults.
type Rejected struct {
	What        string            // the faulty text, for the message; "the query text" if empty
	Diagnostics diag.List         // the faults of the text
	Sources     map[string]string // the texts, by the file names in the diagnostics
	Example     string            // a correct text of that kind, shown with parse errors
	Valid       []string          // the names of the queries of the text that have no errors
}

// Unconfirmed reports that a call would remove data or merge a branch, and that nobody has confirmed it.
type Unconfirmed struct {
	What     string // what the call would do, such as "delete the branch review"
	Declined bool   // the user was asked and did not agree
	Changed  bool   // the user agreed, but too late, or to something else
}

// Question returns the question for the user.
func (e *Unconfirmed) Question() string {
	if e.Changed {
		return "Your answer came too late, or the graph has changed since. Still " + e.What + "?"
	}
	return "This call will " + e.What + ". Go on?"
}

func (e *Unconfirmed) Error() string {
	if e.Declined {
		return "the user did not agree to " + e.What + "; nothing was changed"
	}
	return "confirm: missing, expected true, because the call will " + e.What + "; ask the user, then call again with confirm: true"
}

// Oversize reports a result that exceeds the graph's limits. It occurs if the limits are set to
// refuse such a result instead of truncating it.
type Oversize struct {
	Rows      int   // rows in the result; if MaxRows is 0, the rows that exceed MaxBytes
	Bytes     int64 // estimated size as JSON, from the rows that fit
	MaxRows   int   // zero for no limit
	MaxBytes  int   // zero for no limit
	SingleRow bool  // a single row is too large for any answer
	Stored    bool  // the rows are those of a stored query, whose text the caller cannot change

	// Advice, if not empty, says what to request instead, for an answer without rows.
	Advice string
}

// DiffRefused reports that the changes of a commit cannot be listed.
type DiffRefused struct {
	Commit string // id of the commit
	Reason string // one of the values of client.ChangeDiffRefusal.Reason
	Type   string // the first type that differs between the schemas; may be empty
}

// HistoryGap reports that the changes of a commit cannot be listed because a cleanup reclaimed a
// state that they need.
type HistoryGap struct {
	Commit string // the first commit that cannot be read any more
	Feed   bool   // the caller reads the change feed of a branch
}

// EventGap reports that the feed of proposals cannot continue after a cursor, because a cleanup removed events
// after it.
type EventGap struct {
	Oldest string // the oldest cursor with which the feed can continue
}

// Overdue reports a call that was stopped because it exceeded its time limit.
type Overdue struct {
	Limit bool  // true for the server's limit, false for one that the client requested
	Err   error // the error that stopped the call
}

// Panic is a panic in a call.
type Panic struct {
	Value any    // the argument of the call of panic
	Stack []byte // the stack trace of the goroutine
}

func (e *UnknownTool) Error() string {
	if e.Run != "" {
		return "unknown tool: " + e.Name + "; it is a stored query: " + e.Run
	}
	if e.Near == "" {
		return "unknown tool: " + e.Name
	}
	return "unknown tool: " + e.Name + "; did you mean " + e.Near + "?"
}

func (e *Suggested) Error() string { return e.Err.Error() + "; did you mean " + e.Near + "?" }

// Unwrap returns the error about the unknown name.
func (e *Suggested) Unwrap() error { return e.Err }

func (e *DiffRefused) Error() string {
	if e.Reason == client.ReasonParentless {
		return "commit " + e.Commit + " has no parent to compare it with; export it to list its entities"
	}
	changed := ""
	if e.Type != "" {
		changed = ", of type " + e.Type + " first"
	}
	return "commit " + e.Commit + " changed the schema" + changed + ", so that its entities cannot be compared with those of its parent; export both commits instead"
}

func (e *HistoryGap) Error() string {
	if e.Feed {
		return "a cleanup reclaimed the state of commit " + e.Commit + ", which the change feed needs to continue; get the current entities with POST …/changes/baseline and continue from its resume_cursor"
	}
	return "a cleanup reclaimed the state of commit " + e.Commit + ", so the changes can no longer be listed; export the head of the branch instead"
}

func (e *EventGap) Error() string {
	return "the cursor is too old: a cleanup removed proposals with events after it; read the feed with start=latest, then list the proposals again, and continue from the cursor of that page"
}

func (e *Forbidden) Error() string {
	switch {
	case e.Source != "":
		return fmt.Sprintf("the policy does not allow %s for the source %s", e.Action, e.Source)
	case e.Branch == nil:
		return fmt.Sprintf("the policy does not allow %s", e.Action)
	}
	denied := fmt.Sprintf("the policy does not allow %s on branch %s", e.Action, e.Branch)
	switch {
	case e.NoDraft:
		denied += ", because you have no open draft with this name; write to it first; the first write opens it"
	case e.OnDrafts:
		denied += "; it allows this on your drafts: pass draft as the branch, and open a proposal from it later"
	}
	return denied
}

func (e *PartOnly) Error() string {
	return fmt.Sprintf("%s needs the right to %s all of branch %s, and the policy allows you a part of it only; ask an actor who has this right", e.What, cmp.Or(e.Action, tool.Read), e.Branch)
}

func (e *InsufficientScope) Error() string {
	if e.Scope == "" {
		return fmt.Sprintf("the policy allows %s, but no scope of server.oidc.scopes covers it, so no token of the issuer can do it; give the action a scope there, in cluster.yaml", e.Action)
	}
	return fmt.Sprintf("the policy allows %s, but the token lacks the scope %s; ask the issuer for a token with this scope too", e.Action, e.Scope)
}

func (e *Protected) Error() string {
	if e.Action == tool.BranchCreate {
		from := "a branch that changes only by merging proposals"
		if e.From != nil {
			from = "branch " + e.From.Name()
		}
		return fmt.Sprintf("branch %s is protected, so it can be created only from the head or an earlier state of a branch with reviewed changes, and %s is none; create it from %s and bring the other changes in with a proposal, or ask an actor with %s",
			e.Branch, e.Start, from, tool.ProtectionBypass)
	}
	instead := "write to another branch and open a proposal from it (proposal_submit, POST …/proposals, omnigraph proposal submit)"
	switch e.Action {
	case tool.BranchMerge:
		instead = "open a proposal from the source branch and merge the proposal (proposal_submit, POST …/proposals, omnigraph proposal submit)"
	case tool.SchemaApply:
		instead = "change the schema with omnigraph cluster apply"
	case tool.BranchDelete:
		instead = "take the branch out of protected_branches first, in the policy or in cluster.yaml"
		if e.Branch.IsMain() {
			instead = "main can never be deleted"
		}
	}
	return fmt.Sprintf("branch %s is protected and changes only by merging proposals, so %s is refused; %s", e.Branch, e.Action, instead)
}

// Error renders each diagnostic with the part of the source line that it refers to.
func (e *Rejected) Error() string {
	var b strings.Builder
	b.WriteString(cmp.Or(e.What, "the query text") + " has errors" + e.Others("; ") + ":\n")
	_ = diag.Render(&b, e.Diagnostics, e.Sources, false) // writing to a Builder cannot fail
	if e.Example != "" && slices.ContainsFunc(e.Diagnostics, isParse) {
		b.WriteString("write it, for example, like this: " + e.Example)
	}
	return strings.TrimRight(b.String(), "\n")
}

// maxNames is the maximum number of queries that an error names.
const maxNames = 20

// Others returns a sentence that names the queries without errors in the text of the call. The
// sentence begins with the given separator. Others returns "" if there are no such queries.
func (e *Rejected) Others(separator string) string {
	switch names := e.Valid; len(names) {
	case 0:
		return ""
	case 1:
		return separator + "nothing ran; the query " + names[0] + " has no errors: send it alone"
	default:
		return separator + "nothing ran; the queries " + strings.Join(names[:min(len(names), maxNames)], ", ") + " have no errors: send them without the others"
	}
}

func (e *Oversize) Error() string {
	if e.Advice != "" {
		return fmt.Sprintf("the answer has %d bytes, expected at most %d; %s", e.Bytes, e.MaxBytes, e.Advice)
	}
	if e.SingleRow && e.Stored {
		return fmt.Sprintf("an answer with one row has about %d bytes, expected at most %d; call with parameters that leave the row out, or ask the author of the query to return fewer columns", e.Bytes, e.MaxBytes)
	}
	if e.SingleRow {
		return fmt.Sprintf("an answer with one row has about %d bytes, expected at most %d; return fewer columns, or leave the row out", e.Bytes, e.MaxBytes)
	}
	if e.MaxRows == 0 {
		return fmt.Sprintf("the first %d rows are larger than the limit of %d bytes for an answer; read the rows in pages with max_rows and page_token, or export them", e.Rows, e.MaxBytes)
	}
	less := "add a limit, or return fewer columns"
	if e.Stored {
		less = "call with parameters that fewer rows match, or ask the author of the query for a limit or fewer columns"
	}
	return fmt.Sprintf("the result has %d rows and about %d bytes, expected at most %d rows and %d bytes; %s", e.Rows, e.Bytes, e.MaxRows, e.MaxBytes, less)
}

// isParse reports whether a diagnostic is a parse error.
func isParse(d diag.Diagnostic) bool { return strings.HasPrefix(string(d.Code), "P") }

func (e *Overdue) Error() string { return e.Err.Error() }
func (e *Overdue) Unwrap() error { return e.Err }

func (e *Panic) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
