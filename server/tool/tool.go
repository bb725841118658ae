// Package tool defines a tool of the catalog: a descriptor that clients read, a decoder of
// arguments, and a call. The server lists and calls generated and built-in tools alike. The
// package knows no transport.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/place"
)

// Action is what a policy allows or denies.
type Action string

// The actions on a graph.
const (
	Read         Action = "read"
	Export       Action = "export"
	Change       Action = "change"
	SchemaApply  Action = "schema_apply"
	BranchCreate Action = "branch_create"
	BranchDelete Action = "branch_delete"
	BranchMerge  Action = "branch_merge"
	InvokeQuery  Action = "invoke_query"
	Admin        Action = "admin"
)

// GraphList is the one action on the server itself.
const GraphList Action = "graph_list"

// Via says whether a read or change is asked for by a stored query or by anything else.
type Via string

// The ways to a read or a change.
const (
	AdHoc  Via = "adhoc"
	Stored Via = "stored"
)

// Grant is a permission that a call requires.
type Grant struct {
	Action Action
	Branch string // for actions on a branch; empty for main
	Commit string // for Read or Export of a commit: it is asked for on the branch that it was made on
	Query  string // the stored query, for InvokeQuery and for Via Stored
	Via    Via    // for Read and Change
}

// Descriptor is what clients read of a tool.
type Descriptor struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage // a JSON Schema object; see the profile in docs
	OutputSchema json.RawMessage // nil when the tool declares none
	ReadOnly     bool
	Destructive  bool
	Idempotent   bool
}

// Tool is one tool. Implementations hold no state of a call.
type Tool interface {
	Descriptor() *Descriptor

	// Gates are the grants of which a caller needs all, on some branch, to see the
	// tool at all. None means that every caller sees it.
	Gates() []Grant

	// Decode reads the arguments, nil or a JSON object. The error is an *ArgumentError.
	Decode(args json.RawMessage) (Call, error)
}

// Call is a decoded call.
type Call interface {
	// Grants are what the caller needs for this very call.
	Grants() []Grant

	// Run does the work. It is called once, after all Grants were given.
	Run(ctx context.Context, env *Env) (*Outcome, error)
}

// Env is what a call runs in.
type Env struct {
	// Queries lists the stored queries that the caller may know of, in source order.
	Queries func() []StoredQuery

	// Require returns the error of a call that lacks one of the grants: for what a call
	// learns to need only as it runs.
	Require func(grants ...Grant) error

	// Text admits a text that the caller has sent as an argument to be compiled: it checks
	// its size, waits for its turn, and takes memory for it. The caller calls done when the
	// text is compiled. Nil admits everything.
	Text func(ctx context.Context, argument, text string) (done func(), err error)

	MaxBytes int // of an answer; 0 for no bound

	Graph engine.Graph
	Actor string // recorded in commits

	GraphID string    // as in page tokens
	Now     time.Time // of now() in reads, see [Instant]; zero for the engine's clock
	Pages   Pages     // nil where there are no page tokens
}

// Pages makes and opens page tokens.
type Pages interface {
	Seal(*place.Place) string

	// Open returns the place of a token. The error is a *[place.Invalid].
	Open(token string) (*place.Place, error)
}

// Outcome is what a call yields: exactly one field is set, Commit aside.
type Outcome struct {
	Read   *ReadOutcome
	Change *ChangeOutcome
	Load   *LoadOutcome
	Value  any    // marshalled by encoding/json
	Calls  []Call // to be authorized and run in order, and answered at the same index

	Commit string // the commit that Value is about; empty when it is about none

	// Less says what to ask for when the answer with Value is larger than it may be.
	Less string

	// Wrote says what a call that answers with Value has changed; nil of one that has
	// changed nothing.
	Wrote *Written
}

// Cutter is implemented by values of an Outcome that can leave something out and say so.
type Cutter interface {
	// Cut leaves out so much that about so many bytes of JSON remain, if it can.
	Cut(bytes int)
}

// Written is a change for the log.
type Written struct {
	Branch string
	Commit *engine.Commit // nil when branches changed and no data
}

// ReadOutcome is the answer of a read, still in columns. Whoever receives it closes
// the result.
type ReadOutcome struct {
	Query  string        // name of the query
	Target engine.Target // that was asked for
	Result engine.Result

	// What the token of the next page is made of.
	Plan *plan.Query
	Args engine.Args
	Now  time.Time
	Row  int64 // the rows of the result that were answered on earlier pages
}

// ChangeOutcome is the answer of a mutation.
type ChangeOutcome struct {
	Query  string
	Branch string
	Change engine.Change
	DryRun bool // nothing was committed
}

// LoadOutcome is the answer of a load.
type LoadOutcome struct {
	Branch string
	From   string // the branch that Branch was made from by this load; else empty
	Mode   engine.LoadMode
	Result *engine.LoadResult
	DryRun bool // nothing was committed
}

// StoredQuery is a tool that serves a stored query; REST reaches it by the query's
// name with an envelope of its own.
type StoredQuery interface {
	Tool

	// Info is the part of the contract that is not the descriptor's.
	Info() *QueryInfo

	// Plan is the query's plan. It is the same pointer at every call.
	Plan() *plan.Query

	// DecodeParams reads and checks the query's own parameters, nil or a JSON object. The error is an *ArgumentError whose path is
	// relative to the object.
	DecodeParams(params json.RawMessage) (engine.Args, error)
}

// QueryInfo is what the catalog knows of a stored query beside its descriptor.
type QueryInfo struct {
	Name        string // of the query; the tool may be called otherwise
	Exposed     bool   // on MCP and in catalogs
	Description string // @description alone
	Instruction string
	Mutation    bool
	ParamDocs   []string // a description or "" for each parameter of the plan
	File        string   // the source, relative to the module
}

// Catalog is the generated tools of one graph, in source order.
type Catalog struct {
	Graph        string
	Queries      []StoredQuery
	SchemaDigest string // of the schema that the plans were checked against
	SourceDigest string // of the query sources
}

// ArgumentError says what is wrong with an argument.
type ArgumentError struct {
	Path   string // such as params.depth; empty for the whole object
	Detail string // what was found and what was wanted
	Help   string // how to mend it, or ""

	// HelpFor is the grant that Help takes for given, as when it names another tool:
	// callers without the grant are not shown Help. Nil is for everyone.
	HelpFor *Grant

	// Also are the further faults of the same arguments; their own Also is nil.
	Also []*ArgumentError
}

// Error lists the faults, one a line.
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

// Under returns the error with its paths under the member called name.
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
