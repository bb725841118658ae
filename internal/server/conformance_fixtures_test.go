package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// fixtures returns the tools, resources and prompts that the conformance suite expects by name.
// Each needs the right to read.
func fixtures(*servedgraph.Graph) mcp.Options {
	var o mcp.Options
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {&sdk.TextContent{Text: "This is a simple text response for testing."}},
		"test_image_content":          {&sdk.ImageContent{Data: png, MIMEType: "image/png"}},
		"test_audio_content":          {&sdk.AudioContent{Data: wav, MIMEType: "audio/wav"}},
		"test_embedded_resource":      {embeddedResource("test://embedded-resource")},
		"test_multiple_content_types": {&sdk.TextContent{Text: "Multiple content types test:"}, &sdk.ImageContent{Data: png, MIMEType: "image/png"}, embeddedResource("test://mixed-content-resource")},
		"test_streaming_elicitation":  {&sdk.TextContent{Text: "nothing was asked"}},
		"test_logging_tool":           {&sdk.TextContent{Text: "nothing was logged"}},
	} {
		o.Tools = append(o.Tools, fixtureTool(name, `{"type":"object"}`, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		}))
	}
	o.Tools = append(o.Tools,
		fixtureTool("test_error_handling", `{"type":"object"}`, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "This tool intentionally returns an error for testing"}}}, nil
		}),
		fixtureTool("test_tool_with_progress", `{"type":"object"}`, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			<-time.After(3500 * time.Millisecond) // the suite wants three notifications, and the server sends one each second
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		}),
		fixtureTool("json_schema_2020_12_tool", schema202012, func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "called with " + string(req.Params.Arguments)}}}, nil
		}),
		fixtureTool("test_missing_capability", `{"type":"object"}`, func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			//lint:ignore SA1019 the conformance suite asks for sampling while it is deprecated
			if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the client can sample"}}}, nil
			}
			return nil, &jsonrpc.Error{
				Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample",
				Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
			}
		}),
	)
	var later atomic.Bool // whether the tool test_changed exists
	changed := fixtureTool("test_changed", `{"type":"object"}`, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "there"}}}, nil
	})
	changed.Present = later.Load
	o.Tools = append(o.Tools, changed, fixtureTool("test_trigger_tool_change", `{"type":"object"}`, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		later.Store(!later.Load())
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the list of tools has changed"}}}, nil
	}))
	o.Resources = []mcp.Resource{
		{Gates: readGate, Info: &sdk.Resource{URI: "test://static-text", Name: "static-text", Description: "A text.", MIMEType: "text/plain"},
			Read: reads(func(string) *sdk.ResourceContents {
				return &sdk.ResourceContents{Text: "This is the content of the static text resource."}
			})},
		{Gates: readGate, Info: &sdk.Resource{URI: "test://static-binary", Name: "static-binary", Description: "An image.", MIMEType: "image/png"},
			Read: reads(func(string) *sdk.ResourceContents { return &sdk.ResourceContents{Blob: png} })},
	}
	o.Templates = []mcp.Template{
		{Gates: readGate, Info: &sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A thing by its id.", MIMEType: "application/json"},
			Read: reads(func(uri string) *sdk.ResourceContents {
				id := strings.Split(uri, "/")[3]
				return &sdk.ResourceContents{Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}
			})},
	}
	user := func(c ...sdk.Content) *sdk.GetPromptResult {
		res := &sdk.GetPromptResult{}
		for _, c := range c {
			res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return res
	}
	o.Prompts = []mcp.Prompt{
		fixturePrompt("test_simple_prompt", nil, func(map[string]string) *sdk.GetPromptResult {
			return user(&sdk.TextContent{Text: "This is a simple prompt for testing."})
		}),
		fixturePrompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(args map[string]string) *sdk.GetPromptResult {
			return user(&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])})
		}),
		fixturePrompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(args map[string]string) *sdk.GetPromptResult {
			return user(embeddedResource(args["resourceUri"]), &sdk.TextContent{Text: "Please process the embedded resource above."})
		}),
		fixturePrompt("test_prompt_with_image", nil, func(map[string]string) *sdk.GetPromptResult {
			return user(&sdk.ImageContent{Data: png, MIMEType: "image/png"}, &sdk.TextContent{Text: "Please analyze the image above."})
		}),
	}
	return o
}

var readGate = []tool.Grant{{Action: tool.Read, Via: tool.AdHoc}}

// An image of one red pixel, and audio with one silent sample.
var (
	png = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	wav = decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

func decoded(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func embeddedResource(uri string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "Embedded resource content for testing."}}
}

func fixtureTool(name, schema string, call func(*sdk.CallToolRequest) (*sdk.CallToolResult, error)) mcp.Tool {
	return mcp.Tool{
		Gates: readGate,
		Info:  &sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)},
		Call:  func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return call(req) },
	}
}

func fixturePrompt(name string, args []string, get func(map[string]string) *sdk.GetPromptResult) mcp.Prompt {
	info := &sdk.Prompt{Name: name, Description: "A fixture of the conformance suite."}
	for _, a := range args {
		info.Arguments = append(info.Arguments, &sdk.PromptArgument{Name: a, Description: "An argument.", Required: true})
	}
	return mcp.Prompt{
		Gates: readGate, Info: info,
		Get: func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return get(req.Params.Arguments), nil
		},
	}
}

func reads(contents func(uri string) *sdk.ResourceContents) sdk.ResourceHandler {
	return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents(req.Params.URI)}}, nil
	}
}

// schema202012 has the JSON Schema keywords that the suite looks for in tools/list.
const schema202012 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`
