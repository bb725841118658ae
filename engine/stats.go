package engine

// Failing is what an engine has whose storage can fail while it is open.
type Failing interface {
	// Failure returns nil while the graph takes writes, else the *Unavailable that they
	// get. It is cheap enough to be called every second.
	Failure() error
}

// Stats are figures of an open graph for those who watch over it. An engine that has
// them has a method Stats, which is cheap enough to be called every few seconds.
type Stats struct {
	Branches int
	Commits  int64 // of all branches, those of the past that are only listed included
	Calls    int64 // under way

	Segments     int   // files of rows and indexes
	SegmentBytes int64 // of those files on disk, which are mapped into memory as they are read
	// LogBytes is what a start would replay: what was written since the last checkpoint.
	LogBytes int64

	Checkpoints        int64 // since the graph was opened, rewrites aside
	Rewrites           int64 // since then: checkpoints that laid rows out anew
	CheckpointFailures int64 // since then: of both
}
