// Package store keeps one graph durable in one directory: a write-ahead log with group
// commit, immutable segment files, and manifests that say which of these are the graph.
//
// It deals in bytes: what a record, a block or a manifest's payload means is its
// caller's. A commit is a record in the log; rows too many for a record are written to
// segments first, and the record names them. A checkpoint writes a manifest for all
// records up to one, after which the log files before it are recycled.
//
// # Directory
//
//	LOCK                   says which process has the store open
//	END                    the last record when the store was last closed
//	000000000007.log       log file 7; numbers are dense, the highest is written to
//	000000000003.free      a log file that waits for its next use; content without meaning
//	000000000012.seg       segment 12
//	000000000004.manifest  manifest 4; the highest is the one in force
//	*.tmp                  a file being made; removed by the next Open
//
// Log files, segments, manifests and END are made under a temporary name, synced, renamed,
// and the directory is synced: a file under its own name was once complete, so each fault
// in it is corruption and not a torn write. The frames of the last write to the log are
// the one exception, unless END names them.
//
// The process that has the store open locks the directory itself, LOCK, and the log file
// that it writes to, and uses the directory by its descriptor. So a second process is
// refused also when LOCK was removed or the directory renamed, and the first one never
// touches a directory that took the path. Before each write to the log, and again after
// its sync, it checks that the path still leads to its directory and its log file; if not,
// it acknowledges nothing more. A copy of the directory is another store. Log files that
// two directories share by hard links are copied by the next process that opens them.
//
// A record gets its place in the log only when there is a file with room for it: a full
// disk refuses it before anything has changed. A write that the disk refuses all the same
// is overwritten with zeros. After any failed write, the log takes nothing until the next
// Open.
//
// # Format
//
// Every file carries the format number of the store at the time when it was written; see
// package format, whose table says what each number added. The manifest in force is
// rewritten by each checkpoint, the other files stay as they are. The numbers in the
// drawings are the current one; the numbers below 4 that a kind of file can have are in
// the table too.
//
// All numbers are little-endian, all checksums CRC32C (Castagnoli). Bytes marked 0 are
// zero. Every byte of a file is under a checksum, but for the unused end of a log file.
//
// # Log file
//
// A log file has its full size, filled with zeros, from the start, so that a sync
// has no metadata to write. Its header has a page of its own, never written again:
//
//	   0  "OGLOG\0\0\0"
//	   8  u32  format = 4
//	  12  u32  0
//	  16  u64  number, as in the name
//	  24  u64  LSN of the first record
//	  32  u64  salt, drawn anew for each use of the file
//	  40  u64  length of the file
//	  48       0
//	4092  u32  checksum of bytes 0 to 4092
//	4096       frames, each on a multiple of 8
//
// A frame is a record. Records are numbered without gaps from 1 (log sequence numbers):
//
//	 0  "OGL"
//	 3  u8   1
//	 4  u8   kind, the caller's
//	 5       0
//	 8  u64  LSN
//	16  u32  length of the payload
//	20  u32  position in its write, from 1: the records up to LSN - position were
//	         durable before this one was written
//	24  u32  checksum of the payload and its padding
//	28  u32  checksum of bytes 0 to 28, continued from that of the salt
//	32       payload, zero padded to a multiple of 8
//
// The salt makes what is left in a recycled file, and what a payload imitates, no frame
// of this file. The position tells a torn write from corruption: when a frame is bad and
// a later one says that it was durable, the log is corrupt; otherwise the log ends there,
// and the rest is cut. Damage to the very last write is taken
// for a torn one, unless END or the manifest says that its records were durable.
//
// # Segment
//
// Blocks of bytes with names, each contiguous and on a multiple of 64, so that it can be
// used in place:
//
//	 0  "OGSEG\0\0\0"
//	 8  u32  format = 4
//	12  u32  0
//	16  u64  number, as in the name
//	24       0
//	60  u32  checksum of bytes 0 to 60
//	64       blocks, each zero padded to a multiple of 64
//	         footer: for each block
//	           u64  offset in the file
//	           u64  length without padding
//	           u16  length of the name
//	           name
//	           u8   0 as it is, 1 a Zstandard frame, 2 the same of the differences of
//	                4-byte numbers; not in format 1
//	           u64  length before it was compressed; not in format 1
//	           u32  for each 64 KiB of the padded block, the last one maybe shorter: checksum
//	         the last 40 bytes:
//	 0  u64  offset of the footer
//	 8  u64  length of the file
//	16  u32  number of blocks
//	20  u32  format = 4
//	24  u32  0
//	28  u32  checksum of the footer and bytes 0 to 28
//	32  "OGSEGEND"
//
// # Manifest
//
//	 0  "OGMANIF\0"
//	 8  u32  format = 4
//	12  u32  number of segments
//	16  u64  number, as in the name
//	24  u64  LSN of the last record whose effect it has
//	32  u64  next segment number
//	40  u64  length of the payload
//	48       for each segment, in order of number:
//	           u64  number
//	           u64  length of the file
//	           u32  checksum of its footer
//	           u32  0
//	         payload
//	         u32  checksum of all before it
//
// # END
//
// A store whose manifest has format 4 or more has this file. It is written by Close, and
// stays true afterwards: records are only added behind the one that it names.
//
//	 0  "OGEND\0\0\0"
//	 8  u32  format = 4
//	12  u32  0
//	16  u64  LSN of the last record, 0 for none
//	24  u32  0
//	28  u32  checksum of bytes 0 to 28
package store
