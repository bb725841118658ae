package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol versions that the code distinguishes. Versions are dates, so they compare as
// strings.
const (
	statelessVersion = "2026-07-28" // since then each request carries its version and client
	handshakeVersion = "2025-11-25" // the newest version that initialize can agree on
	unbatchedVersion = "2025-06-18" // the first version without batches
	assumedVersion   = "2025-03-26" // assumed for requests that name no version
	oldestVersion    = "2024-11-05" // served like the next one, to clients that ask for it; not advertised
)

// versions lists the protocol versions that the server advertises, newest first.
var versions = []string{statelessVersion, handshakeVersion, unbatchedVersion, assumedVersion}

// supported reports whether the server serves a protocol version, in all messages. The version may lack a
// method; see [method.in].
func supported(version string) bool {
	return slices.Contains(versions, version) || version == oldestVersion
}

// agreed returns the protocol version in the answer of initialize, for a client that requests the
// given version.
func agreed(version string) string {
	if version < statelessVersion && supported(version) {
		return version
	}
	return handshakeVersion
}

// requestMeta is a part of _meta. It contains the version, client and capabilities of a message of
// the stateless protocol.
type requestMeta struct {
	version string // empty if absent
	fault   string // the member that is missing or malformed, or ""
	absent  bool   // the member in fault is possibly missing, and not malformed
	forms   bool   // the client can show a form to its user
}

// metaOf reads the members of a message's _meta that the protocol defines.
func metaOf(m *message) (meta requestMeta) {
	if m.meta == nil || m.meta[0] != '{' {
		return meta
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(m.meta, &raw); err != nil {
		return meta // readMessages has checked the JSON, so this is an object
	}
	meta.version = unquoted(raw[mcp.MetaKeyProtocolVersion])
	var client mcp.Implementation
	if info, ok := raw[mcp.MetaKeyClientInfo]; ok && !isObject(info, &client) {
		meta.fault = mcp.MetaKeyClientInfo
		return meta
	}
	var capabilities mcp.ClientCapabilities
	if !isObject(raw[mcp.MetaKeyClientCapabilities], &capabilities) {
		meta.fault, meta.absent = mcp.MetaKeyClientCapabilities, true
	}
	e := capabilities.Elicitation
	meta.forms = e != nil && (e.Form != nil || e.URL == nil) // without modes, elicitation means forms
	return meta
}

// isObject decodes `raw` into a value and reports whether `raw` is a valid object. It skips the
// decoding of an empty object, which is frequent.
func isObject(raw json.RawMessage, into any) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	return len(raw) == 2 || json.Unmarshal(raw, into) == nil
}

// checkMeta checks the _meta of a call against the protocol version of the transport. Over HTTP
// that is the version in the header. It is empty if the request does not have the header.
func checkMeta(m *message, header string) *jsonrpc.Error {
	if !m.isCall() {
		return nil
	}
	stateless := header >= statelessVersion
	if m.meta == nil && !stateless {
		return nil
	}
	meta := metaOf(m)
	switch {
	case meta.version == "" && !stateless:
		return nil
	case header == "":
		return &jsonrpc.Error{Code: codeHeaderMismatch,
			Message: fmt.Sprintf("%s header is required for requests carrying %q", versionHeader, mcp.MetaKeyProtocolVersion)}
	case meta.version == "":
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", mcp.MetaKeyProtocolVersion)}
	case meta.version != header:
		return &jsonrpc.Error{Code: codeHeaderMismatch,
			Message: fmt.Sprintf("%s header %q does not match request %s %q", versionHeader, header, mcp.MetaKeyProtocolVersion, meta.version)}
	case stateless && meta.absent:
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", meta.fault)}
	case stateless && meta.fault != "":
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("invalid _meta field %q", meta.fault)}
	}
	return nil
}

// maxVersion is the maximum number of bytes that the error message repeats of an unsupported
// version.
const maxVersion = 80

// unsupportedVersion returns the error for a protocol version that is not served.
func unsupportedVersion(version string) *jsonrpc.Error {
	if len(version) > maxVersion {
		version = strings.ToValidUTF8(version[:maxVersion], "") + "…"
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions, Requested: version})
	if err != nil {
		panic(err) // strings always encode
	}
	return &jsonrpc.Error{Code: codeUnsupportedVersion, Message: fmt.Sprintf("unsupported protocol version %q; the supported ones are %s", version, strings.Join(versions, ", ")), Data: data}
}

// statusOf returns the HTTP status of an answer. The stateless protocol maps some errors to a
// status; the older versions answer all of them with 200.
func statusOf(version string, err *jsonrpc.Error) int {
	if err == nil || version < statelessVersion {
		return http.StatusOK
	}
	switch err.Code {
	case codeMethodNotFound:
		return http.StatusNotFound
	case codeInvalidParams, codeUnsupportedVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
