package engine

import "time"

// Stats are figures of a graph for monitoring. A figure is 0 if the engine has nothing to count for
// it.
type Stats struct {
	Branches int   // branches that exist
	Commits  int64 // commits of all branches, including those that a cleanup made unreadable
	Calls    int64 // calls in progress

	Segments     int   // files of rows and indexes
	SegmentBytes int64 // size on disk of those files, which are mapped into memory as they are read
	// LogBytes is the size of the log that a start would replay: the writes since the last
	// checkpoint.
	LogBytes int64

	MaxBytes      int64 // bound on SegmentBytes and LogBytes together; 0 for none
	MaxBranches   int   // bound on Branches; 0 for none
	QuotaRefusals int64 // since the graph was opened: writes refused because of these two bounds

	Checkpoints        int64 // since the graph was opened, without rewrites
	Rewrites           int64 // since the graph was opened: checkpoints that rewrote rows
	CheckpointFailures int64 // since the graph was opened: failures of checkpoints and rewrites

	Shared *SharedStats // nil unless several servers share the storage of the graph
}

// SharedStats describe the role that one server has for a graph that several servers share.
type SharedStats struct {
	Open   bool          // this server has the graph open; otherwise the graph is not in use here, or could not be opened
	Writer bool          // this server writes the graph; otherwise it only reads it
	Epoch  uint64        // of the writer: the number of takeovers so far, as far as this server knows
	Lag    time.Duration // time since this server last knew every commit

	CacheBytes int64 // bytes of the copies of segments that this server holds on its disk
	Collected  int64 // objects that this server deleted from the storage since it started
	Pinned     int64 // segments that its last garbage collection kept because a server needed them
}
