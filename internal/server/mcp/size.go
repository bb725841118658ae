package mcp

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ListBytes returns the size in bytes of the answer to tools/list for the given tools, with or
// without their output schemas. They describe rows as arrays. It also returns how many of these bytes each tool takes, by the
// tool's name. The measured answer belongs to a call with the id 1 in the newest version of the
// protocol that has sessions.
func ListBytes(tools []*tool.Descriptor, outputSchemas bool) (whole int, each map[string]int) {
	s := &surface{encoded: map[*mcp.Tool][]byte{}}
	list := &mcp.ListToolsResult{Cacheable: private(listTTL)}
	each = make(map[string]int, len(tools))
	for _, d := range tools {
		t := s.encode(describe(d, outputSchemas, false))
		list.Tools = append(list.Tools, t)
		each[d.Name] = len(s.encoded[t])
	}
	digest := "sha256:" + strings.Repeat("0", 64) // every digest has this length
	list.Meta = mcp.Meta{metaSchema: digest, metaCatalog: digest}
	answer, err := s.appendAnswer(nil, []byte("1"), list, nil, false)
	if err != nil {
		panic(err) // the tools are encoded already, and digests always encode
	}
	return len(answer), each
}
