package sharedlog

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	logPrefix        = "log/"        // of the names of log objects
	checkpointPrefix = "checkpoint/" // of the names of checkpoints
	segmentPrefix    = "segment/"    // of the names of segments
	rollUpPrefix     = "rollup/"     // of the names of roll-ups
)

// SegmentsPerEpoch is the number of segments that the writer of one epoch can make. Segment n of
// epoch e has the number e * SegmentsPerEpoch + n. So no number is ever given to two segments.
const SegmentsPerEpoch = 1 << 40

// SegmentName returns the name of a segment, without the prefix of the graph.
func SegmentName(number uint64) string { return fmt.Sprintf("%s%020d", segmentPrefix, number) }

// segmentNumber returns the number in the name of a segment.
func segmentNumber(name string) (uint64, error) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || SegmentName(n) != name {
		return 0, &CorruptError{Name: name, Fault: "this is not the name of a segment"}
	}
	return n, nil
}

// logName returns the name of a log object, without the prefix of the graph.
func logName(number uint64) string { return fmt.Sprintf("%s%020d", logPrefix, number) }

// logNumber returns the number in the name of a log object.
func logNumber(name string) (uint64, error) {
	digits, ok := strings.CutPrefix(name, logPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || logName(n) != name {
		return 0, &CorruptError{Name: name, Fault: "this is not the name of a log object"}
	}
	return n, nil
}

// checkpointName returns the name of a checkpoint, without the prefix of the graph. The random
// bytes distinguish checkpoints that cover the same log objects.
func checkpointName(covered, epoch uint64, random [8]byte) string {
	return fmt.Sprintf("%s%020d-%016x-%s", checkpointPrefix, math.MaxUint64-covered, epoch, hex.EncodeToString(random[:]))
}

// parseCheckpointName returns the last log number that a checkpoint covers, and the epoch of the
// checkpoint's writer.
func parseCheckpointName(name string) (covered, epoch uint64, err error) {
	parts := strings.Split(strings.TrimPrefix(name, checkpointPrefix), "-")
	var random []byte
	if len(parts) == 3 {
		var ascending uint64
		ascending, err = strconv.ParseUint(parts[0], 10, 64)
		covered = math.MaxUint64 - ascending
		if err == nil {
			epoch, err = strconv.ParseUint(parts[1], 16, 64)
		}
		if err == nil {
			random, err = hex.DecodeString(parts[2])
		}
	}
	if err != nil || len(random) != 8 || checkpointName(covered, epoch, [8]byte(random)) != name {
		return 0, 0, &CorruptError{Name: name, Fault: "this is not the name of a checkpoint"}
	}
	return covered, epoch, nil
}
