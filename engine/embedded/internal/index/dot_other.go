//go:build !amd64

package index

func dots(sums []int32, codes []int8, y []int16) { dotsGo(sums, codes, y) }
