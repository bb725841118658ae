package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
)

// The tags that group the routes in documents.
const (
	tagServer   = "Server"
	tagQueries  = "Queries"
	tagData     = "Data"
	tagSchema   = "Schema"
	tagBranches = "Branches"
	tagHistory  = "History"
	tagProposal = "Proposals"
	tagWatch    = "Watches"
	tagAdmin    = "Administration"
	tagAccess   = "Access"
)

// The parameters that several routes share.
var (
	branchParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "The branch to read; the default is main."}
	snapshotParam = Param{Name: "snapshot", In: Query, Kind: Text, Description: "The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it."}
	ifNoneParam   = Param{Name: headerIfNone, In: Header, Kind: Text, Description: "The entity tags of answers that the client already has. If the answer would have one of these tags, the server answers 304 without a body."}
	keyParam      = Param{Name: headerIdempotency, In: Header, Kind: Text, Max: 255, Description: "A key for the write. A repeated request with the same key within 24 hours gets the first answer again, and changes nothing."}
	ifCommitParam = Param{Name: headerIfCommit, In: Header, Kind: Text, Max: 255, Description: "Write only if this is the last commit of the branch; otherwise the answer is 412."}
	messageParam  = Param{Name: headerMessage, In: Header, Kind: Text, Max: 3 * engine.MaxMessage, Description: "The message of the commit: at most 1,024 bytes of UTF-8, percent-encoded as in a path. Newlines are the only control characters."}

	atLeastParam = Param{Name: headerAtLeast, In: Header, Kind: Text, Max: 255, Description: "A commit that the caller has seen, or latest for every commit that was acknowledged before the request. A server that follows another one waits until it has that commit."}

	// Clients of the older server read numbers, so the server cannot require the header. A generated client
	// must send it, because the documents give 64-bit integers the type string.
	integersParam = Param{Name: headerIntegers, In: Header, Kind: Text, Enum: []string{client.IntegersString}, Declared: true, Description: "With string, the answer has all values of the types I64 and U64 as strings of digits. Without the header they are JSON numbers, which many clients round beyond ±(2^53−1)."}

	dryRunParam = Param{Name: "dry_run", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "Commit nothing; report what the write would do."}
	lineParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "A branch that contains the commit and that the caller may read. Without it, the branch that the commit was made on must be one that the caller may read."}

	// The parameters of routes that write: `writing` for most, and `mustCommit` for those that need
	// the header for the last commit.
	writing    = []Param{keyParam, ifCommitParam, messageParam}
	mustCommit = func() []Param {
		required := ifCommitParam
		required.Required = true
		return []Param{keyParam, required, messageParam}
	}()
)
