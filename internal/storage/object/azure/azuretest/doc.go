// Package azuretest starts azurite, which imitates Azure Blob Storage, for tests. It needs the build tag azure.
package azuretest
