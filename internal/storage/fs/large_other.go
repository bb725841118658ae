//go:build !linux

package fs

// largePages returns n bytes of the heap, which frees them.
func largePages(n int) (data []byte, release func([]byte), err error) { return aligned(n), nil, nil }
