package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// authorities returns the certificates of the authorities that Mozilla trusts, in PEM. They come from
// a Go module, so that every machine gets the same ones. PEM cannot express that an authority is
// trusted only for certificates from before a date, so such authorities are left out.
func authorities() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
