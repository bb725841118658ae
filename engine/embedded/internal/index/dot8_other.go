//go:build !amd64

package index

func dot8(x, y, _ []int8) int32 { return dotGo(x, y) }

func dot16(x []int8, y []int16, _ []int8) int32 { return dotGo(x, y) }
