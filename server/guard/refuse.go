package guard

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// The headers that browsers may send and read across origins: those of the REST and
// MCP surfaces that are not on the browsers' own safe lists.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, " +
		"Idempotency-Key, Omnigraph-If-Graph-Commit, X-Timeout-Ms, If-None-Match, Range"
	exposedHeaders = "ETag, WWW-Authenticate, Retry-After, Deprecation, Link, Content-Range, Accept-Ranges"
)

// refuse answers a request with the error envelope of the REST surface.
func refuse(w http.ResponseWriter, message string) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // the answer is no HTML, and messages hold <token>
	if err := enc.Encode(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{message, "forbidden"}); err != nil {
		panic(err) // two strings always marshal
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write(body.Bytes()) // the client is gone if this fails
}

// preflight answers a browser's question whether it may send a request. It comes
// without credentials, so it never gets as far as authentication.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
