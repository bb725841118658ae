//go:build !race

package syntax

const raced = false
