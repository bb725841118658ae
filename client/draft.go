package client

// DraftTarget is the state of the draft that an answer is about. It is in the member `target`.
type DraftTarget struct {
	GraphCommitID string `json:"graph_commit_id" jsonschema_description:"The commit at the head of the draft."`
	MainAhead     uint64 `json:"main_ahead" jsonschema_description:"The number of commits of main that the draft does not contain."`
	ExpiresAt     int64  `json:"expires_at" jsonschema_description:"When the draft is deleted if nobody writes to it, in Unix microseconds."`
}

// WriteTarget is the draft that a write changed.
type WriteTarget struct {
	Branch string `json:"branch"` // name of the draft's branch
	DraftTarget
}

// DraftClosed says how a draft ended.
type DraftClosed struct {
	Outcome       string `json:"outcome"`                   // merged, deleted or expired
	MergeCommitID string `json:"merge_commit_id,omitempty"` // of a merged draft
	By            string `json:"by"`                        // the actor who ended the draft; empty if it expired
}

// BranchDraft describes an open draft in a list of branches.
type BranchDraft struct {
	Owner     string   `json:"owner"` // the actor to whom the draft belongs
	Agents    []string `json:"agents,omitempty" jsonschema_description:"The agents to whom it belongs when they act for the owner, the current one first."`
	Name      string   `json:"name,omitempty" jsonschema_description:"The name that the owner gave the draft: NAME of draft/NAME. An owner's first draft has none."`
	State     string   `json:"state" jsonschema:"enum=open,enum=proposed" jsonschema_description:"proposed if an open proposal needs the draft. Such a draft does not expire."`
	ExpiresAt int64    `json:"expires_at,omitempty" jsonschema_description:"When the draft is deleted if nobody writes to it, in Unix microseconds."`
}

// The states of an open draft in a list of branches.
const (
	DraftIsOpen     = "open"
	DraftIsProposed = "proposed" // an open proposal needs the draft
)
