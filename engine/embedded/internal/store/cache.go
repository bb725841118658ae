package store

import (
	"container/list"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// CacheBound bounds the total size of the segments in the caches of several graphs. When they are
// larger, it removes files that are not mapped, the least recently used first. A mapped file stays, so
// the caches may be larger than the bound while much is mapped. The files of a graph that was closed still
// count, and may be removed. A nil *CacheBound bounds nothing.
type CacheBound struct {
	limit int64 // in bytes

	mu     sync.Mutex
	used   int64                   // bytes of the files in all folders
	idle   list.List               // of *cachedFile: the files without users, the least recently used first
	closed map[string]*cacheFolder // by path: the folders of graphs that were closed
}

// NewCacheBound returns a bound of `bytes`. If bytes is 0, it returns nil, which bounds nothing.
func NewCacheBound(bytes int64) *CacheBound {
	if bytes == 0 {
		return nil
	}
	return &CacheBound{limit: bytes}
}

// shrinkLocked removes idle files until the caches are within the bound. A file that cannot be removed
// stays. REQUIRES: b.mu is locked.
func (b *CacheBound) shrinkLocked() {
	for at := b.idle.Front(); at != nil && b.used > b.limit; {
		file := at.Value.(*cachedFile)
		at = at.Next()
		if file.removeLocked() == nil {
			file.forgetLocked()
		}
	}
}

// cacheFolder is the folder of a graph's cache. It knows the size of each file in it.
type cacheFolder struct {
	bound *CacheBound // never nil; its mutex guards the fields below and those of the files
	fsys  fs.FS       // the file system of the folder
	dir   fs.Dir      // the folder, locked until `closed`
	path  string      // of the folder

	files  map[SegmentID]*cachedFile // the files that have their name
	used   int64                     // bytes of these files
	closed bool                      // the graph is closed, so the folder must be locked again to remove a file
}

// cachedFile is a segment in a cache.
type cachedFile struct {
	folder   *cacheFolder
	id       SegmentID     // of the segment
	size     int64         // bytes of the file that count towards the bound
	users    int           // mappings of the file, and calls that need it
	idle     *list.Element // place in CacheBound.idle; nil while the file has users
	verified bool          // the file is a copy of the graph's segment, maybe with holes; an earlier process may have left another one under its name

	writing sync.Mutex // guards `open`
	open    fs.File    // to fill holes; nil until needed, and without users
}

// openCacheFolder locks the folder of a cache. The folder has no files until they are noted. If another
// holder has the lock, the error is a *fs.LockedError.
func openCacheFolder(fsys fs.FS, bound *CacheBound, path string) (*cacheFolder, error) {
	if bound == nil {
		bound = &CacheBound{limit: 1<<63 - 1}
	}
	bound.mu.Lock() // so that the removal of a file does not lock the folder meanwhile
	defer bound.mu.Unlock()
	dir, err := fsys.LockDir(path, lockName)
	if err != nil {
		return nil, err
	}
	if before := bound.closed[path]; before != nil { // the new user notes these files again
		before.forgetLocked()
		delete(bound.closed, path)
	}
	return &cacheFolder{bound: bound, fsys: fsys, dir: dir, path: path, files: map[SegmentID]*cachedFile{}}, nil
}

// name returns the path of the file.
func (c *cachedFile) name() string { return filename(c.folder.path, uint64(c.id), segmentExt) }

// scan notes the segments that an earlier process left in the folder, and removes its temporary
// files. The segments count towards the bound and are not verified.
func (f *cacheFolder) scan(found listing) error {
	for _, name := range found.temps {
		if err := f.dir.Remove(filepath.Join(f.path, name)); err != nil {
			return unavailable("removing a temporary file of the cache", err)
		}
	}
	for _, number := range found.segments {
		file, err := f.dir.Open(filename(f.path, number, segmentExt))
		if err != nil {
			return unavailable("reading the cache", err)
		}
		size, err := file.Size()
		if n, ok := fs.Allocated(file); ok {
			size = min(size, n) // the file may have holes
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return unavailable("reading the cache", err)
		}
		f.add(SegmentID(number), size, false).release()
	}
	return nil
}

// add notes a file of `size` bytes and returns it with one user. The caller must release it.
func (f *cacheFolder) add(id SegmentID, size int64, verified bool) *cachedFile {
	file := &cachedFile{folder: f, id: id, users: 1, verified: verified}
	f.bound.mu.Lock()
	if old := f.files[id]; old != nil {
		old.forgetLocked()
	}
	f.files[id] = file
	f.bound.mu.Unlock()
	file.grow(size)
	return file
}

// use returns a file with one more user, or nil if the folder does not have it. The caller must
// release it.
func (f *cacheFolder) use(id SegmentID, verified bool) *cachedFile {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	file := f.files[id]
	if file == nil || file.verified != verified {
		return nil
	}
	if file.users++; file.idle != nil {
		f.bound.idle.Remove(file.idle)
		file.idle = nil
	}
	return file
}

// remove removes a file, even if it is mapped: a mapping stays readable without the name. The bytes
// then no longer count towards the bound.
func (f *cacheFolder) remove(id SegmentID) error {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	if f.closed {
		return nil
	}
	err := removeIfThere(f.dir, filename(f.path, uint64(id), segmentExt))
	if file := f.files[id]; err == nil && file != nil {
		file.forgetLocked()
	}
	return err
}

// unverified returns the files that are not verified.
func (f *cacheFolder) unverified() (ids []SegmentID) {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	for id, file := range f.files {
		if !file.verified {
			ids = append(ids, id)
		}
	}
	return ids
}

// bytes returns the size of all files in the folder.
func (f *cacheFolder) bytes() int64 {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	return f.used
}

// close prepares for the end of the folder's lock. The files remain on the disk and count until the
// folder is opened again.
func (f *cacheFolder) close() {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	f.closed = true
	if f.bound.closed == nil {
		f.bound.closed = map[string]*cacheFolder{}
	}
	f.bound.closed[f.path] = f
}

// forgetLocked stops counting all files of the folder. REQUIRES: the mutex of the bound is locked.
func (f *cacheFolder) forgetLocked() {
	for _, file := range f.files {
		file.forgetLocked()
	}
}

// removeLocked removes a file without users from the disk. It locks the folder for that if the graph is
// closed; while another process has the lock, it returns an error. REQUIRES: the mutex of the bound is
// locked.
func (c *cachedFile) removeLocked() error {
	f := c.folder
	if !f.closed {
		return removeIfThere(f.dir, c.name())
	}
	dir, err := f.fsys.LockDir(f.path, lockName)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil // the folder was removed
	}
	if err != nil {
		return err
	}
	return errors.Join(removeIfThere(dir, c.name()), dir.Close())
}

