//go:build !race

package gq_test

const raced = false
