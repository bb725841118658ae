package mcp

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
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

// ReadingBytes returns the size in bytes of what a reading agent gets of the tools before its first call: the names, descriptions
// and input schemas of those in the set read, and the instructions about them. The argument `stored` says that some
// of the tools run stored queries, and `meta` that the meta tools do.
func ReadingBytes(tools []*tool.Descriptor, stored, meta bool) int {
	size := 0
	var listed []*tool.Descriptor
	for _, d := range tools {
		if !servedgraph.InToolsets(d, []string{"read"}) {
			continue
		}
		own := *d
		own.ReadOnly = true // the tool that runs stored queries only runs reads for this agent
		listed = append(listed, &own)
		size += len(d.Name) + len(d.Description) + len(bare(d.InputSchema))
	}
	return size + len(instructionsFor(listed, served{stored: stored, meta: meta}))
}
