package rest

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
)

// metadataOf returns the route of the metadata of the resource at a path.
func metadataOf(path, operation, what string) Route {
	return Route{
		Method: http.MethodGet, Path: "/.well-known/oauth-protected-resource" + path, Operation: operation, Tag: tagServer,
		Summary:     "Get the issuer whose tokens " + what + " accepts (RFC 9728).",
		Description: "A server that accepts no tokens of an issuer does not have this path. The answer is the same for every graph, whether the graph exists or not.",
		Answer:      client.ResourceMetadata{}, Open: true, Elsewhere: true,
		// If the server does not have the path of the resource, it answers as for any other unknown
		// path.
		Statuses: []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}
}
