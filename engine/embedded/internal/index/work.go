package index

import "context"

// Work limits the construction of an index.
type Work struct {
	Ctx context.Context // ends the work when it is done
	// Spend, if set, reserves memory, in bytes. Its error ends the work.
	Spend func(bytes int) error
}

// CancelEvery is the number of documents or vectors between two checks of the context.
const CancelEvery = 1 << 8
