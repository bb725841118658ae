// Package tool says what a tool is, for generated code and for hand-written tools: a descriptor for
// clients, a decoder of arguments, and the calls with their grants and outcomes. It also says what
// a stored query is and runs compiled ones for Go programs. It links no decoder of arguments, no
// cipher and no transport.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Via says how a request asks for a read, a change or a merge.
type Via string

// Values of [Via].
const (
	AdHoc    Via = "adhoc"    // the request is not for a stored query and not for a proposal
	Stored   Via = "stored"   // the request calls a stored query
	Proposed Via = "proposal" // the request merges a proposal, or for Change, changes only a proposal from the branch
)

// Protection is the protection of a branch that changes only by merging proposals. It says what a
// proposal needs before it can be merged into the branch.
type Protection struct {
	Approvals int    // number of approvals that a proposal needs
	Group     string // the group whose approvals count; if it is empty, the approvals of all reviewers count
	Checks    bool   // all checks must pass on the result of the merge
	NoOwners  bool   // the approval of an actor does not count for changes of the actors that it owns
}

// Need is a permission that a call requires, as far as the call knows it. The server makes a [Grant] of it, for
// the branch that the name stands for.
type Need struct {
	Action Action     // what the call does
	Branch BranchName // for actions on a branch
	Commit string     // for Read or Export of a commit; the grant is for the branch where it was made
	Query  string     // the stored query, for InvokeQuery and for Via Stored
	Via    Via        // how the request asks; only for Read, Change and BranchMerge
	Source string     // the source, for LoadSource
}

// On returns the grant for the need on a branch. An action that is not about a branch ignores the branch.
func (n Need) On(b Branch) Grant {
	if !n.Action.Row().Branch() {
		b = Branch{}
	}
	return Grant{Action: n.Action, Branch: b, Query: n.Query, Via: n.Via, Source: n.Source}
}

// Grant is a permission of a caller, which the policy decides on.
type Grant struct {
	Action Action // what the caller does
	Branch Branch // for actions on a branch
	Query  string // the stored query, for InvokeQuery and for Via Stored
	Via    Via    // how the request asks; only for Read, Change and BranchMerge
	Source string // the source, for LoadSource; empty for one that no rule names

	// OwnDraft says that Branch is a draft of the caller. The access control sets it.
	OwnDraft bool
}

// Descriptor describes a tool to clients.
type Descriptor struct {
	Name         string          // the name that a call gives
	Title        string          // a short name for people
	Description  string          // what the tool does
	InputSchema  json.RawMessage // a JSON Schema object; docs describe the profile
	OutputSchema json.RawMessage // nil if the tool declares none
	ReadOnly     bool            // a call changes nothing
	Destructive  bool            // a call may replace or delete data
	Idempotent   bool            // a repeated call has no further effect
}

// Tool is one tool. Implementations hold no state of a call.
type Tool interface {
	Descriptor() *Descriptor

	// Gates returns the grants that a caller needs to see the tool. The caller must have
	// all of them on the same branch, which may be any branch. If there are none, every
	// caller sees the tool.
	Gates() []Grant

	// Decode reads the arguments: nil or a JSON object. The error is an *ArgumentError.
	Decode(args json.RawMessage) (Call, error)
}

// Call is a decoded call.
type Call interface {
	// Needs returns the permissions that this call requires.
	Needs() []Need

	// Run executes the call. It is called once, after the policy has granted all Needs.
	Run(ctx context.Context, env *Env) (*Outcome, error)
}

// Env is the environment of a call.
type Env struct {
	Server // answers what the call asks while it runs; [Alone] for a call without a server

	// RunTool is the tool that runs a stored query by the name of the query's tool. It is empty
	// if each stored query is a tool of its own.
	RunTool string

	MaxBytes int // limit on the bytes of an answer; 0 for none

	// SafeIntegers and StringIntegers say that the answer writes integers of 64 bits beyond ±(2^53−1), or all
	// integers of 64 bits, as strings. At most one is true.
	SafeIntegers, StringIntegers bool

	Graph engine.Graph // the graph that the call reads or changes
	Actor string       // name of the actor in commits, with the agents that act for it; see [engine.SplitActor]
	// Message is the message of a commit for which the caller gives none, such as "add_note by ada"; it may be empty.
	Message string
	Tool    string   // recorded in the commits of the call: the name of the tool or of the stored query
	Groups  []string // the groups in the actor's token, in the form in which AllowedAs takes them

	// Caller is the caller as queries see it; see [Caller.With].
	Caller Caller
	// Claims are the claims of callers that the queries in a text may use.
	Claims plan.Claims

	// PageOwner is the owner of the page tokens of the call: the actor with the scopes of its token. If it is empty, it is Actor.
	PageOwner string

	Checks Checks // runs the checks of the graph; nil if it has none

	// Drafts resolves the branch names of the call and describes the caller's drafts. If it is nil, no
	// name stands for a draft.
	Drafts Drafts

	// Source says how source code differs from what the graph was read from; nil if the graph is of other data.
	Source Source

	GraphID string    // the graph's id in page tokens
	Now     time.Time // value of now() in reads, see [pagetoken.Instant]; zero for the engine's clock

	PageTokens PageTokens // makes and opens page tokens; nil if they are not available
}

