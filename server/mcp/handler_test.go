package mcp

import (
	"encoding/json"
	"testing"
)

func TestListens(t *testing.T) {
	for body, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`:                        true,
		`{"method":"subscriptions\/listen"}`:                                              true,
		`{"method":"\u0073ubscriptions/listen","id":"a"}`:                                 true,
		`[{"method":"ping","id":1},{"method":"subscriptions/listen","id":2}]`:             true,
		`{"method":"ping","method":"subscriptions/listen"}`:                               true,
		`{"method":"tools/call","params":{"method":"subscriptions/listen"}}`:              false,
		`{"method":"tools/call","params":{"arguments":{"query":"subscriptions/listen"}}}`: false,
		`{"method":7}`: false,
		`{"method":`:   false,
		``:             false,
		`[]`:           false,
	} {
		if _, got := listens([]byte(body)); got != want {
			t.Errorf("%s: %t, want %t", body, got, want)
		}
	}
	if id, _ := listens([]byte(`{"id":"a\u0062","method":"subscriptions/listen"}`)); string(id) != `"a\u0062"` {
		t.Errorf("id %s", id)
	}
}

func TestMessages(t *testing.T) {
	for body, want := range map[string]int{
		``: 1, `{}`: 1, `7`: 1, `[]`: 0, ` [{"id":1}]`: 1, `[{}, {"a":[1,2]},[3]]`: 3, `[{},{`: 1, `[`: 0, `[1,2`: 2,
	} {
		if got := messages([]byte(body)); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

func FuzzListens(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`))
	f.Add([]byte(`[{"id":null,"method":"ping"},{"method":"subscriptions/listen"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		id, found := listens(body)
		if id != nil && !json.Valid(id) {
			t.Errorf("id %q", id)
		}
		var m struct{ Method string }
		if err := json.Unmarshal(body, &m); err == nil && m.Method == "subscriptions/listen" != found && !caseFolded(body) {
			t.Errorf("%q: %t", body, found)
		}
	})
}

// caseFolded reports whether encoding/json may have taken a member for method that is
// spelt otherwise.
func caseFolded(body []byte) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return true
	}
	_, ok := m["method"]
	return !ok || len(m) > 1
}
