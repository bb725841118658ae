// Package refuse ends a translation that has no result: a query must not leave out part of the text.
package refuse

// GiveUp is the panic that ends a rewriting without a result.
type GiveUp struct{}

// If gives up if something has no counterpart.
func If(without bool) {
	if without {
		panic(GiveUp{})
	}
}