// verify marks a file as a copy of the graph's segment.
func (c *cachedFile) verify() {
	c.folder.bound.mu.Lock()
	defer c.folder.bound.mu.Unlock()
	c.verified = true
}

// grow counts more bytes of a file, and makes room for them.
func (c *cachedFile) grow(bytes int64) {
	b := c.folder.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.folder.files[c.id] != c {
		return
	}
	c.size += bytes
	c.folder.used += bytes
	b.used += bytes
	b.shrinkLocked()
}

// release takes one user from a file. Without users, the file may be removed to make room.
func (c *cachedFile) release() {
	b := c.folder.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	c.closeLocked()
	if c.folder.files[c.id] != c {
		return
	}
	c.idle = b.idle.PushBack(c)
	b.shrinkLocked()
}

// openToWrite opens a file that may have holes, so that it can be written until it has no users any more. It does not
// lock the file, as the folder would do: open results of a closed graph may still write it when the graph is open again.
func (c *cachedFile) openToWrite() (err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.open != nil {
		return nil
	}
	if c.open, err = c.folder.fsys.OpenWrite(c.name()); err != nil {
		c.open = nil
		return unavailable("opening a segment in the cache", err)
	}
	return nil
}

// write writes to a file that openToWrite has opened, and counts the bytes.
func (c *cachedFile) write(p []byte, at int64) error {
	c.grow(int64(len(p)))
	if _, err := c.open.WriteAt(p, at); err != nil {
		return unavailable("writing a segment to the cache", err)
	}
	return nil
}

// closeLocked closes a file that openToWrite has opened. REQUIRES: the file has no users, and the mutex of the bound is
// locked.
func (c *cachedFile) closeLocked() {
	if c.open != nil {
		c.open.Close() // nothing is lost if that fails: checksums show what the file has
		c.open = nil
	}
}

// discard forgets a file that is not in the folder.
func (c *cachedFile) discard() {
	c.folder.bound.mu.Lock()
	defer c.folder.bound.mu.Unlock()
	if c.folder.files[c.id] == c {
		c.forgetLocked()
	}
}

// forgetLocked stops counting a file. REQUIRES: the mutex of the bound is locked, and the folder has
// the file.
func (c *cachedFile) forgetLocked() {
	b := c.folder.bound
	delete(c.folder.files, c.id)
	c.folder.used -= c.size
	b.used -= c.size
	if c.idle != nil {
		b.idle.Remove(c.idle)
		c.idle = nil
	}
}
