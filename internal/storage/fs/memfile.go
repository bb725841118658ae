package fs

import (
	"bytes"
	"io"
	iofs "io/fs"
)

// pageSize is the number of bytes in a page.
const pageSize = 4096

// page is a part of the content of a file.
type page [pageSize]byte

// zeros is the content of a nil page. It is never written.
var zeros page

// inode is the content of a file: the current pages, and the durable pages, which a power failure
// leaves. A nil page is all zeros. A page that is in both lists is shared and never written.
type inode struct {
	pages, durable    []*page          // by page number
	size, durableSize int64            // in bytes
	dirty             map[int]struct{} // pages written since the last Sync
}

// memFile is an open file of a [Mem].
type memFile struct {
	fs       *Mem
	node     *inode // the content
	name     string // path for errors
	writable bool   // whether the file was opened for writing
	closed   bool   // whether Close has been called
}

// ReadAt implements [File].
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("read"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &iofs.PathError{Op: "read", Path: f.name, Err: iofs.ErrInvalid}
	}
	return f.node.readAt(p, off)
}

// WriteAt implements [File].
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("write"); err != nil {
		return 0, err
	}
	if !f.writable || off < 0 {
		return 0, &iofs.PathError{Op: "write", Path: f.name, Err: iofs.ErrInvalid}
	}
	if err := f.fs.durableOp(); err != nil {
		return 0, err
	}
	f.node.writeAt(p, off)
	return len(p), nil
}

// Size implements [File].
func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("stat"); err != nil {
		return 0, err
	}
	return f.node.size, nil
}

// Sync implements [File].
func (f *memFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("sync"); err != nil {
		return err
	}
	if err := f.fs.durableOp(); err != nil {
		return err
	}
	f.node.sync()
	return nil
}

// Close implements [File].
func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return &iofs.PathError{Op: "close", Path: f.name, Err: iofs.ErrClosed}
	}
	f.closed = true
	return nil
}

// LoseWrites does what some kernels do after a failed sync: the pages count as clean and reads
// still return them, but they never reach the disk.
func (f *memFile) LoseWrites() {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	clear(f.node.dirty)
}

// usable returns an error if the file is closed, or after the simulated crash.
func (f *memFile) usable(op string) error {
	if err := f.fs.alive(); err != nil {
		return err
	}
	if f.closed {
		return &iofs.PathError{Op: op, Path: f.name, Err: iofs.ErrClosed}
	}
	return nil
}

// readAt copies bytes of the current content to p.
func (n *inode) readAt(p []byte, off int64) (int, error) {
	if off >= n.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > n.size-off
	if short {
		p = p[:n.size-off]
	}
	for rest := p; len(rest) > 0; {
		i, at := int(off/pageSize), int(off%pageSize)
		part := rest[:min(len(rest), pageSize-at)]
		if pg := n.page(i); pg != nil {
			copy(part, pg[at:])
		} else {
			clear(part)
		}
		rest, off = rest[len(part):], off+int64(len(part))
	}
	if short {
		return len(p), io.EOF
	}
	return len(p), nil
}

// writeAt changes the current content.
func (n *inode) writeAt(p []byte, off int64) {
	n.size = max(n.size, off+int64(len(p)))
	for len(p) > 0 {
		i, at := int(off/pageSize), int(off%pageSize)
		part := p[:min(len(p), pageSize-at)]
		if n.page(i) != nil || !isZero(part) {
			copy(n.own(i)[at:], part)
			n.dirty[i] = struct{}{}
		}
		p, off = p[len(part):], off+int64(len(part))
	}
}

// sync makes the current content durable.
func (n *inode) sync() {
	for i := range n.dirty {
		if i >= len(n.durable) {
			n.durable = append(n.durable, make([]*page, i+1-len(n.durable))...)
		}
		n.durable[i] = n.pages[i]
	}
	clear(n.dirty)
	n.durableSize = n.size
}

// page returns page i of the current content; nil means all zeros.
func (n *inode) page(i int) *page {
	if i < len(n.pages) {
		return n.pages[i]
	}
	return nil
}

// durablePage returns page i of the durable content; nil means all zeros.
func (n *inode) durablePage(i int) *page {
	if i < len(n.durable) {
		return n.durable[i]
	}
	return nil
}

// own returns page i for writing.
func (n *inode) own(i int) *page {
	if i >= len(n.pages) {
		n.pages = append(n.pages, make([]*page, i+1-len(n.pages))...)
	}
	switch pg := n.pages[i]; {
	case pg == nil:
		n.pages[i] = new(page)
	case pg == n.durablePage(i):
		own := *pg
		n.pages[i] = &own
	}
	return n.pages[i]
}

// isZero reports whether p is all zeros. p is at most one page long.
func isZero(p []byte) bool { return bytes.Equal(p, zeros[:len(p)]) }
