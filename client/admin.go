package client

import (
	"context"
	"time"
)

// VerifyBody is the body of a verification. It has no members.
type VerifyBody struct{}

// Verified is the answer to a verification.
type Verified struct {
	Faults []StoredFault `json:"faults"` // the corrupt files and records
}

// StoredFault is a file or record with corrupt bytes in the storage.
type StoredFault struct {
	Object string `json:"object" jsonschema_description:"The file or record."`
	Detail string `json:"detail"` // what is wrong with it
}

// CleanupBody is the body of a cleanup.
type CleanupBody struct {
	KeepCommits int32      `json:"keep_commits,omitempty" jsonschema:"anyof_required=keep_commits,minimum=1" jsonschema_description:"Keep this many commits of each branch, including its head."`
	KeepSince   *time.Time `json:"keep_since,omitempty" jsonschema:"anyof_required=keep_since" jsonschema_description:"Keep the commits that are not older than this. With both members, a commit is kept if either member keeps it."`
	DryRun      bool       `json:"dry_run,omitempty" jsonschema_description:"Report what the cleanup would reclaim, and change nothing."`
}

// CleanedUp is the answer to a cleanup.
type CleanedUp struct {
	CommitsReclaimed int64 `json:"commits_reclaimed" jsonschema_description:"The number of commits that became unreadable."`
	CommitsKept      int64 `json:"commits_kept"`  // commits that are still readable
	FilesRemoved     int64 `json:"files_removed"` // files deleted from the storage
	BytesFreed       int64 `json:"bytes_freed"`   // size of the deleted files
	DryRun           bool  `json:"dry_run" jsonschema_description:"Nothing was reclaimed; the answer says what the cleanup would do."`
}

// Verify reads all stored data and lists the faults.
func (g *Graph) Verify(ctx context.Context) (*Verified, error) {
	q, err := posting(g.path+"/verify", VerifyBody{})
	if err != nil {
		return nil, err
	}
	q.repeats = true
	return ask[Verified](ctx, g.c, q)
}

// Cleanup makes old commits unreadable and frees their space. The client sends times in whole
// microseconds, the resolution of the server.
func (g *Graph) Cleanup(ctx context.Context, body CleanupBody) (*CleanedUp, error) {
	if body.KeepSince != nil {
		body.KeepSince = new(body.KeepSince.UTC().Truncate(time.Microsecond))
	}
	q, err := posting(g.path+"/cleanup", body)
	if err != nil {
		return nil, err
	}
	q.repeats = body.DryRun
	return ask[CleanedUp](ctx, g.c, q)
}
