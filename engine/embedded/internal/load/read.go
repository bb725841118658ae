package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

const (
	// MaxLine is the maximum length of a line, in bytes.
	MaxLine = 256 << 20
	// maxErrors is the maximum number of bad lines and fields that are reported.
	maxErrors = 100
	// progressEvery is the number of lines between two progress reports.
	progressEvery = 1 << 16
	// defaultBlock is the default number of bytes that are parsed at a time.
	defaultBlock = 256 << 10
	// defaultMemory is the default of Options.Memory. At its peak, a load uses about four times as
	// much memory. Longer runs would not make a load faster.
	defaultMemory = 32 << 20
)

// Options configure how an input is read. Workers and Block do not affect the result.
type Options struct {
	// IDs starts a sequence of ids for n entities without an id in the input. The function
	// that it returns appends the next id. The ids ascend.
	IDs func(n int) func(dst []byte) []byte
	// Progress, if set, is called from time to time with the number of lines read so far.
	Progress func(lines int64)
	// Embeds says that [Input.Embed] will compute the missing vectors.
	Embeds bool
	// Mode, NewEdges, LastWins and Sync are those of [engine.LoadOptions].
	Mode               engine.LoadMode
	NewEdges, LastWins bool
	Sync               engine.SyncOptions
	// Claims is that of [engine.LoadOptions].
	Claims func(source string) error
	// Changes says that the load has [engine.SourceChanges].
	Changes bool
	// Hidden, if set, reports whether the caller must not know of a type, or of the property of a type at a position that is
	// not negative. Such lines get the errors of a schema that lacks it.
	Hidden func(t *schema.Type, property int) bool
	// Base is the graph in which the modes that find entities look for edges by their ends.
	Base    *version.Snapshot
	Workers int // number of parsing goroutines; 0 for one per processor
	Block   int // bytes to parse at a time, extended to the end of a line; 0 for the default

	// Scratch stores rows that do not fit into memory. Nil means that all rows stay in memory.
	Scratch Scratch
	// Memory is the number of bytes of rows in memory at which the rows are moved to a temporary
	// file. 0 means the default.
	Memory int64
	// Segment is the number of bytes of rows at which a new segment of a type begins. For very many
	// rows a higher number is used. 0 means the default.
	Segment int64
}

// Parse reads NDJSON. It returns only after all its goroutines have ended. So it waits for a call
// of r.Read that has not returned yet. The error is a *engine.LoadErrors, that of the reader, or
// that of the context.
func Parse(ctx context.Context, r io.Reader, s *schema.Schema, opts Options) (*Input, error) {
	if opts.Workers <= 0 {
		opts.Workers = parallel.Processors()
	}
	if opts.Block <= 0 {
		opts.Block = defaultBlock
	}
	if opts.Memory <= 0 {
		opts.Memory = defaultMemory
	}
	if opts.Segment <= 0 {
		opts.Segment = DefaultSegment
	}
	c := &collector{opts: opts, in: &Input{Nodes: make([]*Rows, len(s.Nodes)), Edges: make([]*Rows, len(s.Edges)), opts: opts}}
	if err := c.run(ctx, r, s); err != nil {
		return nil, err
	}
	if len(c.bad.Lines) > 0 {
		return nil, &c.bad
	}
	if opts.Progress != nil {
		opts.Progress(c.lines)
	}
	for _, list := range [][]*Rows{c.in.Nodes, c.in.Edges} {
		for _, rows := range list {
			if rows == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := rows.fillIDs(rows.inMemory(), true, &opts); err != nil {
				return nil, err
			}
		}
	}
	return c.in, nil
}

// byteOrderMark may precede the first line; Windows programs write it.
var byteOrderMark = []byte("\ufeff")

// job is a block on its way from the reader to the collector.
type job struct {
	text []byte      // the lines of the block
	done chan parsed // capacity 1
}

// run reads blocks, has workers parse them, and collects the results in the order of the
// input.
func (c *collector) run(ctx context.Context, r io.Reader, s *schema.Schema) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan *job)
	order := make(chan *job, 2*c.opts.Workers)
	free := make(chan []byte, 3*c.opts.Workers)
	var workers, collecting sync.WaitGroup
	for range c.opts.Workers {
		workers.Go(func() {
			p := newParser(s, &c.opts)
			for j := range jobs {
				if ctx.Err() != nil {
					j.done <- parsed{}
					continue
				}
				j.done <- p.block(j.text)
				if cap(j.text) > 4*c.opts.Block {
					continue // do not keep the buffer of an unusually long line
				}
				select {
				case free <- j.text[:0]:
				default:
				}
			}
		})
	}
	collecting.Go(func() {
		for j := range order {
			out := <-j.done
			if ctx.Err() == nil && !c.add(out) {
				cancel() // the rest of the input does not matter
			}
		}
	})
	b := &blocks{r: r, size: c.opts.Block, free: free}
	var err error
	for first := true; ctx.Err() == nil; first = false {
		var text []byte
		if text, err = b.next(); err != nil {
			break
		}
		if first {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		j := &job{text: text, done: make(chan parsed, 1)}
		order <- j
		jobs <- j
	}
	close(jobs)
	close(order)
	workers.Wait()
	collecting.Wait()
	switch {
	case c.err != nil:
		return c.err
	case c.stopped:
		return nil
	case errors.Is(err, errTooLong):
		c.lines++
		c.fail(engine.LineError{Line: c.lines, Err: err})
		return nil
	case err != nil && err != io.EOF:
		return fmt.Errorf("reading the input: %w", err)
	}
	return outer.Err()
}

