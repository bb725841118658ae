package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// SchemaOptions say how to apply a schema. The branch's head has to be IfCommit, if that
// is set: whoever shows a dry run for approval names the head that it was made on.
type SchemaOptions struct {
	WriteOptions
	// AllowDataLoss permits steps that take values from the graph; see
	// [catalog.Step.Destructive].
	AllowDataLoss bool
	// Hard makes drops of properties hard ones: from the next checkpoint on, what is
	// stored of the head holds the values no longer. Without it they stay in the files
	// until their rows are written anew. Older commits show them either way, for as long
	// as these are kept.
	Hard bool
}

// SchemaChange is the outcome of applying a schema.
type SchemaChange struct {
	// Steps lead from the schema of the head to the one that is applied. A step that the
	// stored data permits has no reason against it, even where the two schemas alone
	// would have one: a type without entities may change in every way, and a property
	// may become required, or its enum narrower, when all of its values fit.
	Steps []catalog.Step
	// Supported reports whether every step can be taken. Only of a dry run it may be
	// false: otherwise the error is an *UnsupportedMigration.
	Supported bool
	// Destructive reports whether a step takes values from the graph.
	Destructive bool
	From, To    string  // the digests of the schemas
	Commit      *Commit // nil when nothing changed, and of a dry run
	Head        Commit  // the branch head afterwards
}

// Digest identifies what is to be done: sha256: and the hash of the two schemas and the
// steps in hex. What was approved is what is applied when the digests agree.
func (c *SchemaChange) Digest() string {
	sum := sha256.Sum256([]byte(c.From + "\n" + c.To + stepLines(c.Steps)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// UnsupportedMigration says that steps to a schema cannot be taken. Each step's Reason
// says why, and what to do instead.
type UnsupportedMigration struct{ Steps []catalog.Step }

// DataLoss says that steps to a schema would take values from the graph, and that this
// was not allowed.
type DataLoss struct{ Steps []catalog.Step }

// ConstraintViolations are the rules of a schema that stored data breaks, at most a
// hundred.
type ConstraintViolations struct {
	Violations []*ConstraintViolation
	More       bool // there are more than the hundred
}

// SchemasDiverge says that two branches cannot be merged: each has a schema that the
// other's does not descend from.
type SchemasDiverge struct {
	Source, Target string // the branches
	// The digests of the schemas of the two, and of their lowest common ancestor.
	SourceSchema, TargetSchema, BaseSchema string
}

func (e *UnsupportedMigration) Error() string {
	return "the schema cannot be applied:" + stepLines(e.Steps)
}

func (e *DataLoss) Error() string {
	return "the schema takes values from the graph; allow data loss to apply it:" + stepLines(e.Steps)
}

func (e *ConstraintViolations) Error() string {
	lines := make([]string, 0, len(e.Violations)+1)
	for _, v := range e.Violations {
		lines = append(lines, v.Error())
	}
	if e.More {
		lines = append(lines, "(there are more)")
	}
	return strings.Join(lines, "\n")
}

func (e *SchemasDiverge) Error() string {
	return fmt.Sprintf("branch %s has schema %s and branch %s has schema %s, and neither descends from the other; "+
		"apply the schema of one to the other, then merge", e.Source, e.SourceSchema, e.Target, e.TargetSchema)
}

// Unwrap returns the violations.
func (e *ConstraintViolations) Unwrap() []error {
	errs := make([]error, len(e.Violations))
	for i, v := range e.Violations {
		errs[i] = v
	}
	return errs
}

func (*UnsupportedMigration) Retryable() bool { return false }
func (*DataLoss) Retryable() bool             { return false }
func (*ConstraintViolations) Retryable() bool { return false }
func (*SchemasDiverge) Retryable() bool       { return false }

func stepLines(steps []catalog.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("\n" + s.String())
	}
	return b.String()
}
