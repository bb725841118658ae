package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// A client asks for sets of tools with a header or, if its configuration has only an address, with a parameter of the
// address.
const (
	toolsetsHeader = "Mcp-Toolsets"
	toolsetsParam  = "toolsets"
)

// toolsetsKey is the key of the sets in the context of a request.
type toolsetsKey struct{}

// withToolsets puts the sets of tools that a request asks for into the context.
func withToolsets(r *http.Request) (context.Context, *httpFault) {
	where, text := "the header "+toolsetsHeader, strings.Join(r.Header[toolsetsHeader], ",")
	if text == "" && r.URL.RawQuery != "" {
		where, text = "the parameter "+toolsetsParam, strings.Join(r.URL.Query()[toolsetsParam], ",")
	}
	if text == "" {
		return r.Context(), nil
	}
	sets, err := servedgraph.ParseToolsets(text)
	if err != nil {
		return nil, badRequest(where + ": " + err.Error())
	}
	return context.WithValue(r.Context(), toolsetsKey{}, sets), nil
}

// listed returns the tools that are listed to the caller: those that it may see, in the sets that it or the configuration asks
// for.
func (s *surface) listed(ctx context.Context) ([]*tool.Descriptor, error) {
	seen, err := s.graph.Tools(ctx, access.ActorFrom(ctx))
	if err != nil {
		return nil, err
	}
	sets, asked := ctx.Value(toolsetsKey{}).([]string)
	if !asked {
		sets = s.graph.Toolsets()
	}
	return slices.DeleteFunc(seen, func(d *tool.Descriptor) bool { return !servedgraph.InToolsets(d, sets) }), nil
}

// sharedOptions removes the descriptions of options that mean the same in all tools. The instructions describe them.
var sharedOptions = func() *strings.Replacer {
	var pairs []string
	for _, text := range []string{
		"Default main.", "Or a commit.", "The last next_page_token.", "Commit nothing.", "A repeat within a day changes nothing.", "Fail unless it is the head.",
	} {
		member := `"description":"` + text + `"`
		pairs = append(pairs, ","+member, "", member+",", "")
	}
	return strings.NewReplacer(pairs...)
}()

// bare returns an input schema as tools/list shows it: without the descriptions of shared options, and without the member
// params of a query that takes no parameter.
func bare(schema json.RawMessage) json.RawMessage {
	text := sharedOptions.Replace(string(schema))
	if strings.HasSuffix(text, `"required":[]}`) {
		text = strings.Replace(text, `{"params":{"properties":{},"additionalProperties":false,"type":"object","required":[]},`, "{", 1)
	}
	return json.RawMessage(text)
}
