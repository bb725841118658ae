//go:build azure

package embedded_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/azure/azuretest"
)

func init() {
	installed = append(installed, storageKind{"azure", func(t *testing.T) object.Bucket { return azuretest.Open(t, azuretest.Start(t)) }})
}
