// Package audittrail keeps the audit trail of a cluster: a record for each call, in one chain of hashes for each server.
//
// The trail is a set of objects in an [object.Bucket], which is a folder or shared storage. The name of an object is
//
//	SERVER/lease-EPOCH                who writes the chain, and until when, as JSON; the highest epoch counts
//	SERVER/names                      the table of actors, as JSON: their numbers and names
//	SERVER/FIRST-LAST-TIME.log|.seg   a part: the records FIRST to LAST, the last of which has the TIME, in Unix microseconds
//
// A writer makes a .log for the calls of at most a second, and merges many of them into a .seg, which is compressed. Parts
// never change. If a crash leaves parts that another one contains, readers pass over them, once they have compared the hashes. Part and record are drawn at
// [encodePart] and [appendCall].
//
// # The chain
//
// The hash of a record is the SHA-256 of the hash before it and of the bytes of the record, which contain its number. The record is
// stored with the first eight bytes of its hash, its link, and a part with the hashes before its first and after its last record. So
// [Store.Verify] names the record where a chain is broken. Who can write the storage can also make a new chain; only hashes that were
// kept elsewhere reveal that: see [Options.Head].
//
// Records name an actor by a number. So the table of names can forget an actor, and the chain stays whole.
package audittrail
