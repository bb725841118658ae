// Package sharedlog keeps the log of one graph in storage that several servers share. One server at
// a time writes the log, every server can read it, and any server can take over. The package stores
// bytes; its caller defines the meaning of records and of checkpoints.
//
// A [Follower] reads the log and applies it to a [State]. [Follower.TakeOver] makes its server the
// writer and returns a [Writer]. [Writer.Append] stores a group of records. It returns nil only
// when the group is durable and every later reader of the log finds it.
//
// # Names
//
// All names are below the prefix of one incarnation of the graph. A graph that is made anew has
// another prefix, so that a writer of the old graph cannot reach the new one.
//
//	log/00000000000000000042     log object 42; numbers start at 1 and have no gaps
//	checkpoint/<A>-<E>-<random>  a checkpoint; A is 2^64-1 minus the last log number that it covers,
//	                             as 20 decimal digits, so that the newest checkpoint comes first in
//	                             a list; E is the epoch of its writer, as 16 hexadecimal digits
//	rollup/<last>-<first>        a roll-up: a copy of the log objects from <first> to <last>, both as
//	                             20 decimal digits
//	segment/00000001099511627777 an object of the caller, which records and checkpoints may name.
//	                             Segment n of the writer of epoch e has the number e·2^40 + n
//
// # Protocol
//
// A log object is a group of records, a takeover, or the announcement of a checkpoint. The creation
// of the object is the commit point: the storage lets only one server create an object of that
// name.
//
//   - A server becomes the writer when it creates a takeover object, with the next epoch, at the
//     first free number. The former writer would have used this number for its next object, so its
//     next Append fails. Takeover objects are never deleted; otherwise a former writer that was
//     stalled could create that number again.
//   - After a candidate has created its takeover object at number n, it lists the newest checkpoint.
//     If that checkpoint covers n, the number was free only because the log objects up to n were
//     collected: the takeover is void, and the candidate opens the log again. A follower makes the
//     same check before it applies a takeover object or skips a void object.
//   - The writer sends one log object at a time. It can be sure of the outcome only when an object
//     with that number exists. So when a reply is lost, it sends the same bytes again until the
//     storage creates the object or refuses, because the object exists. After such a refusal the
//     writer reads the object, and recognizes its own object by the random group id.
//   - When a writer refuses a call because of the State, for example because a precondition fails,
//     the refusal is a statement about the latest state. So the writer may send it only after Append
//     or CatchUp has shown that it still is the writer.
//   - A log object that does not continue its predecessor (epoch, checksum, LSN) is void. It uses up
//     its number and has no effect.
//   - A checkpoint is in force from the log object that announces it. Each group contains the number
//     of the row layout for which it was written. A follower whose rows have another layout must not
//     apply the group. If an announcement changes the layout, a follower loads the checkpoint, and no
//     log object comes between that checkpoint and its announcement. Otherwise the writer may add log
//     objects while it uploads the checkpoint. A follower that loads a checkpoint at its announcement
//     reads these log objects before it loads, and applies them again.
//   - After 64 log objects, the writer stores a roll-up of them. A roll-up is only a copy: it never
//     decides what the log contains. The writer includes a log object only when it knows that the
//     object exists. A follower uses a roll-up only while no checkpoint covers the log objects before
//     it, and judges each log object in it as if it had read the object itself. It ignores a
//     roll-up that is missing or damaged. The end of the log is always the first missing log object.
//   - The announcement of a checkpoint condemns the log objects that the checkpoint covers, except
//     takeovers, roll-ups of such log objects, and all older checkpoints. It also lists segments that it condemns: those that the
//     graph does not need any more, and orphans. An orphan is a segment of an earlier epoch that no
//     checkpoint needs. A segment of the current epoch is never an orphan, because the writer may
//     still name it. What is condemned stays condemned.
//   - Any server may delete condemned objects once the retention has passed since the time of the
//     announcement. Each announcement repeats what is not deleted yet, so no server has to read
//     log objects that a checkpoint covers. If the retention is too short, or the clock of a
//     server is wrong, slow readers have to open the log again, and nothing worse happens.
//   - A server announces, outside of the log, the oldest checkpoint that it needs. Before a server
//     deletes segments, it asks what the others need. A checkpoint that covers less than the
//     condemning one keeps the segments, for at most a day after the retention. After that, a
//     read that needs such a segment fails, and its server opens the log again.
//   - Leases only decide which server tries to take over; see [Leases].
//   - A missing log object is the end of the log only if a list of checkpoints, made after the read,
//     shows no checkpoint that covers its number. [Follower.CatchUp] always makes this check;
//     [Follower.Next] makes it if its last one is older than Options.Recheck (a minute by default).
//
// # Log object
//
// All numbers are little-endian; all checksums are SHA-256.
//
//	  0  "OGSHLOG\0"
//	  8  u32  format = 1
//	 12  u8   kind: 1 group, 2 takeover, 3 announcement
//	 13       0
//	 16  u64  number, as in the name
//	 24  u64  epoch of the writer
//	 32  u64  LSN of the first record; of the next record if there is none
//	 40  u64  time of the commit in milliseconds since 1970, never before that of its predecessor
//	 48  u64  layout for which a group was written
//	 56  u32  number of records
//	 60  u32  length of the body
//	 64       group id, 16 random bytes
//	 80       checksum of the last log object before this one that is not void; zeros if none
//	112       body
//	          checksum of all bytes before it
//
// The body of a group is a u32 length and the bytes of each record. The other bodies are JSON. In an
// announcement, the member `condemned` lists what waits for its deletion, the oldest first. What
// announcements condemn within a 64th of the retention shares an element:
//
//	{"begun": …, "time": …,          times of the first and the last announcement in milliseconds since 1970
//	 "covered": 42,                  number of the last log object that the last checkpoint covers
//	 "segments": [[1099511627777, 3]]}  the first number of each run of segments, and their count
//
// # Roll-up
//
//	 0  "OGSHROL\0"
//	 8  u32  format = 1
//	12  u32  number of log objects
//	16  u64  number of the last log object
//	24  for each log object, in order: u32 length, its bytes
//	    checksum of all bytes before it
//
// # Checkpoint
//
//	 0  "OGSHCKP\0"
//	 8  u32  format = 1
//	12  u32  number of takeovers
//	16  u64  number of the last log object that it covers
//	24  u64  epoch after that object
//	32  u64  LSN of the next record
//	40  u64  time of the last commit
//	48  u64  layout of the rows
//	56  u64  length of the state
//	64       checksum of the last log object that is not void
//	96       for each takeover in the log, in order: u64 number
//	         state, as the caller encoded it
//	         checksum of all bytes before it
package sharedlog
