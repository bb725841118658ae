// Package embedded is the default engine: one directory per graph, in the process that
// uses it.
//
// [OpenDir] opens a graph in a folder, [OpenURL] and [FollowURL] one in shared storage, and [OpenMemory] makes one in
// memory. [Open] and [Create] also take a file system. Its type is internal, so only this module calls these two
// functions.
//
// [CreateShared], [OpenShared] and [Follow] are for a graph in storage that several servers use. One
// server has the [Graph] and writes; every other one has a [Follower], which reads the writer's log
// and applies it to a Graph of its own. A Follower's Graph has no goroutines, makes no checkpoints
// and is changed by [replay] alone, which takes the locks of a writer.
//
// # Owners of state
//
// [Graph] is a front. It counts the calls and hands each to the part that owns the state:
//
//	state                                             owner         file
//	calls in progress, and whether the graph closes   InFlight      package locks
//	ids of commits and entities                       Source        package newid
//	bound programs of plans                           Programs      exec/planner/programs.go
//	the parts of states for callers with rights       Parts         package rights
//	every commit of the graph                         History       package ancestry
//	layout of rows, who may merge                     Layout        package locks
//	the branches, their tips and merge bases,         branches      branches.go, bases.go
//	the last log record
//	the proposals, and the order of their events      proposals     proposals.go, events.go, versions.go
//	the drafts                                        drafts        drafts.go, versions.go
//	one branch: head, tip, pending commits            branch        branch.go
//	idempotency keys of a branch                      Set           package receipts
//	anchors and archived records of old commits       retention     retention.go, archive.go
//	states that are restored from them                restorer      restore.go
//	checkpoints, rewrites and cleanups                checkpoints   checkpoint.go, manifest.go,
//	                                                                rewrite.go, cleanup.go
//	log, segments, manifests, END, LOCK               store.Store   package store
//	the same in shared storage, and the cache         store.Shared  package store
//
// Two parts have no state. writer (writer.go, record.go, branching.go) is the only one that appends
// to the log. segmentFiles (segments.go, opener.go) is the only one that writes and opens
// segments.
//
// A snapshot ([version.Snapshot]) is immutable and has no lock. A read loads the head of a
// branch, an atomic pointer, and keeps that snapshot until its result is closed. So a read
// of a head waits for no writer and no checkpoint: it locks branches.mu for a moment to
// find a branch other than main, and a read of main with a plan that is bound already takes no lock
// of the graph.
//
// A branch has two ends. Its head is the last durable commit; readers see it. Its tip is
// the last commit with a place in the log; the next writer builds on it before it is
// durable. That is how commits on one branch share a sync. [Graph.Mutate] goes through
// writer.stage (new tip, place in the log), Store.Wait (sync), and branch.settle (new head).
//
// # Locks
//
// The type that contains a lock has the methods that take the lock. If a method requires that the
// caller holds the lock, its name ends in Locked.
//
// locks.InFlight is a counter, not a lock. Every call increments it at its beginning and decrements it at
// its end. Close shuts it, so that no new call can begin, and waits until it is zero.
//
// checkpoints.mu is held by a checkpoint (also the one that Close makes) and by a cleanup. It
// guards lsn, stored, newTexts and insist. Only one checkpoint or cleanup can hold it at a time.
//
// locks.Layout is a read-write lock over the layout of rows. A checkpoint (also the one that Close makes)
// and a cleanup hold it for writing, because a checkpoint moves rows to new places. A rewrite releases
// it while it stores the new layout. If a call locked it for reading meanwhile, the rewrite discards the
// new layout, and the next rewrite does not release it. Calls that
// carry the state of one branch or schema to another hold it for reading: CreateBranch,
// DeleteBranch, Merge, ApplySchema. Merge and ApplySchema release it as soon as their commit has
// its place in the log. Before that, ApplySchema examines rows in a snapshot without a lock (schema.go).
// Mutate and Load never take this lock, so they continue during a checkpoint.
//
// layout.merging is held by Merge, by DeleteBranch, and by CreateBranch at a commit that is the tip
// of no branch. While one call has it, no other call merges, deletes a branch, or begins a branch
// in the past.
//
// branch.writing admits one writer to a branch. It guards tip, err, journal and stale. A caller
// stops waiting for it when the caller's context ends; a wait for any other lock does not end with
// the context. A writer stores a new tip with writing and branches.mu held. Only a checkpoint that
// adopts stored rows replaces a tip without branches.mu. It then holds three locks: layout (for
// writing), branch.writing and branch.mu. So a tip may be read with branch.writing held, or with
// branches.mu and layout held. Only checkpoints change branch.stale.
//
// restorer.reading is held for reading while a state of the past is read from files, and for
// writing while Store.Checkpoint may remove files and retention adopts the manifest.
//
// branches.mu guards the set of branches, their order and tips, branch.deleted, tipAt and base, the
// merge bases, the proposals, and the LSN and outcome of the last record. It is held while a record
// gets its place in the log, so the holder sees the state right after the last record. No call
// waits for a sync with branches.mu held. Enqueue may have to make a log file while branches.mu is
// held; writer.stage calls Store.Reserve first to make that rare.
//
// branches.naming is held from the making of the ids of events of proposals until the record of their
// proposal has its place in the log. So the ids of events ascend in the order of the log.
//
// retention.mu guards the archive, the records that are not archived yet, the anchors, and
// branch.line. A writer that notes a commit in this data holds branches.mu too. Code that takes a
// cut of the graph holds both locks, so the cut is the state right after some record. Only a holder
// of layout for writing removes anything from the data that retention.mu guards.
//
// branch.mu guards pending and every store to head. Loads of head need no lock.
//
// A call that computes the result of a comparison for others holds sharedWork.turn. It holds no other lock when it
// takes it.
//
// The lock of a holder of rights.Parts is held while a part is made, and so is one of validParts.making. A holder of either takes no other
// lock of this package but the leaf validParts.mu.
//
// branch.timing is held by a writer from the time of a commit to its place in the log, and for a moment by a read
// of the past by an instant.
//
// restorer.mu guards epoch, pending and states. receipts.Set.mu guards the keys of one branch.
// The locks of history, programs, ids and comparisons each guard the fields of their own type. They are leaves:
// a holder of one takes no other lock, except that of the history.
//
// # Lock order
//
// Take locks in this order; some may be skipped:
//
//	checkpoints.mu
//	layout
//	layout.merging
//	branch.writing  only the holder of checkpoints.mu holds several (rewrite, install, adopt)
//	branch.timing
//	restorer.reading
//	the lock of a holder of rights.Parts, one of validParts.making: one at a time
//	branches.naming
//	branches.mu
//	retention.mu, branch.mu, receipts.Set.mu, restorer.mu, programs.mu, validParts.mu, ids.mu, comparisons.mu: one at a time
//	history.mu
//
// The layers under this package have their own locks, which come after these:
//
//	store.Store.checkpointing, then Store.mu or wal.preparing, then wal.mu;
//	Store.mu and wal.mu are never held together
//	store.Shared: Shared.checkpointing, the turn of the sharedlog.Queue, then Shared.mu, then Queue.mu or the mutex of the
//	CacheBound; the mutex of holds is a leaf
//	version: the lock of a text, sorted or approximate index while it is built, then searches.mu,
//	orders.mu or nearby.mu, then textindex.View.mu
//	column.wholeLock, then column.Pending.mu, then the mutex of a block in store.Segment, then the table of
//	mappings in package fs
//
// The lock files of a graph, LOCK and the log file in use, are locks between processes;
// see package store.
//
// # Waits with a lock held
//
//   - A checkpoint and a cleanup wait, with checkpoints.mu and layout, until the records before
//     their cut are durable; a rewrite that has released layout waits with checkpoints.mu alone. A
//     writer needs neither lock to make its record durable.
//   - A merge waits, with layout, layout.merging and the target's write lock, until the source's
//     tip is durable. Making it durable needs no write lock: settle takes branch.mu alone.
//   - DeleteBranch waits for the sync of its record with layout, layout.merging and the write lock.
//   - A rewrite holds the write locks of the branches that it lays out anew while it writes the
//     manifest; their writers wait for that. It also waits for readers of the past
//     (restorer.reading).
//
// Options.LogFailed is called from inside Store.Wait, by the writer that met the failure,
// which may hold the locks of DeleteBranch. Therefore it must not call the graph.
//
// # Goroutines
//
// A Follower has one goroutine, which reads the log (Follower.follow). It holds Shared.following
// while it applies a record, and takes the locks above after it.
//
// A graph has these goroutines: one that makes checkpoints (checkpoints.loop), one that builds
// approximate indexes (vectorBuilds.loop), one that checks a full disk for free space (watchRoom),
// and one for each state of the past that is being restored (restorer.running). Close waits for all
// these goroutines. The log has no goroutine: one of the waiting writers writes for all; see
// wal.lead in package store.
//
// When many single values of a column or an index have been read in pieces, package column starts a
// goroutine that reads and verifies the whole column or index. Only one such goroutine reads at a
// time. Close does not wait for this goroutine, which only reads mapped files. They stay mapped
// while it runs.
package embedded
