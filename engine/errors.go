package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is implemented by every error type of this package.
type Error interface {
	error
	// Retryable reports whether the same call may succeed later, unchanged.
	Retryable() bool
}

// NotFound says that a graph, branch, commit or entity does not exist.
type NotFound struct {
	What string // "branch", "commit", "node", …
	Name string // name or id of what does not exist
	// Reclaimed is true if a cleanup has removed the state of the commit with the id Name. That
	// commit is still listed.
	Reclaimed bool
}

// Conflict says that something already exists or is in use.
type Conflict struct{ Reason string }

// KeyConflict says that an insert requires a new id, but an entity with that id exists.
type KeyConflict struct {
	Entity string // "node" or "edge"
	Type   string // name of the type
	ID     string // empty if the caller must not see it
	Keyed  bool   // an insert new of a node with a key was refused; a plain insert would replace the node
	Line   int64  // an earlier line of the input with the same entity; 0 if the graph has the entity
	Moved  bool   // the line gives an edge of the graph other ends
	// From and To are the ids of the nodes that a moved edge joins. They are empty if the caller must not see them.
	From, To string
}

// ConstraintViolation says that a write would break a rule of the schema.
type ConstraintViolation struct {
	Entity   string // "node" or "edge"
	Type     string // name of the type
	ID       string // id of the offending entity, if it has one
	Property string // empty if the rule is about the whole entity
	Rule     string // "required", "type", "endpoint", "unique", "range", "check", "enum", "valid", "cardinality", "key", "conflict"
	Detail   string // the value found and the value required
}

// BadArgument says that an argument of a query does not fit its parameter.
type BadArgument struct {
	Param  string // name of the parameter, without $
	Detail string // what is wrong with the argument
}

// SchemaMismatch says that a plan does not fit the schema of a target.
type SchemaMismatch struct {
	Detail string
	// Schema is the digest of the schema of the target if the call was meant for another one; see Target.Schema.
	Schema string
}

// Unsupported says that this engine cannot run a construct of the language.
type Unsupported struct {
	Construct string // the construct, as messages name it
	// NoEmbedder is true if the construct needs vectors of texts and the graph was opened without
	// an Embedder.
	NoEmbedder bool
}

// TooLarge says that a call exceeded a limit.
type TooLarge struct {
	Resource      string // the limited thing, in plural, such as "bytes of one commit"
	Limit, Actual int64  // the limit, and the amount that exceeds it; 0 if the caller must not know it
	Hint          string // what the caller can do about it; may be empty
}

// TextRefused says that the embedding provider refuses a text of a request, for example because it is too long. The same
// request fails again; one with other texts may succeed.
type TextRefused struct{ Reason string }

// Unavailable says that the graph cannot be used now.
type Unavailable struct {
	Reason string // why, and what to do about it

	// RetryAfter is how long the caller should wait before it repeats the call; 0 if that is not
	// known.
	RetryAfter time.Duration
	// Settings says that the fault lasts until somebody changes the settings, for example the key of the embedding provider.
	Settings bool
}

// Busy says that the calls in progress have used up a shared resource.
type Busy struct {
	Resource string // the limited thing, in plural
	Limit    int64  // the amount of the resource that exists
}

// Indeterminate says that the outcome of a commit is unknown: the commit may or may not have become
// durable.
type Indeterminate struct{ Err error }

// Corrupt says that stored data differs from the data that was written.
type Corrupt struct {
	Object string // file or record
	Detail string // what is wrong with the data
}

// NewerFormat says that a newer version of the program wrote stored data, in a format that this version cannot read.
// The data is not corrupt.
type NewerFormat struct {
	Object string // file or record
	Kind   string // what the format number belongs to, such as "manifest"
	Format uint32 // format number of the data
	Newest uint32 // newest format number that this version reads
}

// OlderFormat says that an earlier version of the program wrote stored data, in a format that this version does not
// read. The data is not corrupt.
type OlderFormat struct {
	Object string // file or record
	Kind   string // what the format number belongs to, such as "manifest"
	Format uint32 // format number of the data
	Oldest uint32 // oldest format number that this version reads
}

// LoadErrors lists the bad lines of a load, at most a hundred.
type LoadErrors struct {
	Lines []LineError // in the order of the input
	More  bool        // there are bad lines that Lines leaves out
}

// LineError is one bad line of a load.
type LineError struct {
	Line  int64  // line number, from 1
	Field string // the member at fault, such as data.age; empty if the whole line is
	Err   error  // what is wrong with the line
}

