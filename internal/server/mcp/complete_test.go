package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestComplete completes the arguments of prompts and of URI templates, for callers with different rights.
func TestComplete(t *testing.T) {
	h, _ := mcp.Both(servedtest.Graph(t, config(t)), mcp.Options{Prompts: []mcp.Prompt{greeting}})
	prompt := func(name, argument, typed string) string {
		return fmt.Sprintf(`"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":%q}`, name, argument, typed)
	}
	template := func(uri, variable, typed string) string {
		return fmt.Sprintf(`"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":%q}`, uri, variable, typed)
	}
	const branches = "omnigraph://branches/{+name}"
	for _, tt := range []struct {
		actor        *access.Actor
		params, want string // a part of the answer
	}{
		{servedtest.Reader, prompt("write_filter", "type", ""), `"values":["Person"`},
		{servedtest.Reader, prompt("write_filter", "type", "pe"), `"total":1,"values":["Person"]`},
		{servedtest.Reader, prompt("write_filter", "type", "x"), `{"values":[]}`},
		{servedtest.Reader, prompt("write_filter", "intent", ""), `{"values":[]}`},
		{servedtest.Reader, prompt("write_query", "types", "Person, p"), `"values":["Person, Person"]`},
		{servedtest.Reader, prompt("greeting", "who", "a"), `{"values":[]}`},
		{servedtest.Reader, prompt("nosuch", "who", "a"), `unknown prompt \"nosuch\"`},
		{servedtest.Reader, template(branches, "name", "m"), `"values":["main"]`},
		{servedtest.Reader, template("omnigraph://nosuch", "name", ""), `unknown URI template`},
		{servedtest.Reader, `"ref":{"type":"ref/tool","name":"x"},"argument":{"name":"a","value":""}`, "-32602"},
		{servedtest.Reader, `"argument":{"name":"a","value":""}`, "params.ref: the member is missing"},
		{servedtest.Reader, "", "-32602"},
		{servedtest.Bot, prompt("write_filter", "type", ""), `unknown prompt \"write_filter\"`},
		{servedtest.Bot, template(branches, "name", ""), `{"values":[]}`},
	} {
		for _, version := range []string{"2025-03-26", newest} {
			a := serveOne(h, version, tt.actor, message(version, "completion/complete", tt.params))
			if !strings.Contains(a.Body.String(), tt.want) {
				t.Errorf("%s %s for %s: %d %s, want %s", version, tt.params, tt.actor.ID, a.Code, a.Body, tt.want)
			}
		}
	}
}
