//go:build !race

package embedded

const raced = false
