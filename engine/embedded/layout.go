package embedded

import "sync"

// layout is the lock that protects the row layout, that is, which row has which number in which
// segment. A checkpoint (also the one that Close makes) and a cleanup hold it for writing, because
// a checkpoint lays out the rows of each branch anew. Calls that carry the state of one branch or
// schema to another hold it for reading: CreateBranch, DeleteBranch, Merge and ApplySchema.
type layout struct {
	sync.RWMutex

	// merging is held by Merge, DeleteBranch and CreateBranch at a commit that is the tip of no
	// branch. While one call has it, no other call merges, deletes a branch, or begins a branch in
	// the past. It is locked after layout.
	merging sync.Mutex
}
