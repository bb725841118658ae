package embedded

import "sync"

// layout is the lock that protects the row layout, that is, which row has which number in which
// segment. A checkpoint (also the one that Close makes) and a cleanup hold it for writing, because
// a checkpoint lays out the rows of each branch anew. Calls that carry the state of one branch or
// schema to another hold it for reading: CreateBranch, DeleteBranch, Merge and ApplySchema.
type layout struct {
	sync.RWMutex

	// merging is held by Merge and DeleteBranch, and by CreateBranch if the new branch begins at a
	// commit that is not the tip of a branch. So only one of these calls runs at a time. It is
	// locked after layout.
	merging sync.Mutex
}
