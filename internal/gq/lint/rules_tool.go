package lint

import (
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about a query as a tool: its name, descriptions and parameters.

// unusedParam reports parameters that the query does not use.
func unusedParam(p *queryPass) {
	for i, sym := range p.Info.Params {
		if sym.Uses == 0 {
			p.report(sym.Span, "use the parameter, or remove it", nil, "parameter $%s is never used", p.Plan.Params[i].Name)
		}
	}
}

// idleOptional reports each question mark after the type of a parameter that has a default. The
// question mark changes nothing.
func idleOptional(p *queryPass) {
	for i, tree := range p.Syntax.Params {
		if !tree.Type.Nullable || p.Plan.Params[i].Default.IsNull() {
			continue
		}
		at := syntax.SpanOf(tree.Type.Tokens[len(tree.Type.Tokens)-1])
		p.report(at, "remove the ?", []diag.Edit{{Span: at}}, "the ? after the type of $%s has no effect, because the parameter has a default", p.Plan.Params[i].Name)
	}
}

// noDescription reports exposed queries without a description.
func noDescription(p *queryPass) {
	if p.Expose && p.Description == "" {
		p.report(syntax.SpanOf(p.Syntax.Name), `add @description("…"), or @mcp(expose: false)`, nil, "exposed query %s has no @description", p.Plan.Name)
	}
}

// noParamDoc reports parameters without a description.
func noParamDoc(p *queryPass) {
	if !p.Expose {
		return
	}
	inherits := map[int]bool{}
	for _, u := range paramUses(p.Plan) {
		if prop := property(p.in.Schema, u.entity, u.typ, u.prop); prop != nil && prop.Description != "" {
			inherits[u.param] = true
		}
	}
	if r := p.Plan.Read; r != nil && r.LimitBy != nil {
		inherits[r.LimitBy.Index] = true // the generator writes a description of a limit's parameter
	}
	for i, param := range p.Plan.Params {
		if param.Node+param.Interface != "" {
			inherits[i] = true // the generator describes the id of a node
		}
	}
	for i, doc := range p.ParamDocs {
		if doc == "" && !inherits[i] {
			p.report(p.Info.Params[i].Span, `add @description("…") after its type`, nil, "parameter $%s has no @description", p.Plan.Params[i].Name)
		}
	}
}

// longToolName reports tool names that are too long.
func longToolName(p *queryPass) {
	most := p.in.Config.maxToolName()
	if n := utf8.RuneCountInString(p.Tool()); p.Expose && n > most {
		at := syntax.SpanOf(p.Syntax.Name)
		if arg := p.mcpArg("tool_name"); arg != nil {
			at = syntax.SpanOf(arg.Value)
		}
		p.report(at, "shorten it, or set @mcp(tool_name: …)", nil, "the tool name has %d characters; the limit is %d", n, most)
	}
}

// vectorParam reports vector parameters of exposed queries.
func vectorParam(p *queryPass) {
	for i, prm := range p.Plan.Declared() {
		if p.Expose && prm.Type.Kind == value.Vector {
			p.report(p.Info.Params[i].Span, "declare a String parameter to embed, or add @mcp(expose: false)", nil, "a model cannot supply the %s of $%s", prm.Type.Required(), prm.Name)
		}
	}
}

// longDescription reports descriptions that are too long.
func longDescription(p *queryPass) {
	most := p.in.Config.maxDescription()
	text := p.Description
	if p.Instruction != "" {
		text += "\n\n" + p.Instruction
	}
	if n := utf8.RuneCountInString(text); p.Expose && n > most {
		at := syntax.SpanOf(p.Syntax.Name)
		for _, a := range p.Syntax.Annotations {
			if a.Name.Value == "description" || a.Name.Value == "instruction" && p.Description == "" {
				at = syntax.SpanOf(a.Text)
			}
		}
		p.report(at, "shorten it; move details that a caller needs later into the results", nil, "the description of the tool has %d characters; the limit is %d", n, most)
	}
	for i, doc := range p.ParamDocs {
		if n := utf8.RuneCountInString(doc); p.Expose && n > most {
			p.report(p.Info.Params[i].Span, "shorten it", nil, "the description of $%s has %d characters; the limit is %d", p.Plan.Params[i].Name, n, most)
		}
	}
}

// mcpEquals reports equals signs in @mcp.
func mcpEquals(p *queryPass) {
	for _, a := range p.Syntax.Annotations {
		for _, arg := range a.MCP {
			op := arg.Tokens[1]
			if op.Type != syntax.Relation {
				continue
			}
			at := syntax.SpanOf(op)
			edit := diag.Edit{Span: p.withBlanksBefore(at), Text: ":"}
			if next := syntax.SpanOf(arg.Tokens[2]); next.Start.Offset == at.End.Offset {
				edit.Text = ": "
			}
			p.report(at, "write a colon", []diag.Edit{edit}, "the argument %s of @mcp has = instead of a colon", arg.Tokens[0].Value)
		}
	}
}

// withBlanksBefore widens a span of the query's file to include the blanks before it on the
// line.
func (p *queryPass) withBlanksBefore(s diag.Span) diag.Span {
	for _, f := range p.in.Files {
		if f.Name == s.File {
			from := len(strings.TrimRight(f.Text[:s.Start.Offset], " \t"))
			s.Start.Column -= s.Start.Offset - from
			s.Start.Offset = from
		}
	}
	return s
}

// mcpArg returns the argument of @mcp with the given key, or nil.
func (p *queryPass) mcpArg(key string) *syntax.MCPArg {
	for _, a := range p.Syntax.Annotations {
		for _, arg := range a.MCP {
			if arg.TKey.Value == key {
				return arg
			}
		}
	}
	return nil
}
