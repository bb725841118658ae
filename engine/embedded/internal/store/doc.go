// Package store stores one graph durably. [Store] keeps a graph in one directory: it has a
// write-ahead log with group commit, immutable segment files, and manifests that list the files of
// the graph. [Shared] keeps a graph in a bucket that several servers use; see the end of this page.
// [Storage] is the interface of both.
//
// The package stores bytes; its caller defines the meaning of records, blocks and manifest
// payloads. A commit is a record in the log. If a commit has too many rows for a record, the caller
// first writes the rows to segments, and the record lists the segments. A checkpoint writes a
// manifest with the effect of all records up to a given one. After that, the log files before this
// record are recycled.
//
// # Directory
//
//	LOCK                   identifies the process that has the store open
//	END                    the last record when the store was last closed
//	000000000007.log       log file 7; numbers have no gaps, the highest is the active file
//	000000000003.free      a log file that waits for reuse; its content has no meaning
//	000000000012.seg       segment 12
//	000000000004.manifest  manifest 4; the highest is the one in force
//	*.tmp                  a file being made, or a temporary file; removed by the next Open
//
// Log files, segments, manifests and END are written under a temporary name, synced and
// renamed, and then the directory is synced. So a file under its final name was once
// complete, and every fault in it is corruption and not a torn write. The only exceptions
// are the frames of the last write to the log, unless END identifies their last record.
//
// The process that has the store open locks the directory itself, LOCK, and the active log
// file, and accesses the directory through its descriptor. So a second process is refused
// even if LOCK was removed or the directory was renamed, and the first process never accesses
// another directory that has taken the same path. Before each write to the log, and again after its
// sync, the process checks that the path still leads to its directory and its log file. If not, it
// acknowledges no more records. A copy of the directory is another store. If two directories share
// log files by hard links, the next process that opens one of them copies the files.
//
// A [View] reads a directory without the lock, while another process writes it. It relies on three
// rules: a manifest and a segment never change under their names; the files of a manifest, and the
// log files after it, are removed or recycled only after a newer manifest is there; and a frame that
// is read while it is written does not match its checksum. An [Image] is the content of a View or a
// [Shared], from which another store is made. The copy keeps the ids of segments, and has a new log.
//
// A temporary file contains data that does not fit into memory while a commit is made. It is a
// segment to which no record and no manifest refers. Its name is removed as soon as it is written
// and mapped.
//
// A record gets its place in the log only when there is a file with room for it, so that a
// full disk refuses the record before anything has changed. If the disk refuses the write
// nevertheless, the store overwrites it with zeros. After any failed write, the log accepts
// no records until the next Open.
//
// # Format
//
// Every file contains the format number that the store had when the file was written. The
// table in package format says what each number added. Each checkpoint writes a manifest
// with the current number; the other files keep theirs.
//
// All numbers are little-endian, all checksums are CRC32C (Castagnoli). Bytes marked 0 are
// zero. Every byte of a file is under a checksum, except for the unused end of a log file.
//
// # Log file
//
// A new log file is filled with zeros to its full size, so that a sync has no metadata to
// write. Its header is in a separate page, which is never written again:
//
//	   0  "OGLOG\0\0\0"
//	   8  u32  format
//	  12  u32  0
//	  16  u64  number, as in the name
//	  24  u64  LSN of the first record
//	  32  u64  salt, a new random number for each use of the file
//	  40  u64  length of the file
//	  48       0
//	4092  u32  checksum of bytes 0 to 4092
//	4096       frames, each on a multiple of 8
//
// A frame holds one record. Records have log sequence numbers (LSN) from 1, without gaps:
//
//	 0  "OGL"
//	 3  u8   1
//	 4  u8   kind, defined by the caller
//	 5       0
//	 8  u64  LSN
//	16  u32  length of the payload
//	20  u32  position in its write, from 1: the records up to LSN - position were
//	         durable before this one was written
//	24  u32  checksum of the payload and its padding
//	28  u32  checksum of bytes 0 to 28, continued from that of the salt
//	32       payload, zero padded to a multiple of 8
//
// The salt prevents old frames in a recycled file, and payloads that look like frames, from
// being taken for frames of this file. The position distinguishes a torn write from
// corruption: if a frame is bad and a later frame says that it was durable, the log is
// corrupt. Otherwise the log ends before the bad frame, and the rest is cut off. Corruption
// of the very last write is taken for a torn write, unless END or the manifest says that
// its records were durable.
//
// # Segment
//
// A segment consists of named blocks of bytes. Each block is contiguous and starts at a
// multiple of 64, so that it can be used in place:
//
//	 0  "OGSEG\0\0\0"
//	 8  u32  format
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
//	           u8   0 uncompressed; 3 compressed in chunks; 4 compressed in chunks of differences
//	                of 4-byte numbers
//	           u64  length before it was compressed
//	           u32  for each 64 KiB of the padded block, the last one maybe shorter: checksum
//	         the last 40 bytes:
//	 0  u64  offset of the footer
//	 8  u64  length of the file
//	16  u32  number of blocks
//	20  u32  format
//	24  u32  0
//	28  u32  checksum of the footer and bytes 0 to 28
//	32  "OGSEGEND"
//
// A block that is compressed in chunks has a Zstandard frame for each 64 KiB, the last one maybe
// shorter, and then for each frame a u64, the offset of its end in the block. A use of a block
// verifies and decompresses only the pieces and chunks that it reads. Differences begin anew in
// each chunk.
//
// # Manifest
//
//	 0  "OGMANIF\0"
//	 8  u32  format
//	12  u32  number of segments
//	16  u64  number, as in the name
//	24  u64  LSN of the last record with an effect in this manifest
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
// Create writes this file, and Close writes it anew. It stays true afterwards, because later records have higher LSNs.
//
//	 0  "OGEND\0\0\0"
//	 8  u32  format
//	12  u32  0
//	16  u64  LSN of the last record, 0 for none
//	24  u32  0
//	28  u32  checksum of bytes 0 to 28
//
// # Shared storage
//
// A [Shared] uses these objects, below the prefix of the graph:
//
//	log/…                         the log; see package sharedlog
//	checkpoint/…                  the checkpoints of the log
//	segment/…                     a segment, with the bytes of a segment file; see package sharedlog
//
// A record in a log object is its kind, one byte, and its payload. The state in a checkpoint is:
//
//	0  u64  length of the manifest
//	8       a manifest, with the bytes of a manifest file; its number is 0
//	        for each record that the checkpoint covers and the manifest does not contain:
//	          u32  length of the payload
//	          u8   kind
//	          payload
//
// Each server has a cache folder, which it locks with the file LOCK. The folder contains copies of
// segments under the names that they have in the directory of a Store. A segment is uploaded before
// a record or checkpoint can name it. A server fetches a small segment whole when it first opens it, and
// verifies all of it before the file gets its name. Of a larger one it fetches the header and the footer; the rest of the
// file is a hole. Each piece of 64 KiB is fetched, with those around it, when it is first read and does not match its
// checksum. Nothing is read from a hole: the zeros do not match either, unless the piece consists of zeros. A server that
// loads a later checkpoint fetches new segments whole, because reads that go on need them soon.
// A server uses a file that an earlier process
// left only if the checkpoint gives the same length and the same checksum of the footer.
//
// A server that follows the log applies each record in memory. It loads a checkpoint of [Store.Rewrite]
// in any case. It loads another checkpoint only after many records, to free their memory, and before
// it takes over. Therefore its state may need segments that the checkpoint in force does not list. If
// that is so for half of the retention, or an object is missing, the server opens the log again.
//
// A checkpoint condemns the segments that its manifest does not list and that no later record is the
// first to name. Shared.Collect deletes them; package sharedlog has the rules. A writer also looks for
// segments that former writers stored and that it does not know. It does so after its first checkpoint
// that lists everything it needs of their time, and condemns what it finds with its next checkpoint.
// A [Hold] stands for the use of a checkpoint, and Shared.Needs tells other servers about it.
// RemoveSegment deletes the object of a segment that was never named.
//
// A [CacheBound] limits the caches of all graphs of a server. It removes only files that are not mapped,
// so the states in use keep their files. It counts the files of a closed graph until the graph is opened again,
// and locks the folder of the graph when it removes one of them.
package store
