package embedded

import "sync"

// layout is the lock of the layout of rows: which row has which number in which segment. A
// checkpoint, a cleanup and the checkpoint of Close hold it for writing, because a checkpoint lays
// out the rows of each branch anew. Calls that carry the state of one branch or schema to another
// hold it for reading: CreateBranch, DeleteBranch, Merge and ApplySchema.
type layout struct {
	sync.RWMutex

	// merging is held by Merge, DeleteBranch and CreateBranch at a commit that is the tip of no
	// branch. While one call has it, no other merges, deletes a branch, or begins a branch in the
	// past. It comes after the lock of the layout.
	merging sync.Mutex
}