// Outcome is the result of a call. Exactly one of Read, Change, Load, Value and Calls is
// set.
type Outcome struct {
	Read   *ReadOutcome   // the answer of a read
	Change *ChangeOutcome // the answer of a mutation
	Load   *LoadOutcome   // the answer of a load
	Value  any            // marshalled by encoding/json
	Calls  []Call         // to be authorized and run in order; the answers keep the order

	Commit string // the commit that Value describes; empty if it describes none

	// Less is advice on how to get a smaller answer, for when Value is larger than the
	// limit.
	Less string

	// Wrote describes the change made by a call that answers with Value. It is nil if the
	// call changed nothing.
	Wrote *Written
}

// Cutter is implemented by values of an Outcome that can drop a part of themselves and
// report that they did.
type Cutter interface {
	// Cut drops parts so that about the given number of bytes of JSON remain, if it can.
	Cut(bytes int)
}

// Written describes a change for the log.
type Written struct {
	Branch *Branch        // the branch that changed; nil if the call changed no branch
	Commit *engine.Commit // nil if only branches changed, not data

	// Bypassed says that the caller used protection_bypass, and that the grants of the call do not show it.
	Bypassed bool
}

// ReadOutcome is the answer of a read, still in columns. The receiver must close Result.
type ReadOutcome struct {
	Query    string        // name of the query
	Branch   *Branch       // the branch that is read; nil if Snapshot is set
	Snapshot string        // the commit that the caller named instead of a branch, or ""
	Result   engine.Result // the rows

	// The token of the next page is made from these fields.
	Plan *plan.Query
	Args engine.Args // the arguments of the read
	Now  time.Time   // the value of now() in the read
	Row  int64       // number of rows of the result that earlier pages returned

	// Findings are notes on the text of the query, which a caller gets with the first page.
	Findings []string
	// Notes returns notes for the caller of a read without rows. It is nil if there can be none.
	Notes func(context.Context) []string
}

// ChangeOutcome is the answer of a mutation.
type ChangeOutcome struct {
	// Columns are the columns of the row that the mutation returned; nil if it returned none.
	Columns []plan.Column
	Query   string        // name of the query
	Branch  Branch        // the branch that was changed
	Change  engine.Change // what the engine reports about the change
	DryRun  bool          // true if nothing was committed

	Notes       []string        // notes for every caller
	StoredNotes func() []string // returns notes about stored data, for a caller that may read; nil for none
}

// LoadOutcome is the answer of a load.
type LoadOutcome struct {
	Branch Branch             // the branch that the data was loaded into
	From   *Branch            // the branch that the load created Branch from; nil if it created none
	Mode   engine.LoadMode    // what the load did with entities that already existed
	Result *engine.LoadResult // what the engine reports about the load
	DryRun bool               // true if nothing was committed
	Notes  []string           // notes for the caller
}

// StoredQuery is a stored query of a graph. The server makes a tool of it. Its methods are
// safe for concurrent use.
type StoredQuery interface {
	Descriptor() *Descriptor

	// Info returns the parts of the contract that the descriptor does not have.
	Info() *QueryInfo

	// Plan returns the query's plan, the same pointer on every call.
	Plan() *plan.Query

	// Params returns the parameters that the query declares. Their types have the enums of the schema,
	// which the plan's types do not have.
	Params() []plan.Param
}

// QueryInfo is the catalog's information about a stored query, in addition to its
// descriptor.
type QueryInfo struct {
	Name        string   // of the query; the tool may have another name
	Exposed     bool     // listed on MCP and in catalogs
	Description string   // the text of @description only
	Instruction string   // the text of @instruction
	Questions   []string // texts of @question: examples of questions that the query answers
	MustBeEmpty string   // what the query demands if it is a check, which must return no row; else ""
	Mutation    bool     // the query writes; otherwise it reads
	ParamDocs   []string // for each declared parameter its description, or ""
	File        string   // path of the source, relative to the module

	// AdHoc says that the query was proposed and no policy names it. A call of it needs what an ad-hoc query needs, and sees no
	// more than one.
	AdHoc bool
}

// Catalog holds the generated tools of one graph, in source order.
type Catalog struct {
	Graph        string        // id of the graph
	Queries      []StoredQuery // in source order
	SchemaDigest string        // digest of the schema that the plans were checked against
	SourceDigest string        // digest of the query sources
}

// ArgumentError reports faults of arguments.
type ArgumentError struct {
	Path   string // such as params.depth; empty for the whole object
	Detail string // what was found and what was wanted
	Help   string // how to correct the argument, or ""

	// Route is the REST route to use instead, such as POST …/mutate, or "". A caller over REST gets
	// it in place of Help, which names a tool.
	Route string

	// HelpFor is the grant that a caller must have to see Help and Route, because these name
	// another tool or route. If HelpFor is nil, every caller sees them.
	HelpFor *Grant

	// Also lists further faults of the same arguments. Their own Also is nil.
	Also []*ArgumentError
}

// Error returns the faults, one per line.
func (e *ArgumentError) Error() string {
	s := e.Detail
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Help != "" {
		s += "; " + e.Help
	}
	for _, f := range e.Also {
		s += "\n" + f.Error()
	}
	return s
}

// Under returns the error with the named member put in front of its paths.
func (e *ArgumentError) Under(name string) *ArgumentError {
	u := *e
	u.Path = name
	if e.Path != "" {
		u.Path += "." + e.Path
	}
	u.Also = make([]*ArgumentError, len(e.Also))
	for i, f := range e.Also {
		u.Also[i] = f.Under(name)
	}
	return &u
}
