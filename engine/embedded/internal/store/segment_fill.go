package store

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	unitPieces = 16 // pieces in a unit, the least that one request reads: 1 MiB
	mostUnits  = 8  // units that one request reads at most
)

// A filler completes the mapped file of a segment from the segment's object. At first, the file has holes: pieces
// that read as zeros. A piece is fetched when it is first read, unless its checksum shows that the file has it.
//
// Each goroutine claims the unit of a piece before it looks at a piece that is not verified. So only one goroutine at
// a time writes a unit, and no other one reads the unit's pieces before they are verified.
type filler struct {
	read func(at, length int64) ([]byte, error) // reads exactly these bytes of the object
	file *cachedFile                            // the mapping is one of its users

	mu   sync.Mutex
	busy map[unit]*claimed // the claimed units
}

// claimed is the claim of some units.
type claimed struct {
	done chan struct{} // closed when the claim ends
	err  error         // valid then: the error of the request, so that waiting goroutines do not repeat it at once
}

// unit is a run of unitPieces pieces of a block.
type unit struct {
	block *block
	index int // of the unit in the block
}

// claim claims up to `most` units of a block, from index i on, and returns their number. While another goroutine holds
// the first of them, claim waits for it, and then returns nil and 0.
func (f *filler) claim(b *block, i, most int) (c *claimed, n int, err error) {
	f.mu.Lock()
	if held := f.busy[unit{b, i}]; held != nil {
		f.mu.Unlock()
		<-held.done
		return nil, 0, held.err
	}
	defer f.mu.Unlock()
	c = &claimed{done: make(chan struct{})}
	for ; n < most && f.busy[unit{b, i + n}] == nil; n++ {
		f.busy[unit{b, i + n}] = c
	}
	return c, n, nil
}

// release ends the claim of n units of a block, from index i on.
func (f *filler) release(c *claimed, b *block, i, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := i; k < i+n; k++ {
		delete(f.busy, unit{b, k})
	}
	close(c.done)
}

// known reports whether piece i of the block is verified.
func (b *block) known(i int) bool { return b.parts[i/64].Load()&(1<<(i%64)) != 0 }

// fill verifies the pieces `first` to `last` of the block, and fetches those that the file does not have.
func (b *block) fill(g *Segment, first, last int) error {
	for i := first; i <= last; {
		if b.known(i) {
			i++
			continue
		}
		at := i / unitPieces
		c, n, err := g.fill.claim(b, at, b.unitsToRead(i, last))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := b.fillUnits(g, c, i, n); err != nil {
			return err
		}
	}
	return nil
}

// unitsToRead returns how many units to read if piece i is missing and the caller needs the pieces up to `last`. If
// piece i follows the piece that was fetched last, the caller probably reads in order, and the number doubles.
func (b *block) unitsToRead(i, last int) int {
	n := int64(1)
	if b.fetched.Load() == int64(i) {
		n = 2 * b.ahead.Load()
	}
	n = min(max(n, int64(last/unitPieces-i/unitPieces+1)), mostUnits)
	b.ahead.Store(n)
	return int(n)
}

// fillUnits verifies piece i. If the file does not have it, fillUnits fetches it together with the pieces around it
// that are not verified, in n units, the first of which contains piece i. It then releases the units. A fault in one of
// the other pieces is no error: a read of that piece finds it again. REQUIRES: the caller has claimed the units.
func (b *block) fillUnits(g *Segment, c *claimed, i, n int) error {
	at := i / unitPieces
	defer g.fill.release(c, b, at, n) // deferred, so that it also runs if reading the mapping faults
	defer runtime.KeepAlive(g)
	data := g.mapping.Bytes()[b.offset:][:pad(b.length, blockAlign)]
	if b.known(i) {
		return nil
	}
	if b.verifyPiece(data, i, g.name) == nil {
		b.note(i)
		return nil
	}
	first, stop, end := i, i+1, min((at+n)*unitPieces, len(b.blockEntry.pieces))
	for stop < end && !b.known(stop) {
		stop++
	}
	for first > at*unitPieces && !b.known(first-1) {
		first--
	}
	from, to := int64(first)*pieceSize, min(int64(stop)*pieceSize, int64(len(data)))
	fetched, err := g.fill.read(b.offset+from, to-from)
	if err != nil {
		c.err = err
		return err
	}
	if err := g.fill.file.write(fetched, b.offset+from); err != nil {
		return err
	}
	g.mapping.Written(fetched, b.offset+from)
	for k := first; k < stop; k++ {
		switch fault := b.verifyPiece(data, k, g.name); {
		case fault == nil:
			b.note(k)
		case k == i:
			err = fault
		}
	}
	b.fetched.Store(int64(stop))
	return err
}

