// Package slow marks tests that take long.
package slow

import "testing"

// Test skips the test with the flag -short, which make test-short and make test-race set. A test that is
// there to find races must not call it.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("this test takes long; -short leaves it out")
	}
}
