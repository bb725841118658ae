package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// SchemaOptions say how to apply a schema. If a caller shows a dry run for approval, it sets
// IfCommit to the head that the dry run was made on. ApplySchema then fails if the head has changed
// since.
type SchemaOptions struct {
	WriteOptions
	// AllowDataLoss permits steps that remove values from the graph; see
	// [catalog.Step.Destructive].
	AllowDataLoss bool
	// IfSchema, if set, is the digest that the schema of the branch must have. Otherwise the error is a *Conflict.
	IfSchema string
	// Hard makes drops of properties hard: from the next checkpoint on, the stored data of the head
	// does not hold the values of dropped properties. Without Hard, the values stay in the files
	// until their rows are rewritten. In both cases, older commits show the values for as long as
	// those commits are kept.
	Hard bool
}

// SchemaChange is the outcome of applying a schema.
type SchemaChange struct {
	// Steps lead from the schema of the head to the schema that is applied. A step that the stored
	// data permits has an empty Reason, even if the two schemas alone would forbid it: a type
	// without entities may change in any way, and a property may become required, or its enum
	// narrower, if all of its values fit.
	Steps []catalog.Step
	// Supported reports whether every step can be taken. It can be false only in a dry run;
	// otherwise the error is an *UnsupportedMigration.
	Supported bool
	// Destructive reports whether a step removes values from the graph.
	Destructive bool
	From, To    string  // digests of the schemas before and after
	Commit      *Commit // nil if nothing changed and in a dry run
	Head        Commit  // the branch head after the call
}

// Digest identifies the steps that a schema change takes: "sha256:" and, in hex, the hash of the
// two schema digests and the steps. If the digest at approval equals the digest at application, the
// approved steps are the applied ones.
func (c *SchemaChange) Digest() string {
	sum := sha256.Sum256([]byte(c.From + "\n" + c.To + stepLines(c.Steps)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// UnsupportedMigration says that some steps to a schema cannot be taken. The Reason of each step
// explains why and what to do instead.
type UnsupportedMigration struct{ Steps []catalog.Step }

// DataLoss says that steps to a schema would remove values from the graph and that the caller did
// not allow this.
type DataLoss struct{ Steps []catalog.Step }

// ConstraintViolations lists the rules of a schema that stored data breaks, at most a hundred.
type ConstraintViolations struct {
	Violations []*ConstraintViolation // at most a hundred
	More       bool                   // there are violations that the list leaves out
}

// SchemasDiverge says that two branches cannot be merged because neither schema descends from the
// other.
type SchemasDiverge struct {
	Source, Target string // the branches
	// The digests of the schemas of the two branches and of their lowest common ancestor.
	SourceSchema, TargetSchema, BaseSchema string
}

func (e *UnsupportedMigration) Error() string {
	return "the schema cannot be applied:" + stepLines(e.Steps)
}

func (e *DataLoss) Error() string {
	return "the schema removes values from the graph; allow data loss to apply it:" + stepLines(e.Steps)
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
	return fmt.Sprintf("branch %s has schema %s, branch %s has schema %s, and neither schema descends from the other; "+
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

// stepLines returns the steps as text, each after a line break.
func stepLines(steps []catalog.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("\n" + s.String())
	}
	return b.String()
}
