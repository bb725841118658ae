package store

import (
	"container/list"
	"errors"
	"path/filepath"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// CacheBound bounds the total size of the segments in the caches of several graphs. When they are
// larger, it removes files that are not mapped, the least recently used first. A mapped file stays, so
// the caches may be larger than the bound while much is mapped. A nil *CacheBound bounds nothing.
type CacheBound struct {
	limit int64 // in bytes

	mu   sync.Mutex
	used int64     // bytes of the files in all folders
	idle list.List // of *cachedFile: the files without users, the least recently used first
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
		if removeIfThere(file.folder.dir, file.name()) == nil {
			file.forgetLocked()
		}
	}
}

// cacheFolder is the folder of a graph's cache. It knows the size of each file in it.
type cacheFolder struct {
	bound *CacheBound // never nil; its mutex guards the fields below and those of the files
	dir   fs.Dir      // the locked folder
	path  string      // of the folder

	files  map[SegmentID]*cachedFile // the files that have their name
	used   int64                     // bytes of these files
	closed bool                      // the folder is unlocked, so no file may be removed
}

// cachedFile is a segment in a cache.
type cachedFile struct {
	folder   *cacheFolder
	id       SegmentID     // of the segment
	size     int64         // bytes of the file that count towards the bound
	users    int           // mappings of the file, and calls that need it
	idle     *list.Element // place in CacheBound.idle; nil while the file has users
	verified bool          // the file is a copy of the graph's segment; an earlier process may have left another one under its name
}

// newCacheFolder returns the folder of a cache without files.
func newCacheFolder(bound *CacheBound, dir fs.Dir, path string) *cacheFolder {
	if bound == nil {
		bound = &CacheBound{limit: 1<<63 - 1}
	}
	return &cacheFolder{bound: bound, dir: dir, path: path, files: map[SegmentID]*cachedFile{}}
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

// close makes the bound forget the files of the folder. They remain on the disk.
func (f *cacheFolder) close() {
	f.bound.mu.Lock()
	defer f.bound.mu.Unlock()
	for _, file := range f.files {
		file.forgetLocked()
	}
	f.closed = true
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
	if c.users--; c.users > 0 || c.folder.files[c.id] != c {
		return
	}
	c.idle = b.idle.PushBack(c)
	b.shrinkLocked()
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
