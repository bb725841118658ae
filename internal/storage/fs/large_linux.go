package fs

import "syscall"

// largePages returns n bytes, a multiple of largePage, and the function that releases them.
func largePages(n int) (data []byte, release func([]byte), err error) {
	data, err = syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	_ = syscall.Madvise(data, syscall.MADV_HUGEPAGE) // without large pages the memory is only slower
	return data, func(data []byte) { _ = syscall.Munmap(data) }, nil
}
