package rest

import "net/http"

// metadataOf returns the route of the metadata of the resource at a path.
func metadataOf(path, operation, what string) Route {
	return Route{
		Method: http.MethodGet, Path: "/.well-known/oauth-protected-resource" + path, Operation: operation, Tag: tagServer,
		Summary:     "Say whose tokens " + what + " takes (RFC 9728).",
		Description: "A server that takes no tokens of an issuer has no such path. The answer does not depend on which graphs there are.",
		Answer:      ResourceMetadata{}, Open: true, Elsewhere: true,
		// If the server does not have the path, it answers as for any other unknown path.
		Statuses: []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}
}
