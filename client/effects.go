package client

// WriteEffects are the members of the answer to a mutation or a load that say in detail what it did.
type WriteEffects struct {
	NodeChanges *ChangeCounts  `json:"node_changes,omitempty" jsonschema_description:"The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch."`
	EdgeChanges *ChangeCounts  `json:"edge_changes,omitempty" jsonschema_description:"The affected edges by kind."`
	Changes     []EntityChange `json:"changes,omitempty" jsonschema_description:"In a dry run, the first ten changes with the entity before and after."`
	MoreChanges bool           `json:"more_changes,omitempty" jsonschema_description:"In a dry run, there are more changes than changes lists."`
	Notes       []string       `json:"notes,omitempty" jsonschema_description:"What to know about the write, such as that an insert replaced a node, or why nothing changed."`
}