// note remembers that piece i is verified.
func (b *block) note(i int) { b.parts[i/64].Or(1 << (i % 64)) }

// fillAll verifies all pieces of the block, and fetches those that the file does not have. It makes several requests at a
// time. When the context ends, it starts no more; it does not cancel those that other goroutines may wait for.
func (b *block) fillAll(ctx context.Context, g *Segment) error {
	const step = unitPieces * mostUnits
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fetchRequests)
	for i := 0; i < len(b.blockEntry.pieces); i += step {
		group.Go(func() (err error) {
			defer corruption.Catch(corruption.Watch(), &err)
			if err := ctx.Err(); err != nil {
				return err
			}
			return b.fill(g, i, min(i+step, len(b.blockEntry.pieces))-1)
		})
	}
	return group.Wait()
}

// Complete fetches the pieces that the cached file lacks, and verifies all pieces.
func (g *Segment) Complete(ctx context.Context) error {
	if g.fill == nil {
		return nil
	}
	for _, name := range g.names {
		b := g.blocks[name]
		b.prepare()
		if err := b.fillAll(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// newFiller returns the filler of a mapping of a file in the cache.
func (s *Shared) newFiller(id SegmentID, file *cachedFile) *filler {
	return &filler{file: file, busy: map[unit]*claimed{}, read: func(at, length int64) ([]byte, error) {
		// An open result may read on after its call, and after the graph is closed. The patience bounds the request.
		return s.readPart(context.Background(), id, at, length)
	}}
}

// The first request for the end of a segment reads so many bytes, and one byte in tailShare of the segment. Apart from
// the names of the blocks, the footer has 4 bytes for each piece of 64 KiB.
const (
	tailBytes = 64 << 10
	tailShare = pieceSize / 4
)

// fetchEnds writes the header and the footer of a segment's object to `f`, which then has the size of the object. Two
// requests at the same time read them. It returns the checksum of the footer.
func (s *Shared) fetchEnds(ctx context.Context, id SegmentID, f fs.File, file *cachedFile, want segmentState) (crc uint32, err error) {
	name := s.opts.Prefix + objectName(id)
	if want.size < segmentHeaderSize+segmentTrailerSize {
		return 0, &engine.Corrupt{Object: name, Detail: fmt.Sprintf("the checkpoint gives %d bytes, fewer than a header and a footer", want.size)}
	}
	tail := max(want.size-tailBytes-want.size/tailShare, segmentHeaderSize)
	var header, end []byte
	group, _ := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		header, err = s.readPart(ctx, id, 0, segmentHeaderSize)
		return err
	})
	group.Go(func() (err error) {
		end, err = s.readPart(ctx, id, tail, want.size-tail)
		return err
	})
	if err := group.Wait(); err != nil {
		return 0, err
	}
	start, err := footerOffset(end[len(end)-segmentTrailerSize:], name, want.size)
	if err != nil {
		return 0, err
	}
	if start < tail { // the blocks have long names
		rest, err := s.readPart(ctx, id, start, tail-start)
		if err != nil {
			return 0, err
		}
		end, tail = append(rest, end...), start
	}
	for at, part := range map[int64][]byte{0: header, start: end[start-tail:]} {
		file.grow(int64(len(part)))
		if _, err := f.WriteAt(part, at); err != nil {
			return 0, unavailable("writing a segment to the cache", err)
		}
	}
	seg, err := readFooter(f, want.size, name, id)
	if err != nil {
		return 0, err
	}
	return seg.crc, s.checkCopy(seg, id, want)
}
