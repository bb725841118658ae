package object

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Memory is a Bucket in the memory of this process. All its calls succeed at once. The zero value is
// empty and ready to use.
type Memory struct {
	mu      sync.Mutex
	objects map[string][]byte // by name; the bytes are never changed
}

// Create implements [Bucket].
func (m *Memory) Create(ctx context.Context, name string, data []byte) error {
	if err := Check(ctx, name, data); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return fmt.Errorf("creating %s: %w", name, ErrExists)
	}
	m.storeLocked(name, bytes.Clone(data))
	return nil
}

// Upload implements [Bucket].
func (m *Memory) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := CheckUpload(ctx, name, size); err != nil {
		return err
	}
	data, err := readAll(name, r, size)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.storeLocked(name, data)
	return nil
}

// Read implements [Bucket].
func (m *Memory) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := Check(ctx, name, nil); err != nil {
		return nil, err
	}
	if err := CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	m.mu.Lock()
	data, ok := m.objects[name]
	m.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("reading %s: %w", name, ErrNotFound)
	}
	start := min(offset, int64(len(data)))
	end := int64(len(data))
	if length != Whole {
		end = start + min(length, end-start)
	}
	return bytes.Clone(data[start:end]), nil
}

// List implements [Bucket].
func (m *Memory) List(ctx context.Context, prefix, after string, limit int) ([]Entry, error) {
	if err := CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var entries []Entry
	var names []string
	for name := range m.objects {
		if strings.HasPrefix(name, prefix) { // few of very many, so that tests can have thousands of graphs
			names = append(names, name)
		}
	}
	for _, name := range page(names, prefix, after, limit) {
		entries = append(entries, Entry{Name: name, Size: int64(len(m.objects[name]))})
	}
	return entries, nil
}

// Put implements [Bucket].
func (m *Memory) Put(ctx context.Context, name string, data []byte) error {
	if err := Check(ctx, name, data); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.storeLocked(name, bytes.Clone(data))
	return nil
}

// Delete implements [Bucket].
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := Check(ctx, name, nil); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// storeLocked makes or replaces an object. REQUIRES: m.mu is held, and `data` does not change
// afterwards.
func (m *Memory) storeLocked(name string, data []byte) {
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[name] = data
}

// page returns at most `limit` of the names that start with `prefix` and are greater than `after`, in
// order. It reorders and overwrites the argument `names`.
func page(names []string, prefix, after string, limit int) []string {
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, prefix) || name <= after
	})
	slices.Sort(names)
	return names[:min(limit, len(names))]
}
