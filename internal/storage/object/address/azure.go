//go:build azure

package address

import (
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/azure"
)

// checkAzure returns an error if text is not the URL of a container of Azure Blob Storage.
func checkAzure(text string) error { return azure.Check(text) }

// openAzure connects to a container of Azure Blob Storage.
func openAzure(text string) (object.Bucket, func(), error) {
	b, err := azure.Open(text)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Close, nil
}