func (e *NotFound) Error() string { return fmt.Sprintf("%s %q not found", e.What, e.Name) }
func (e *Conflict) Error() string { return e.Reason }
func (e *KeyConflict) Error() string {
	help := ""
	if e.Keyed {
		help = ", and insert new does not replace it; use update or upsert to change it, or insert to replace it"
	}
	switch {
	case e.Line > 0 && e.ID == "":
		return fmt.Sprintf("the %s %s is in line %d too; keep one of the lines", e.Entity, e.Type, e.Line)
	case e.Line > 0:
		return fmt.Sprintf("%s %s %q is in line %d too; keep one of the lines", e.Entity, e.Type, e.ID, e.Line)
	case e.Moved:
		between := "between other nodes"
		if e.From != "" {
			between = fmt.Sprintf("from %q to %q", e.From, e.To)
		}
		return fmt.Sprintf("edge %s %q exists %s; an edge keeps its ends, so leave out the id, or delete that edge first", e.Type, e.ID, between)
	}
	if e.ID == "" {
		return fmt.Sprintf("an entity with the id exists already: %s %s%s", e.Entity, e.Type, help)
	}
	return fmt.Sprintf("%s %s %q exists already%s", e.Entity, e.Type, e.ID, help)
}
func (e *ConstraintViolation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Entity, e.Type)
	if e.ID != "" {
		fmt.Fprintf(&b, " %q", e.ID)
	}
	if e.Property != "" {
		fmt.Fprintf(&b, ", property %s", e.Property)
	}
	fmt.Fprintf(&b, ": %s (%s)", e.Detail, e.Rule)
	return b.String()
}
func (e *BadArgument) Error() string    { return fmt.Sprintf("parameter $%s: %s", e.Param, e.Detail) }
func (e *SchemaMismatch) Error() string { return "the query does not fit the schema: " + e.Detail }
func (e *Unsupported) Error() string {
	if e.NoEmbedder {
		return e.Construct + " needs an embedding provider, and the graph has none"
	}
	return e.Construct + " is not supported by this engine"
}
func (e *TooLarge) Error() string {
	text := fmt.Sprintf("%s: %d is more than the limit of %d", e.Resource, e.Actual, e.Limit)
	if e.Actual == 0 {
		text = fmt.Sprintf("%s: more than the limit of %d", e.Resource, e.Limit)
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}
func (e *TextRefused) Error() string { return "a text is refused: " + e.Reason }
func (e *Unavailable) Error() string {
	if e.Settings {
		return "the graph is unavailable until its settings change: " + e.Reason
	}
	return "the graph is unavailable: " + e.Reason
}
func (e *Busy) Error() string {
	return fmt.Sprintf("%s: running calls use all %d of them; try again later", e.Resource, e.Limit)
}
func (e *Indeterminate) Error() string {
	return "the outcome of the commit is unknown: " + e.Err.Error()
}
func (e *Corrupt) Error() string { return fmt.Sprintf("%s is corrupt: %s", e.Object, e.Detail) }
func (e *NewerFormat) Error() string {
	return fmt.Sprintf("%s was written by a newer version of this program: %s format %d is newer than format %d, the newest that this program reads; use a newer program",
		e.Object, e.Kind, e.Format, e.Newest)
}
func (e *OlderFormat) Error() string {
	return fmt.Sprintf("%s was written by an earlier version of this program: %s format %d is older than format %d, the oldest that this program reads; with the version that wrote it, run omnigraph export, and load the result into a new store (branches, history, proposals and drafts stay behind)",
		e.Object, e.Kind, e.Format, e.Oldest)
}
func (e *LoadErrors) Error() string {
	var b strings.Builder
	for i := range e.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Lines[i].Error())
	}
	if e.More {
		b.WriteString("\n(there are more bad lines)")
	}
	return b.String()
}
func (e *PreconditionFailed) Error() string {
	if e.Actual == "" {
		return fmt.Sprintf("the branch is not at commit %s", e.Expected)
	}
	return fmt.Sprintf("the branch is at commit %s, not at %s; read it again", e.Actual, e.Expected)
}
func (e *MergeConflicts) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the branches conflict in %d places", len(e.Conflicts))
	for _, c := range e.Conflicts {
		fmt.Fprintf(&b, "\n%s: %s %s %q", c.Kind, c.Entity, c.Type, c.ID)
		if c.Property != "" {
			fmt.Fprintf(&b, ", property %s", c.Property)
		}
		b.WriteString(": " + c.Message)
	}
	return b.String()
}
func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, %s: %v", e.Line, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// Unwrap returns the errors of the lines.
func (e *LoadErrors) Unwrap() []error {
	errs := make([]error, len(e.Lines))
	for i := range e.Lines {
		errs[i] = &e.Lines[i]
	}
	return errs
}

// Unwrap returns the cause.
func (e *Indeterminate) Unwrap() error { return e.Err }

// Retryable implements [Error].
func (*NotFound) Retryable() bool            { return false }
func (*Conflict) Retryable() bool            { return false }
func (*KeyConflict) Retryable() bool         { return false }
func (*ConstraintViolation) Retryable() bool { return false }
func (*BadArgument) Retryable() bool         { return false }
func (*SchemaMismatch) Retryable() bool      { return false }
func (*Unsupported) Retryable() bool         { return false }
func (*TooLarge) Retryable() bool            { return false }
func (*TextRefused) Retryable() bool         { return false }
func (e *Unavailable) Retryable() bool       { return !e.Settings }
func (*Busy) Retryable() bool                { return true }
func (*Indeterminate) Retryable() bool       { return false }
func (*Corrupt) Retryable() bool             { return false }
func (*NewerFormat) Retryable() bool         { return false }
func (*OlderFormat) Retryable() bool         { return false }
func (*LoadErrors) Retryable() bool          { return false }
func (*MergeConflicts) Retryable() bool      { return false }
func (*PreconditionFailed) Retryable() bool  { return false }

// IsRetryable reports whether err wraps an [Error] that is retryable.
func IsRetryable(err error) bool {
	var e Error
	return errors.As(err, &e) && e.Retryable()
}
