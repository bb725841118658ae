package ir

import "github.com/omnigraph-go/omnigraph/gq/plan"

// The estimated shares of rows that conditions keep.
const (
	TextShare  = 0.05 // of entities whose text matches
	EqualShare = 0.05 // of rows where one value equals another
	OtherShare = 0.3  // of rows where another comparison is true
	nullShare  = 0.1  // of rows with a null
	BlockShare = 0.5  // of rows that a block keeps
)

// The estimated shares of entities that the bounds of a sorted index keep.
const (
	RangeShare  = 0.1  // two bounds, a lower and an upper one
	HalfShare   = 0.3  // one bound
	PrefixShare = 0.03 // an equality or a prefix
)

// OrderShare is the largest estimated share of the entities that a read in the order of an
// index may examine.
const OrderShare = 0.25

// GroupShare is the estimated number of groups per row.
const GroupShare = 0.1

// Share estimates the share of rows that a condition keeps.
func (c *Cond) Share() float64 {
	switch {
	case c.Text >= 0:
		return OtherShare
	case c.Right == nil && c.NotNull:
		return 1 - nullShare
	case c.Right == nil:
		return nullShare
	case c.Op == plan.Eq:
		return EqualShare
	case c.List >= 0:
		return min(OtherShare, EqualShare*ListLength(c.Right))
	}
	return OtherShare
}

// usualLength is the estimated length of a list in a parameter.
const usualLength = 8

// ListLength estimates the length of a constant list.
func ListLength(list *Expr) float64 {
	if lit, ok := list.Src.(plan.Lit); ok && lit.Value.IsList() {
		return float64(len(lit.Value.Elems()))
	}
	return usualLength
}