// collector joins the parsed blocks into one input.
type collector struct {
	opts    Options // options of the load
	in      *Input
	lines   int64             // number of lines collected so far
	memory  int64             // bytes of the rows in memory, with the vectors that will be computed for them
	bad     engine.LoadErrors // bad lines found so far
	stopped bool              // the rest of the input does not matter
	err     error             // why rows could not be spilled
}

// add adds the next block, and reports whether to continue with more blocks.
func (c *collector) add(out parsed) bool {
	for _, b := range out.batches {
		for i := range b.lines {
			b.lines[i] += c.lines
		}
		r := c.rows(b.typ)
		if len(c.bad.Lines) == 0 {
			r.add(b)
			c.memory += b.held()
		}
	}
	c.in.changes.add(out.changes, c.lines)
	for _, e := range out.bad.Lines {
		e.Line += c.lines
		c.fail(e)
	}
	c.bad.More = c.bad.More || out.bad.More
	if c.opts.Progress != nil {
		for at := c.lines/progressEvery + 1; at*progressEvery <= c.lines+int64(out.lines); at++ {
			c.opts.Progress(at * progressEvery)
		}
	}
	c.lines += int64(out.lines)
	if c.memory > c.opts.Memory && c.opts.Scratch != nil && len(c.bad.Lines) == 0 {
		if c.err = c.in.spill(); c.err != nil {
			return false
		}
		// Collect the memory of the rows, so that the next rows can use it. This is fast, because
		// the rows were in a few large arrays without pointers.
		if c.memory > collectFrom {
			runtime.GC()
		}
		c.memory = 0
	}
	c.stopped = c.bad.More || out.lineTooLong
	return !c.stopped
}

// fail records a fault in a line. At most maxErrors faults are kept.
func (c *collector) fail(e engine.LineError) {
	if len(c.bad.Lines) == maxErrors {
		c.bad.More = true
		return
	}
	c.bad.Lines = append(c.bad.Lines, e)
}

// rows returns the rows of a type. It creates them on first use.
func (c *collector) rows(t *schema.Type) *Rows {
	list := c.in.Nodes
	if t.Entity == plan.Edge {
		list = c.in.Edges
	}
	if list[t.Index] == nil {
		list[t.Index] = &Rows{Type: t}
	}
	return list[t.Index]
}

// errTooLong is the error of a line that is longer than MaxLine.
var errTooLong = fmt.Errorf("the line is longer than %d bytes", MaxLine)

// blocks splits an input at line ends.
type blocks struct {
	r    io.Reader
	size int         // size in bytes from which on a block ends at the next line end
	free chan []byte // buffers of finished blocks
	rest []byte      // the beginning of a line
	err  error       // why the input ended
}

// next returns a block of whole lines, io.EOF after the last block, errTooLong if the next
// line is longer than MaxLine and has no end so far, or the reader's error.
func (b *blocks) next() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	var buf []byte
	select {
	case buf = <-b.free:
	default:
	}
	if cap(buf) < b.size+len(b.rest) {
		buf = make([]byte, 0, b.size+len(b.rest))
	}
	buf = append(buf[:0], b.rest...)
	b.rest = b.rest[:0]
	scanned := len(buf) // the bytes before this index contain no line end
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := b.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err != nil:
			b.err = err
			if err == io.EOF && len(buf) > 0 {
				return buf, nil
			}
			if end := bytes.LastIndexByte(buf, '\n') + 1; end > 0 {
				return buf[:end], nil
			}
			return nil, b.err
		case len(buf) < b.size:
			continue
		}
		end := bytes.LastIndexByte(buf[scanned:], '\n') + 1
		if end == 0 {
			if scanned = len(buf); scanned > MaxLine {
				b.err = errTooLong
				return nil, b.err
			}
			continue
		}
		end += scanned
		b.rest = append(b.rest, buf[end:]...)
		return buf[:end], nil
	}
}
