//go:build !linux

package embedded

import "testing"

func tmpfs(t *testing.T) *fullDisk {
	t.Skip("a tmpfs needs Linux")
	return nil
}
