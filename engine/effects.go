package engine

// WriteEffects say in detail what a mutation or a load did, or would do.
type WriteEffects struct {
	// Nodes and Edges count the affected entities by kind of change. For a mutation, an entity counts once for
	// each statement that affects it; an entity that an insert replaces counts as updated.
	Nodes, Edges ChangeCounts

	Replaced      int64            // number of nodes that existed and that an insert of their key replaced
	ReplacedFirst []ChangePosition // the first ones, at most MaxReplaced

	// Changes are the first changes of a dry run with Before and After, at most MaxShownChanges, in order of
	// position. More reports whether there are others. They are empty for a write that is no dry run.
	Changes []EntityChange
	More    bool
}

const (
	// MaxReplaced is the maximum length of WriteEffects.ReplacedFirst.
	MaxReplaced = 3
	// MaxShownChanges is the maximum length of WriteEffects.Changes.
	MaxShownChanges = 10
	// MaxShownBytes limits EntityChange.Bytes of WriteEffects.Changes: the list ends with the change that
	// reaches it.
	MaxShownBytes = 64 << 10
)

// Replace notes a node that an insert replaced.
func (e *WriteEffects) Replace(at ChangePosition) {
	if e.Replaced++; len(e.ReplacedFirst) < MaxReplaced {
		e.ReplacedFirst = append(e.ReplacedFirst, at)
	}
}

// Add adds n to the number of changes of a kind.
func (c *ChangeCounts) Add(kind ChangeKind, n int64) {
	switch kind {
	case Inserted:
		c.Inserted += n
	case Updated:
		c.Updated += n
	case Deleted:
		c.Deleted += n
	}
}
