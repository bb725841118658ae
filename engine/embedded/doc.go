// Package embedded is the default engine: one directory per graph, in the process that
// uses it.
//
// # Owners of state
//
//	state                                         owner                  file
//	the calls that run, and whether it is closed  Graph.calls            inflight.go
//	branches, their tips, the last record's LSN   Graph.lines            branches.go
//	one branch: head, tip, pending commits        branch                 branch.go
//	the idempotency keys of a branch              branch.keys            idempotency.go
//	merge bases in memory                         Graph.lines.bases      bases.go
//	every commit of the graph                     Graph.history          version/history.go
//	anchors, archive, rebuilt states of the past  Graph.past             past.go, archive.go
//	the last checkpoint                           Graph.checkedTo,       checkpoint.go
//	                                              Graph.stored
//	bound programs of plans                       Graph.programs         query.go
//	commit and entity ids                         Graph.ids              graph.go
//	log, segments, manifests, END, LOCK           Graph.store            package store
//
// A snapshot ([version.Snapshot]) is immutable and has no lock. A read loads the head of a
// branch, an atomic pointer, and keeps that snapshot until its result is closed. So a read
// of a head waits for no writer and no checkpoint: it locks Graph.lines for a moment to
// find a branch other than main, and a read of main whose plan is bound takes no lock of
// the graph.
//
// A branch has two ends. Its head is the last durable commit; readers see it. Its tip is
// the last commit with a place in the log; the next writer builds on it before it is
// durable. That is how commits on one branch share a sync. [Graph.Mutate] goes through
// stage (new tip, place in the log), Store.Wait (sync), and settle (new head).
//
// # Locks
//
// Everything here is inside Graph unless another type is named.
//
// calls is a counter, not a lock: every call enters and leaves it. Close shuts it and
// waits until it is zero.
//
// checkMu is held by a checkpoint, a cleanup and the checkpoint of Close. It guards
// checkedTo and stored, and admits one of them at a time.
//
// shape is a read-write lock over the layout of rows. A checkpoint, a cleanup and the
// checkpoint of Close hold it for writing, because a checkpoint gives rows new places.
// Calls that carry the state of one branch or schema to another hold it for reading:
// CreateBranch, DeleteBranch, Merge, ApplySchema. Merge and ApplySchema release it as
// soon as their commit has its place in the log. Mutate and Load never take it: they go
// on during a checkpoint.
//
// merging is held by Merge, by DeleteBranch, and by CreateBranch at a commit that is the
// tip of no branch. While one call has it, no other merges, deletes a branch, or begins a
// branch in the past.
//
// branch.writing admits one writer to a branch. It guards tip, err, journal and
// doubt. Waiting for it ends with the caller's context; waiting for any other lock does
// not. A writer stores a new tip with turn and lines held. Only a
// checkpoint that adopts stored rows replaces a tip without lines; it then holds shape for
// writing, turn and branch.mu. So a tip may be read with writing held, or with lines and
// shape held. Only checkpoints change doubt.
//
// past.files is held for reading while a state of the past is read from files, and for
// writing while Store.Checkpoint may remove files.
//
// lines guards the set of branches, their order and tips, branch.deleted, run, tipAt, base
// and anchors, the merge bases, the LSN and outcome of the last record, and the fields
// of past from archive to doubt. It is held while a record gets its place in the log, so
// the holder sees the state after the last record. No call waits for a sync with lines
// held. Enqueue may have to make a log file under it; stage calls Store.Reserve first to
// make that rare.
//
// branch.mu guards pending and every store to head. Loads of head need no lock.
//
// past.mu guards past.epoch, past.flights and past.states.
//
// history.mu, programs.mu and ids each guard the fields of their own struct. They are
// leaves: their holders take no other lock.
//
// # Lock order
//
// Take them in this order; skip any:
//
//	checkMu
//	shape
//	merging
//	branch.writing     only the holder of checkMu holds several (rewrite, install, adopt)
//	past.files
//	lines
//	past.mu, branch.mu, history.mu, programs.mu, ids
//
// The layers under this package have their own locks, which come after these:
//
//	store.Store.checkpointing, then Store.mu or wal.preparing, then wal.mu;
//	Store.mu and wal.mu are never held together
//	version: the turn of a text or sorted index while it is built, then searches.mu or
//	orders.mu, then index.TextView.mu
//	column.Pending.mu, then the mutex of a block in store.Segment, then the table of
//	mappings in package fs
//
// The lock files of a graph, LOCK and the log file in use, are locks between processes;
// see package store.
//
// # Waits with a lock held
//
//   - A checkpoint and a cleanup wait, with checkMu and shape, until the records before
//     their cut are durable. A writer needs neither lock to make its record durable.
//   - A merge waits, with shape, merging and the target's turn, until the source's tip is
//     durable. Making it durable needs no turn: settle takes branch.mu alone.
//   - DeleteBranch waits for the sync of its record with shape, merging and the write lock.
//   - A rewrite holds the turns of the branches that it lays out anew while it writes the
//     manifest; their writers wait for that. It also waits for readers of the past
//     (past.files).
//
// Options.LogFailed is called from inside Store.Wait, by the writer that met the failure,
// which may hold the locks of DeleteBranch. Therefore it must not call the graph.
//
// # Goroutines
//
// A graph has a goroutine for checkpoints (checkpoints), one that looks for room on a full
// disk (watchRoom), and one for each state of the past that is being made (past.building).
// Close waits for all of them. The log has none: one of the writers that wait leads the
// write for all; see wal.lead in package store.
package embedded
