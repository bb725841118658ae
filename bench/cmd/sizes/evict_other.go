//go:build !linux

package main

import "errors"

// evict refuses, because only Linux has the call.
func evict(string) error { return errors.New("a cold graph can be measured only on Linux") }
