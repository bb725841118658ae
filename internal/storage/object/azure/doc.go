// Package azure keeps the objects of an object.Bucket in a container of Azure Blob Storage. Only programs
// that are built with the tag azure contain it, because the SDK of Azure is large. Its tests run against
// azurite, which imitates the service; it has not been tried with the real service.
//
// Create is a Put Blob with the header If-None-Match: *. The SDK sends each request only once: if a first
// attempt made the object and its reply was lost, the service would refuse the repeated request.
package azure
