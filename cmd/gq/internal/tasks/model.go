package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Model is an agent that a model behind an OpenAI-compatible endpoint drives: POST /chat/completions with tools.
type Model struct {
	URL  string // of the endpoint, such as http://127.0.0.1:11434/v1
	Name string // of the model
	Key  string // sent as a bearer token; may be empty
}

// message is a message of the chat.
type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// toolCall is a call that the model asks for.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // the text of a JSON object
	} `json:"function"`
}

// offeredTool is a tool in a request.
type offeredTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"parameters"`
	} `json:"function"`
}

// completion is the part of an answer that counts.
type completion struct {
	Choices []struct {
		Message message `json:"message"`
	} `json:"choices"`
	Usage struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
}

// maxCompletion is the largest answer of an endpoint, in bytes.
const maxCompletion = 16 << 20

// Do implements [Agent]. It lets the model call tools until it answers without a call, or until a budget is used up.
func (m *Model) Do(ctx context.Context, w Work) (string, int, error) {
	session, err := w.server.connect(ctx)
	if err != nil {
		return "", 0, err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return "", 0, err
	}
	var tools []offeredTool
	for _, t := range list.Tools {
		o := offeredTool{Type: "function"}
		o.Function.Name, o.Function.Description, o.Function.Parameters = t.Name, t.Description, t.InputSchema
		tools = append(tools, o)
	}
	system, tokens, calls := instructions(session), 0, 0
	chat := []message{{Role: "system", Content: &system}, {Role: "user", Content: &w.Request}}
	for {
		reply, used, err := m.complete(ctx, chat, tools)
		if err != nil {
			return "", tokens, err
		}
		tokens += used
		if len(reply.ToolCalls) == 0 {
			if reply.Content == nil {
				return "", tokens, nil
			}
			return *reply.Content, tokens, nil
		}
		if tokens > w.budget.Tokens {
			return "", tokens, fmt.Errorf("used %d tokens without an end, at most %d are allowed", tokens, w.budget.Tokens)
		}
		chat = append(chat, *reply)
		for _, c := range reply.ToolCalls {
			if calls++; calls > w.budget.Calls {
				return "", tokens, fmt.Errorf("called tools %d times without an end, at most %d calls are allowed", calls-1, w.budget.Calls)
			}
			text, err := m.call(ctx, session, c)
			if err != nil {
				return "", tokens, err
			}
			chat = append(chat, message{Role: "tool", ToolCallID: c.ID, Content: &text})
		}
	}
}

// call makes the call that a model asks for. Arguments that are no JSON are the model's fault, and it learns of it.
func (m *Model) call(ctx context.Context, session *sdk.ClientSession, c toolCall) (string, error) {
	args := json.RawMessage(c.Function.Arguments)
	if strings.TrimSpace(c.Function.Arguments) == "" {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return "the arguments are no JSON object; send one", nil
	}
	a, err := call(ctx, session, c.Function.Name, args)
	return a.text, err
}

// complete asks the endpoint for the next message, and returns it with the tokens that it took. Without a figure of the endpoint
// they are estimated at four bytes a token.
func (m *Model) complete(ctx context.Context, chat []message, tools []offeredTool) (*message, int, error) {
	body, err := json.Marshal(map[string]any{"model": m.Name, "messages": chat, "tools": tools})
	if err != nil {
		return nil, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(m.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.Key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxCompletion))
	if err != nil {
		return nil, 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the endpoint answered %s: %s", answer.Status, brief(string(text)))
	}
	var c completion
	if err := json.Unmarshal(text, &c); err != nil || len(c.Choices) == 0 {
		return nil, 0, fmt.Errorf("the endpoint answered no chat completion: %s", brief(string(text)))
	}
	used := c.Usage.Total
	if used == 0 {
		used = (len(body) + len(text) + 3) / 4
	}
	reply := c.Choices[0].Message
	reply.Role = "assistant"
	return &reply, used, nil
}

var _ Agent = (*Model)(nil)
