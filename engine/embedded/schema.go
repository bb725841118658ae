package embedded

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/mutate"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// maxViolations bounds the violations that a refused schema reports.
const maxViolations = 100

// ApplySchema puts a schema in force on a branch, as one commit. It rewrites rows only for a @backfill, whose values it
// writes as a mutation does. Otherwise an added column reads as its default or null, a renamed column is found under its old name, and a column with a
// wider type is converted in memory, until a checkpoint or a rewrite writes the rows anew for
// another reason.
//
// ApplySchema checks the stored rows in a snapshot, while writers go on. Then it waits for a running checkpoint, blocks the
// writers of the branch, and checks the rows that were written meanwhile; if these are many, it first checks them in another
// snapshot. A dry run blocks nobody. The error is a *engine.UnsupportedMigration if a step is not
// supported, a *engine.DataLoss if a step is destructive and opts.AllowDataLoss is not set, and a
// *engine.ConstraintViolations if a new type does not have the value of a row, or rows break a new rule.
func (g *Graph) ApplySchema(ctx context.Context, source string, declared *catalog.Schema, opts engine.SchemaOptions) (_ *engine.SchemaChange, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	b, err := g.branches.findToWrite(opts.Branch, opts.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	to, err := schema.New(source, catalog.Digest(declared), declared)
	if err != nil {
		return nil, &engine.SchemaMismatch{Detail: err.Error()}
	}
	w, err := newWrite(opts.WriteOptions)
	if err != nil {
		return nil, err
	}
	if w.receipt != nil {
		w.receipt.Body = receipts.OfSchemaChange(to, opts)
	}
	change := &schemaChange{to: to, opts: opts, now: g.opts.now()}
	for round := 0; ; round++ {
		first, tip, err := g.writer.next(ctx, b, w)
		switch {
		case err != nil:
			return nil, err
		case first != nil:
			return repeatedChange(first, declared, to.Digest, opts)
		}
		state := tip.snap
		if round == 0 && g.opts.examines != nil && !opts.DryRun {
			state = g.opts.examines(b.name, tip.snap)
		}
		if err := change.examine(ctx, state); err != nil && state == tip.snap { // another state was not the tip during this call
			return nil, err
		}
		if opts.DryRun {
			out := change.out
			out.Head = tip.snap.Commit
			return &out, tip.waitDurable(ctx)
		}
		g.layout.RLock() // a checkpoint assumes that the tables of a branch have one schema
		w.staged = g.layout.RUnlock
		first, made, head, err := g.writer.write(ctx, b, w, func(tx *version.Txn) ([]version.Part, error) {
			if w.receipt != nil {
				w.receipt.Schema = catalog.Encode(tx.Schema().Catalog)
			}
			return nil, change.finish(ctx, tx, tip.snap.Schema, round == examineRounds-1)
		})
		switch {
		case errors.Is(err, errExamineAgain):
			continue
		case err != nil:
			return nil, err
		case first != nil:
			return repeatedChange(first, declared, to.Digest, opts)
		}
		out := change.out
		out.Commit, out.Head = made, head
		if opts.Hard && out.Destructive && made != nil {
			g.checkpoints.request()
		}
		return &out, nil
	}
}

const (
	// examineRounds bounds the snapshots in which ApplySchema checks rows while writers go on. After the last one, it checks all
	// that was written since while writers wait, so that it ends also beside writers that write faster than it checks.
	examineRounds = 8
	// maxUnexamined bounds the rows that ApplySchema checks while writers wait, except in the last round.
	maxUnexamined = 4096
)

// errExamineAgain says that a schema change must check another snapshot before it blocks writers.
var errExamineAgain = errors.New("the rows must be examined again")

// schemaChange is a schema change of a branch, which may take several rounds.
type schemaChange struct {
	to       *schema.Schema
	opts     engine.SchemaOptions
	now      value.Value
	out      engine.SchemaChange // of the last round
	examined *version.Examined   // the latest state that fits the change; nil for none
}

// examine checks a state of the branch while writers go on.
func (c *schemaChange) examine(ctx context.Context, state *version.Snapshot) error {
	defer runtime.KeepAlive(state) // the values of violations alias memory of the state until they are copied
	tx := version.Begin(state)
	tx.Resume(c.examined)
	_, err := c.migrate(ctx, tx, c.opts.DryRun)
	if c.examined != nil && errors.As(err, new(*engine.ConstraintViolations)) {
		c.examined = nil // so that the error lists all violations
		return c.examine(ctx, state)
	}
	c.examined = nil
	if err == nil && tx.Change() != nil {
		c.examined = tx.Examined()
	}
	return err
}

// finish adds the change to the transaction of its commit, while writers wait. The last snapshot that was examined had the schema
// `from`. The error is errExamineAgain if too much was written since, or if it breaks the new rules, unless this is the last round.
// Then the error about rows with the same values in a unique rule may list only those that were written since.
func (c *schemaChange) finish(ctx context.Context, tx *version.Txn, from *schema.Schema, last bool) error {
	if !last && tx.Schema() != from {
		return errExamineAgain
	}
	if !last && c.examined != nil {
		if more, err := c.examined.More(ctx, tx.Base(), maxUnexamined); more || err != nil {
			return cmp.Or(err, errExamineAgain)
		}
	}
	tx.Resume(c.examined)
	fits, err := c.migrate(ctx, tx, true)
	if !last && !fits && c.examined != nil && errors.As(err, new(*engine.ConstraintViolations)) {
		return errExamineAgain
	}
	return err
}

// migrate applies the change to a transaction, and sets c.out. If `fill` is false and the rows fit the new schema without the values of
// @backfill, migrate does not compute these values. `fits` reports whether the rows fit without them. If `fits` is true and err is
// a *engine.ConstraintViolations, then values of @backfill cause all violations, and err lists all of them, also if the
// transaction resumes from an examined state.
func (c *schemaChange) migrate(ctx context.Context, tx *version.Txn, fill bool) (fits bool, err error) {
	from, base, to, opts, out := tx.Schema(), tx.Base(), c.to, c.opts, &c.out
	if opts.IfSchema != "" && opts.IfSchema != from.Digest {
		return false, &engine.Conflict{Reason: "the branch has another schema; read it again"}
	}
	steps := stepsTo(from.Catalog, to.Catalog, opts)
	anew := clearPermitted(steps, from, to, base)
	*out = report(steps, from.Digest, to.Digest)
	if refused := refusedSteps(steps, opts.AllowDataLoss); !opts.DryRun && refused != nil {
		return false, refused
	}
	if !out.Supported || from.Digest == to.Digest && from.Source == to.Source {
		return false, nil
	}
	carry := schema.NewCarry(from, to, steps, func(t *schema.Type) bool { return anew[t] })
	to.Descend(from, carry)
	if from.Digest == to.Digest {
		to.Ancestors = from.Ancestors
	}
	carry.Hard = opts.Hard
	ch := schema.Change{Schema: to, Carry: carry}
	inexact, err := tx.Inexact(ctx, ch, maxViolations+1)
	if err = orViolations(inexact, err); err != nil {
		return false, err
	}
	if err := tx.Migrate(ch); err != nil {
		return false, err
	}
	return c.violations(ctx, tx, fill)
}

// violations checks the rows after a change of their schema, and computes the values of @backfill as migrate says.
func (c *schemaChange) violations(ctx context.Context, tx *version.Txn, fill bool) (fits bool, err error) {
	broken, err := tx.Broken(ctx, maxViolations+1)
	fits = err == nil && len(broken) == 0
	if err == nil && len(broken) <= maxViolations && (fill || len(broken) > 0) {
		var bad []*engine.ConstraintViolation
		bad, err = mutate.Backfill(ctx, tx, c.now, tx.Adds, maxViolations+1-len(broken))
		broken = append(broken, bad...)
	}
	if err = orViolations(broken, err); err != nil {
		return fits, err
	}
	for _, v := range tx.Violations(maxViolations + 1) { // by the values of @backfill
		broken = append(broken, v.Err)
	}
	return fits, orViolations(broken, nil)
}

// orViolations returns err, or an error with the first violations, or nil if there are none.
func orViolations(found []*engine.ConstraintViolation, err error) error {
	switch {
	case err != nil:
		return err
	case len(found) > maxViolations:
		return &engine.ConstraintViolations{Violations: found[:maxViolations], More: true}
	case len(found) > 0:
		return &engine.ConstraintViolations{Violations: found}
	}
	return nil
}

// stepsTo returns the steps from one schema to another.
func stepsTo(from, to *catalog.Schema, opts engine.SchemaOptions) []catalog.Step {
	m := catalog.Diff(from, to)
	if opts.Hard {
		m = m.Hard()
	}
	return m.Steps
}

// clearPermitted clears the field Reason of each step that the stored data permits, or that will be
// checked against the data. It also returns each type that has no entities and gets another key,
// other endpoints or other property types: the new table of such a type starts empty.
func clearPermitted(steps []catalog.Step, from, to *schema.Schema, base *version.Snapshot) map[*schema.Type]bool {
	anew := map[*schema.Type]bool{}
	tables := schema.NewCarry(from, to, steps, func(*schema.Type) bool { return false })
	for i := range steps {
		s := &steps[i]
		if s.Reason == "" || s.Code == catalog.AmbiguousRename {
			continue
		}
		e, part := plan.Node, tables.Nodes
		if s.Kind == catalog.EdgeType {
			e, part = plan.Edge, tables.Edges
		}
		t := to.Type(e, s.Type)
		old := part[t.Index].From
		if s.Code == catalog.ChangeEndpoints {
			// An edge type with other endpoints is not carried over, so find it by name.
			old = before(steps, from, t)
		}
		switch empty := old < 0 || base.Table(e, old).Live() == 0; s.Code {
		case catalog.MakeRequired, catalog.NarrowEnum:
			s.Reason = ""
		case catalog.ChangeType, catalog.ChangeKey, catalog.ChangeEndpoints:
			if empty {
				s.Reason, anew[t] = "", true
			}
		default:
			if empty {
				s.Reason = ""
			}
		}
	}
	return anew
}

// before returns the index that an edge type has in the schema `from`, to which the steps apply, or
// -1.
func before(steps []catalog.Step, from *schema.Schema, t *schema.Type) int {
	name := t.Name
	for _, s := range steps {
		if s.Code == catalog.RenameEdge && s.Type == t.Name {
			name = s.Was
		}
	}
	if old := from.Type(plan.Edge, name); old != nil {
		return old.Index
	}
	return -1
}

// report describes a change by its steps and the digests of the schemas before and after it.
func report(steps []catalog.Step, from, to string) engine.SchemaChange {
	m := catalog.Migration{Steps: steps}
	return engine.SchemaChange{Steps: steps, Supported: m.Supported(), Destructive: m.Destructive(), From: from, To: to}
}

// refusedSteps returns the error for steps that are unsupported, or that lose data without
// permission.
func refusedSteps(steps []catalog.Step, allowDataLoss bool) error {
	var unsupported, destructive []catalog.Step
	for _, s := range steps {
		if s.Reason != "" {
			unsupported = append(unsupported, s)
		}
		if s.Destructive() && !allowDataLoss {
			destructive = append(destructive, s)
		}
	}
	switch {
	case unsupported != nil:
		return &engine.UnsupportedMigration{Steps: unsupported}
	case destructive != nil:
		return &engine.DataLoss{Steps: destructive}
	}
	return nil
}

// repeatedChange returns the result of a repeated call, computed from the receipt of the first
// call. All steps of the first call were taken.
func repeatedChange(first *receiptOfCommit, schema *catalog.Schema, to string, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	from, err := catalog.Decode(first.Receipt.Schema)
	if err != nil {
		return nil, &engine.Corrupt{Object: "receipt of commit " + first.Commit.ID, Detail: err.Error()}
	}
	steps := stepsTo(from, schema, opts)
	for i := range steps {
		steps[i].Reason = ""
	}
	out := report(steps, catalog.Digest(from), to)
	c := first.Commit
	out.Commit, out.Head = &c, c
	return &out, nil
}

// aligned is what align makes of a merge.
type aligned struct {
	base, source *version.Snapshot
	lost         []engine.MergeConflict        // about changes that the descendant does not take over
	edges        map[engine.ConflictPlace]bool // those of lost that are edges whose type stays
	filled       version.Filled                // by the schema changes since the base
}

// align brings the three states of a merge (the transaction on the target, the base and the source)
// to one schema. If one side's schema descends from that of the other side, align chooses the
// descendant. align returns a *engine.SchemasDiverge if neither schema descends from the other.
func align(ctx context.Context, from, to string, base, source *version.Snapshot, tx *version.Txn) (out *aligned, err error) {
	target := tx.Base()
	diverge := &engine.SchemasDiverge{Source: from, Target: to, SourceSchema: source.Schema.Digest, TargetSchema: target.Schema.Digest, BaseSchema: base.Schema.Digest}
	// carried converts the base to the schema of a side.
	carried := func(side *version.Snapshot) (*version.Snapshot, version.Filled, error) {
		c, ok := side.Schema.Since(base.Schema)
		if !ok {
			return nil, nil, diverge
		}
		var filled version.Filled
		if c != nil {
			filled = mutate.Filled(ctx, side.Schema, func(t *schema.Type, p int) bool {
				tc := c.Of(t)
				return tc.Fills(t, p)
			})
		}
		b, err := base.Carried(schema.Change{Schema: side.Schema, Carry: c})
		return b, filled, err
	}
	out = &aligned{source: source}
	// uncarried lists the changes of the side `older` that the schema change ch does not take over.
	uncarried := func(older *version.Snapshot, ch schema.Change, changer, dropper string) error {
		before, filled, err := carried(older)
		if err != nil {
			return err
		}
		out.lost, out.edges, err = version.Uncarried(ctx, before, older, ch, filled, changer, dropper)
		return err
	}
	// If a schema was put back in force, each schema may descend from the other. Then the
	// descendant is the schema that differs from the base's schema.
	down, ok := target.Schema.Since(source.Schema)
	if _, both := source.Schema.Since(target.Schema); both && down != nil && target.Schema.Digest == base.Schema.Digest {
		ok = false
	}
	if ok {
		if down != nil {
			ch := schema.Change{Schema: target.Schema, Carry: down}
			if err := uncarried(source, ch, "source", "target"); err != nil {
				return nil, err
			}
			if out.source, err = source.Carried(ch); err != nil {
				return nil, err
			}
		}
		out.base, out.filled, err = carried(target)
		return out, err
	}
	if down, ok = source.Schema.Since(target.Schema); !ok {
		return nil, diverge
	}
	ch := schema.Change{Schema: source.Schema, Carry: down}
	if err := uncarried(target, ch, "target", "source"); err != nil {
		return nil, err
	}
	if err := tx.Migrate(ch); err != nil {
		return nil, err
	}
	out.base, out.filled, err = carried(source)
	return out, err
}
