//go:build !azure

package address

import "github.com/omnigraph-go/omnigraph/internal/storage/object"

// checkAzure returns the reason why no URL of Azure Blob Storage can be used.
func checkAzure(string) error { return &SchemeError{Scheme: "azblob", Tag: "azure"} }

// openAzure returns the reason why no URL of Azure Blob Storage can be used.
func openAzure(text string) (object.Bucket, func(), error) { return nil, nil, checkAzure(text) }
