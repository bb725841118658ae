package lsp

import "github.com/omnigraph-go/omnigraph/internal/gq/assist"

// completionKinds maps the kinds of completions to the numbers of the protocol.
var completionKinds = map[assist.Kind]int{
	assist.Function: 3, assist.Field: 5, assist.Variable: 6, assist.Node: 7, assist.Interface: 8, assist.Property: 10,
	assist.Keyword: 14, assist.Reference: 18, assist.Struct: 22,
}

// assist returns what is known of the graph. REQUIRES: the server's lock.
func (g *graph) assist() assist.Graph {
	return assist.Graph{Catalog: g.catalog, Queries: g.results, Claims: g.project.claims}
}

// completion lists what can be written at a position.
func (s *server) completion(p *positionParams) (*completionList, error) {
	list := &completionList{Items: []completionItem{}}
	at, ok := s.place(p)
	if !ok {
		return list, nil
	}
	from, to, items := at.graph.assist().Complete(at.doc.path, at.source, at.offset)
	replaced := at.doc.text.rangeOf(from, to)
	for _, i := range items {
		item := completionItem{Label: i.Label, Kind: completionKinds[i.Kind], Detail: i.Detail, SortText: string(rune('a'+i.Rank)) + i.Label}
		if i.Doc != "" {
			item.Documentation = &markup{"markdown", i.Doc}
		}
		item.TextEdit = &textEdit{replaced, item.Label}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// hover describes the name at a position.
func (s *server) hover(p *positionParams) (*hover, error) {
	at, ok := s.place(p)
	if !ok || at.name == nil {
		return nil, nil
	}
	code, doc := at.graph.assist().Describe(at.name, at.source)
	if code == "" {
		return nil, nil
	}
	value := "```gq\n" + code + "\n```"
	if doc != "" {
		value += "\n\n" + doc
	}
	return &hover{markup{"markdown", value}, rangeOf(at.doc.text, at.name)}, nil
}
