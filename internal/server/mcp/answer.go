package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// appendAnswer appends the JSON-RPC answer to a call. Exactly one of `res` and `fault` is set.
func (s *surface) appendAnswer(dst []byte, id []byte, res mcp.Result, fault *jsonrpc.Error, stateless bool) ([]byte, error) {
	if fault != nil {
		return appendError(dst, id, fault), nil
	}
	start := len(dst)
	if a, ok := res.(*toolAnswer); ok {
		// The answer contains the JSON twice: as structured content, and as a JSON string with escaped
		// quotes, which is about half as long again.
		dst = slices.Grow(dst, len(id)+5*len(a.json)/2+answerFrame)
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	dst, err := s.appendResult(dst, res, stateless)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, '}'), nil
}

// appendError appends a JSON-RPC error. If id is nil, the error has no member id. That is so if the
// message had no id, or if its id could not be read.
func appendError(dst []byte, id []byte, e *jsonrpc.Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != nil {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	dst = append(dst, `"error":{"code":`...)
	dst = strconv.AppendInt(dst, e.Code, 10)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, wireerror.Clip(e.Message))
	if len(e.Data) > 0 {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, "}}"...)
}

// appendResult appends a result. The results of the frequent methods tools/call and tools/list
// contain JSON that exists already. The SDK's types encode all other results.
func (s *surface) appendResult(dst []byte, res mcp.Result, stateless bool) ([]byte, error) {
	switch r := res.(type) {
	case nil:
		return append(dst, "{}"...), nil
	case *toolAnswer:
		return s.appendToolAnswer(dst, r, stateless), nil
	case *mcp.CallToolResult:
		if text, ok := plainText(r); ok {
			return s.appendCall(dst, r, text, stateless)
		}
	case *mcp.ListToolsResult:
		return s.appendTools(dst, r, stateless)
	}
	if stateless {
		meta := maps.Clone(res.GetMeta())
		if meta == nil {
			meta = map[string]any{}
		}
		meta[mcp.MetaKeyServerInfo] = s.implementation
		res.SetMeta(meta)
	}
	b, err := encoding.JSON(res)
	if err != nil {
		return dst, err
	}
	if _, waits := res.(*inputRequired); stateless && !waits {
		// The types of the SDK have this member, but only the SDK can set it. b is not the empty object,
		// because it has the member _meta.
		dst = append(dst, `{"resultType":"complete",`...)
		b = b[1:]
	}
	return append(dst, b...), nil
}

// appendToolAnswer appends the JSON of the result that r stands for.
func (s *surface) appendToolAnswer(dst []byte, r *toolAnswer, stateless bool) []byte {
	dst = append(dst, `{"_meta":{`...)
	if stateless {
		dst = appendString(dst, mcp.MetaKeyServerInfo)
		dst = append(append(append(dst, ':'), s.serverInfo...), ',')
	}
	dst = append(dst, `"`+metaCatalog+`":`...)
	dst = appendString(dst, r.catalog)
	if r.commit != "" {
		dst = append(dst, `,"`+metaCommit+`":`...)
		dst = appendString(dst, r.commit)
	}
	dst = append(dst, `,"`+metaSchema+`":`...)
	dst = appendString(dst, r.schema)
	dst = append(dst, `},"content":[{"type":"text","text":`...)
	dst, _ = jsontext.AppendQuote(dst, r.json)
	dst = append(append(dst, `}],"structuredContent":`...), r.json...)
	if stateless {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	return append(dst, '}')
}

// plainText returns the text of a result if one text is the whole content of the result.
func plainText(r *mcp.CallToolResult) (string, bool) {
	if len(r.Content) != 1 || r.RequestState != "" {
		return "", false
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || text.Meta != nil || text.Annotations != nil {
		return "", false
	}
	switch r.StructuredContent.(type) {
	case nil, json.RawMessage:
		return text.Text, true
	}
	return "", false
}

// answerFrame is the approximate number of bytes in the answer to a call that the tool did not
// produce.
const answerFrame = 512

// appendCall appends the JSON of the result of a tool call to `dst`. The argument `text` is the
// text of the result.
func (s *surface) appendCall(dst []byte, r *mcp.CallToolResult, text string, stateless bool) ([]byte, error) {
	// The answer contains the text twice: as structured content, and as a JSON string with escaped
	// quotes, which is about half as long again.
	dst = slices.Grow(dst, 5*len(text)/2+answerFrame)
	dst = append(dst, '{')
	dst, err := s.appendMeta(dst, r.Meta, stateless)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = appendString(dst, text)
	dst = append(dst, "}]"...)
	if raw, ok := r.StructuredContent.(json.RawMessage); ok && raw != nil {
		dst = append(append(dst, `,"structuredContent":`...), raw...)
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	if stateless {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	return append(dst, '}'), nil
}

// appendTools appends the JSON of a list of tools to `dst`.
func (s *surface) appendTools(dst []byte, r *mcp.ListToolsResult, stateless bool) ([]byte, error) {
	size := answerFrame
	for _, t := range r.Tools {
		size += len(s.encoded[t]) + 1
	}
	dst = append(slices.Grow(dst, size), '{')
	if stateless {
		dst = append(dst, `"resultType":"complete",`...)
	}
	dst, err := s.appendMeta(dst, r.Meta, stateless)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `"ttlMs":`...)
	dst = strconv.AppendInt(dst, int64(r.TTLMs), 10)
	dst = append(dst, `,"cacheScope":`...)
	dst = appendString(dst, r.CacheScope)
	if r.NextCursor != "" {
		dst = append(dst, `,"nextCursor":`...)
		dst = appendString(dst, r.NextCursor)
	}
	dst = append(dst, `,"tools":[`...)
	for i, t := range r.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		b, ok := s.encoded[t]
		if !ok {
			if b, err = encoding.JSON(t); err != nil {
				return dst, err
			}
		}
		dst = append(dst, b...)
	}
	return append(dst, "]}"...), nil
}

// appendMeta appends the member _meta and a comma. It appends nothing if _meta would be empty.
func (s *surface) appendMeta(dst []byte, meta mcp.Meta, stateless bool) ([]byte, error) {
	if len(meta) == 0 && !stateless {
		return dst, nil
	}
	dst = append(dst, `"_meta":{`...)
	if stateless {
		dst = appendString(dst, mcp.MetaKeyServerInfo)
		dst = append(append(append(dst, ':'), s.serverInfo...), ',')
	}
	var few [4]string // has room for all keys, so that the slice needs no allocation
	keys := slices.AppendSeq(few[:0], maps.Keys(meta))
	slices.Sort(keys)
	for _, key := range keys {
		if key == mcp.MetaKeyServerInfo && stateless {
			continue
		}
		dst = append(appendString(dst, key), ':')
		if v, ok := meta[key].(string); ok {
			dst = appendString(dst, v)
		} else {
			b, err := encoding.JSON(meta[key])
			if err != nil {
				return dst, err
			}
			dst = append(dst, b...)
		}
		dst = append(dst, ',')
	}
	dst[len(dst)-1] = '}'
	return append(dst, ','), nil
}

// appendString appends s as a JSON string. It replaces invalid UTF-8 with the replacement
// character.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
