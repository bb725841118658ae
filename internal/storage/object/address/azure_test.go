//go:build azure

package address

import (
	"strings"
	"testing"
)

// TestWithAzure checks that the URL of a container is accepted, and that its faults are explained.
func TestWithAzure(t *testing.T) {
	if err := Check("azblob://graphs/prod?account=team"); err != nil {
		t.Error(err)
	}
	if err := Check("azblob://graphs/prod"); err == nil || !strings.Contains(err.Error(), "account=name") {
		t.Errorf("without an account: %v", err)
	}
}
