package fs

import (
	"testing"
	"unsafe"
)

// TestLargePages checks that the memory is zeroed, aligned and writable from its first to its last byte.
func TestLargePages(t *testing.T) {
	for _, n := range []int{0, 1, 100, leastLarge - 1, leastLarge, largePage, largePage + 1, 3 * largePage} {
		m := NewLargePages(n)
		if m == nil {
			t.Fatalf("%d bytes: there is no memory", n)
		}
		data := m.Bytes()
		if len(data) != n || m.Size() < n {
			t.Fatalf("%d bytes: found %d, which take %d", n, len(data), m.Size())
		}
		for i := range data {
			if data[i] != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i, data[i])
			}
			data[i] = 1
		}
		if n > 0 && uintptr(unsafe.Pointer(&data[0]))%64 != 0 {
			t.Errorf("%d bytes: the address must be a multiple of 64", n)
		}
	}
}
