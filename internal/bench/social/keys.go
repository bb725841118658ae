package social

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Keys says which keys the rows of a graph have.
type Keys int

const (
	// Serial keys consist of a letter and the number of the row, so their order is that of the rows.
	Serial Keys = iota
	// Scattered keys have no order and no common part. They are 13 characters from the seed of the graph
	// and the number of the row, and they are distinct in a type.
	Scattered
)

// keyNames are the texts of the keys, for flags.
var keyNames = []string{Serial: "serial", Scattered: "scattered"}

// String implements [flag.Value].
func (k *Keys) String() string { return keyNames[*k] }

// Set implements [flag.Value].
func (k *Keys) Set(text string) error {
	i := slices.Index(keyNames, text)
	if i < 0 {
		return fmt.Errorf("the keys are %q; they must be serial or scattered", text)
	}
	*k = Keys(i)
	return nil
}

// The letters at the start of serial keys.
const (
	personLetter  = 'p'
	companyLetter = 'c'
	postLetter    = 't'
)

// PersonSlug returns the key of person i. The number may be greater than those of the persons in the
// graph. Serial keys below 10,000,000 have the same order as their numbers; later ones are longer.
func (g *Graph) PersonSlug(i int) string { return string(g.appendSlug(nil, personLetter, i)) }

// CompanySlug returns the key of company i.
func (g *Graph) CompanySlug(i int) string { return string(g.appendSlug(nil, companyLetter, i)) }

// PostSlug returns the key of post i.
func (g *Graph) PostSlug(i int) string { return string(g.appendSlug(nil, postLetter, i)) }

// appendSlug appends the key of row i of the type with the given letter.
func (g *Graph) appendSlug(to []byte, letter byte, i int) []byte {
	if g.Keys == Scattered {
		return appendScattered(to, g.scattered(letter, i))
	}
	to = append(to, letter)
	for pad := 1_000_000; pad > 1 && i < pad; pad /= 10 {
		to = append(to, '0')
	}
	return strconv.AppendInt(to, int64(i), 10)
}

// scattered returns the number that the scattered key of row i spells. Each step is a bijection of 64
// bits, so rows of one type have distinct numbers.
func (g *Graph) scattered(letter byte, i int) uint64 {
	return mix(uint64(i) + mix(g.Seed+mix(uint64(letter))))
}

// mix is the last step of the generator SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keyDigits are the digits of scattered keys, in the order of their bytes. The order of the keys is
// therefore that of their numbers.
const keyDigits = "234567abcdefghijklmnopqrstuvwxyz"

// appendScattered appends the number x in base 32, with 13 digits.
func appendScattered(to []byte, x uint64) []byte {
	for shift := 60; shift >= 0; shift -= 5 {
		to = append(to, keyDigits[x>>shift&31])
	}
	return to
}

// PersonIDs returns integers for the persons, by number, that have the same order as their keys: the
// ranks of the keys. Other databases use them as the keys of their tables.
func (g *Graph) PersonIDs() []int { return g.ranks(personLetter, g.Persons) }

// CompanyIDs returns integers for the companies, by number, that have the same order as their keys.
func (g *Graph) CompanyIDs() []int { return g.ranks(companyLetter, g.Companies) }

// ranks returns the rank of the key of each of n rows.
func (g *Graph) ranks(letter byte, n int) []int {
	sorted, ranks := make([]int, n), make([]int, n)
	for i := range sorted {
		sorted[i] = i
	}
	if g.Keys == Scattered {
		slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(g.scattered(letter, a), g.scattered(letter, b)) })
	}
	for rank, i := range sorted {
		ranks[i] = rank
	}
	return ranks
}
