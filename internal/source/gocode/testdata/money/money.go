// Package money counts cents.
package money

// Cents is an amount.
type Cents int64
