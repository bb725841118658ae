//go:build !linux

package measure

import "errors"

// DropCached refuses, because only Linux has the call.
func DropCached(string) error { return errors.New("a cold graph can be measured only on Linux") }
