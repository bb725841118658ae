package sharedlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	checkpointMagic  = "OGSHCKP\x00" // the first bytes of a checkpoint
	checkpointHeader = 96            // bytes before the list of takeover numbers
)

// position is the place of a Follower in the log.
type position struct {
	next      uint64   // number of the next log object
	epoch     uint64   // of the last takeover, 0 before the first
	last      sum      // checksum of the last log object that is not void
	lsn       uint64   // of the next record
	time      int64    // of the last commit, in milliseconds since 1970
	layout    uint64   // of the rows in the state
	takeovers []uint64 // numbers of all takeover objects that are not void, in order
}

// start is the position before the first log object.
func start() position { return position{next: 1, lsn: 1} }

// continues reports whether a log object continues the log at this position. If not, it is void.
func (p *position) continues(e *entry) bool {
	if e.previous != p.last || e.first != p.lsn || e.time < p.time {
		return false
	}
	if e.kind == takeover {
		return e.epoch > p.epoch
	}
	return e.epoch == p.epoch
}

// tookOverAt reports whether the log object `number` is a takeover that is not void.
func (p *position) tookOverAt(number uint64) bool {
	_, found := slices.BinarySearch(p.takeovers, number)
	return found
}

// advance moves the position past a log object that continues the log.
func (p *position) advance(e *entry) {
	p.next = e.number + 1
	p.epoch = e.epoch
	p.last = e.own
	p.lsn = e.first + uint64(len(e.records))
	p.time = e.time
	if e.kind == takeover {
		p.takeovers = append(p.takeovers, e.number)
	}
}

// Checkpoint is a checkpoint of a log. It is in force once the Writer has stored and announced it.
type Checkpoint struct {
	storage          // stores it; empty in a checkpoint that was read
	name    string   // without the prefix of the graph
	sum     sum      // checksum of the object; zeros before it is stored
	at      position // the position after the last log object that it covers
	state   []byte   // what State.Load receives
}

// covered returns the number of the last log object that the checkpoint covers.
func (c *Checkpoint) covered() uint64 { return c.at.next - 1 }

// Store stores the checkpoint with the encoded State, as the State was at the call of Capture. The Writer may
// be used at the same time. The error matches ErrUnavailable.
func (c *Checkpoint) Store(ctx context.Context, state []byte) error {
	c.state = state
	data := c.encode()
	c.state = nil
	if err := c.upload(ctx, c.name, data); err != nil {
		c.sum = sum{}
		return err
	}
	return nil
}

// encode returns the bytes of the checkpoint and sets c.sum.
func (c *Checkpoint) encode() []byte {
	b := make([]byte, 0, checkpointHeader+8*len(c.at.takeovers)+len(c.state)+sumSize)
	b = append(b, checkpointMagic...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.at.takeovers)))
	for _, n := range []uint64{c.covered(), c.at.epoch, c.at.lsn, uint64(c.at.time), c.at.layout, uint64(len(c.state))} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, c.at.last[:]...)
	for _, n := range c.at.takeovers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, c.state...)
	c.sum = sha256.Sum256(b)
	return append(b, c.sum[:]...)
}

// decodeCheckpoint decodes the bytes of the checkpoint with the given name.
func decodeCheckpoint(name string, b []byte) (*Checkpoint, error) {
	fault := func(format string, args ...any) error {
		return &CorruptError{Name: name, Fault: fmt.Sprintf(format, args...)}
	}
	covered, _, err := parseCheckpointName(name)
	if err != nil {
		return nil, err
	}
	if len(b) < checkpointHeader+sumSize || string(b[:8]) != checkpointMagic {
		return nil, fault("it is not a checkpoint")
	}
	content, stored := b[:len(b)-sumSize], b[len(b)-sumSize:]
	c := &Checkpoint{name: name, sum: sha256.Sum256(content)}
	if !bytes.Equal(c.sum[:], stored) {
		return nil, fault("its checksum does not match")
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	if err := checkFormat(name, u32(8)); err != nil {
		return nil, err
	}
	if u64(16) != covered {
		return nil, fault("it covers the log up to number %d", u64(16))
	}
	takeovers, rest := u32(12), content[checkpointHeader:]
	if uint64(len(rest)) < 8*uint64(takeovers) || uint64(len(rest))-8*uint64(takeovers) != u64(56) {
		return nil, fault("its length does not match its header")
	}
	c.at = position{next: covered + 1, epoch: u64(24), lsn: u64(32), time: int64(u64(40)), layout: u64(48)}
	copy(c.at.last[:], b[64:])
	for range takeovers {
		c.at.takeovers = append(c.at.takeovers, binary.LittleEndian.Uint64(rest))
		rest = rest[8:]
	}
	c.state = rest
	return c, nil
}
