//go:build !azure

package address

import (
	"strings"
	"testing"
)

// TestWithoutAzure checks that a program without the SDK of Azure says how to build one with it.
func TestWithoutAzure(t *testing.T) {
	const text = "azblob://graphs/prod?account=team"
	_, _, err := Open(t.Context(), text)
	for call, err := range map[string]error{"Check": Check(text), "Open": err, "Probe": Probe(t.Context(), text)} {
		if err == nil || !strings.Contains(err.Error(), "go build -tags azure") {
			t.Errorf("%s: %v; want an error that names the build tag", call, err)
		}
	}
}
