package tool

// Action is a permission that a policy can allow or deny. Its text is its name in policies, in
// answers and in the audit log.
type Action string

// The actions. Each has a row in the table of [Actions].
const (
	Read         Action = "read"          // read a branch or a commit
	Export       Action = "export"        // export all data of a branch
	Change       Action = "change"        // change the data of a branch
	SchemaApply  Action = "schema_apply"  // change the schema of a branch
	BranchCreate Action = "branch_create" // create a branch
	BranchDelete Action = "branch_delete" // delete a branch
	BranchMerge  Action = "branch_merge"  // merge into a branch
	InvokeQuery  Action = "invoke_query"  // call a stored query

	ProposalReview Action = "proposal_review" // approve a proposal for a branch, or ask for changes

	LoadSource Action = "load_source" // load data in the name of a source

	QueryPropose Action = "query_propose" // propose a stored query
	QueryPublish Action = "query_publish" // merge a proposed query, which the server then serves

	ProtectionBypass Action = "protection_bypass" // change a branch in spite of its [Protection]
	Admin            Action = "admin"             // maintain a graph
	Watch            Action = "watch"             // follow the answers of stored queries
	WatchWebhook     Action = "watch_webhook"     // have the events of watches sent to web addresses
	PolicyRead       Action = "policy_read"       // see what other actors may do, and which rules decide it
	AuditRead        Action = "audit_read"        // see who called what, in the audit trail of a graph
	GraphList        Action = "graph_list"        // list the graphs and see the state of the server
	ClusterApply     Action = "cluster_apply"     // apply a revision while the server runs
)

// Subject is the part of a server that an action is about.
type Subject uint8

// The subjects of actions.
const (
	OnGraph        Subject = iota // a graph as a whole
	OnServer                      // the server
	OnQuery                       // a stored query
	OnSource                      // a source of loads
	OnBranch                      // a branch
	OnTargetBranch                // the branch that the action creates, changes or deletes
)

// ActionRow says what the server must know about an action.
type ActionRow struct {
	Action Action  // the action that the row is about
	On     Subject // what the action is about, and so how a policy rule can narrow it

	// Vias are the two values of [Via] that a rule about this action can distinguish, the default
	// first. They are empty if a rule cannot distinguish any.
	Vias [2]Via

	// Writes says that a call with the action may change the graph, so the audit log counts it as a
	// write.
	Writes bool

	// NeedsRead says that the answer of a write shows stored values only to a caller that may also
	// read the branch.
	NeedsRead bool

	// IfNamed says that a policy decides about the action only if one of its rules names it. Another policy allows it to every
	// actor; the action narrows what a caller may do by other rights.
	IfNamed bool
}

// actions contains the rows. Faults list the actions in this order.
var actions = []ActionRow{
	{Action: Read, On: OnBranch, Vias: [2]Via{AdHoc, Stored}},
	{Action: Export, On: OnBranch},
	{Action: Change, On: OnBranch, Vias: [2]Via{AdHoc, Stored}, Writes: true, NeedsRead: true},
	{Action: SchemaApply, On: OnTargetBranch, Writes: true, NeedsRead: true},
	{Action: BranchCreate, On: OnTargetBranch, Writes: true},
	{Action: BranchDelete, On: OnTargetBranch, Writes: true, NeedsRead: true},
	{Action: BranchMerge, On: OnTargetBranch, Vias: [2]Via{AdHoc, Proposed}, Writes: true, NeedsRead: true},
	{Action: ProposalReview, On: OnTargetBranch, Writes: true, NeedsRead: true},
	{Action: ProtectionBypass, On: OnTargetBranch, Writes: true},
	{Action: InvokeQuery, On: OnQuery},
	{Action: LoadSource, On: OnSource, Writes: true, IfNamed: true},
	{Action: QueryPropose, On: OnGraph, Writes: true},
	{Action: QueryPublish, On: OnGraph, Writes: true},
	{Action: Admin, On: OnGraph, Writes: true},
	{Action: Watch, On: OnGraph, IfNamed: true},
	{Action: WatchWebhook, On: OnGraph},
	{Action: PolicyRead, On: OnGraph},
	{Action: AuditRead, On: OnGraph},
	{Action: GraphList, On: OnServer},
	{Action: ClusterApply, On: OnServer, Writes: true, IfNamed: true},
}

// Actions returns the rows of all actions. The caller must not change them.
func Actions() []ActionRow { return actions }

// unknownAction is the row of an action that does not exist.
var unknownAction ActionRow

// Row returns the row of an action. The caller must not change it. The row of an unknown action
// names no action.
func (a Action) Row() *ActionRow {
	for i := range actions {
		if actions[i].Action == a {
			return &actions[i]
		}
	}
	return &unknownAction
}

// ByVia reports whether rules about the action can distinguish values of [Via].
func (r *ActionRow) ByVia() bool { return r.Vias != [2]Via{} }

// Branch reports whether the action is about a branch.
func (r *ActionRow) Branch() bool { return r.On == OnBranch || r.On == OnTargetBranch }

// Server reports whether the action is about the server and not about a graph.
func (r *ActionRow) Server() bool { return r.On == OnServer }
