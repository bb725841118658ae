package foreign

// giveUp is the panic that ends a rewriting without a result.
type giveUp struct{}

// refuse gives up if something has no counterpart.
func refuse(without bool) {
	if without {
		panic(giveUp{})
	}
}
