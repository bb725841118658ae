package store

import (
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
)

// The extensions of the files in a store's directory.
const (
	logExt      = ".log"      // log files
	freeExt     = ".free"     // log files that can be reused
	segmentExt  = ".seg"      // segments
	manifestExt = ".manifest" // manifests
	tempExt     = ".tmp"      // files that are being written
	lockName    = "LOCK"      // locked while a process has the store open
	endName     = "END"       // identifies the last record after a clean close
)

// castagnoli is the table for CRC-32C checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC-32C of data.
func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// updateChecksum continues a checksum with more data.
func updateChecksum(crc uint32, data []byte) uint32 { return crc32.Update(crc, castagnoli, data) }

// filename returns the name of a numbered file.
func filename(dir string, number uint64, ext string) string {
	return filepath.Join(dir, fmt.Sprintf("%012d%s", number, ext))
}

// listing lists the files in a directory by kind of file. The numbers are sorted.
type listing struct {
	logs, free, segments, manifests []uint64 // numbers of the files
	temps                           []string // names of temporary files
}

// classify makes a listing of file names. It omits names that a store does not use.
func classify(names []string) listing {
	var l listing
	for _, name := range names {
		if made, ok := strings.CutSuffix(name, tempExt); ok {
			// Omit the temporary files of other programs, which a store must not remove.
			if found := classify([]string{made}); made == endName || len(found.logs)+len(found.segments)+len(found.manifests) > 0 {
				l.temps = append(l.temps, name)
			}
			continue
		}
		ext := filepath.Ext(name)
		digits := strings.TrimSuffix(name, ext)
		number, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || filename("", number, ext) != name {
			continue
		}
		switch ext {
		case logExt:
			l.logs = append(l.logs, number)
		case freeExt:
			l.free = append(l.free, number)
		case segmentExt:
			l.segments = append(l.segments, number)
		case manifestExt:
			l.manifests = append(l.manifests, number)
		}
	}
	return l
}

// pad returns n rounded up to a multiple of `unit`, which is a power of two.
func pad[T int | int64 | uint64](n, unit T) T { return (n + unit - 1) &^ (unit - 1) }
