package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestReadMessages(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                           `1 ping`,
		` {"method":"ping","id":"a\u0062","jsonrpc":"2.0"} `:                                 `"a\u0062" ping`,
		`{"jsonrpc":"2.0","method":"notifications\/cancelled","params":null}`:                ` notifications/cancelled`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                        ` ping`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                               `7  response`,
		`{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}`:                               `7 ping`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"n\u0061me":"x", "arguments" :[1]}}`: `1 m {"n\u0061me":"x", "arguments" :[1]} name="x" args=[1]`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params": {"uri":7,"_meta":{}} }`:              `1 m {"uri":7,"_meta":{}} uri=7 meta={}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":[1, 2]}`:                              `1 m [1, 2]`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`:                                  `1 m {}`,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`:             `1 a|  b`,
		``:                                           `-32700 ends too early`,
		`{"jsonrpc":"2.0"`:                           `-32700 ends too early`,
		`{"jsonrpc":"2.0","id":1,"id":2}`:            `-32700 duplicate`,
		`{"jsonrpc":"2.0","id":1,"method":x}`:        `-32700 invalid character`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}":      `-32700 UTF-8`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} x`: `-32700 follows`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:   `-32600 jsonrpc`,
		`{"id":1,"method":"ping"}`:                   `-32600 jsonrpc`,
		`{"jsonrpc":"2.0","id":[],"method":"ping"}`:  `-32600 neither a string nor a number`,
		`{"jsonrpc":"2.0","id":1}`:                   `-32600 no method`,
		`{"jsonrpc":"2.0","id":1,"method":7}`:        `-32600 no method`,
		`7`:                                          `-32600 object`,
		`[]`:                                         `-32600 empty batch`,
		`[1]`:                                        `-32600 object`,
		strings.Repeat("[", 1001):                    `-32600 nests deeper`,
		strings.Repeat("[", 900) + strings.Repeat("]", 900):                                           `-32600 object`,
		"[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"a"},`, 16) + `{},{}]`:                 `-32600 found a batch of 18 messages, expected at most 16`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"` + strings.Repeat(`[\"{`, 2000) + `"}}`: `1 m {"a":"` + strings.Repeat(`[\"{`, 2000) + `"}`,
	} {
		msgs, _, err := readMessages([]byte(body))
		var got []string
		var bad *badMessage
		switch {
		case errors.As(err, &bad):
			code, wanted, _ := strings.Cut(want, " ")
			if b, _ := json.Marshal(bad.code); string(b) != code || !strings.Contains(bad.detail, wanted) {
				t.Errorf("%.80s: %d %s, want %s", body, bad.code, bad.detail, want)
			}
			continue
		case err != nil:
			t.Errorf("%.80s: %v", body, err)
			continue
		}
		for _, m := range msgs {
			s := string(m.id) + " " + m.method
			for _, part := range []struct {
				name  string
				value []byte
			}{{"", m.params}, {"name=", m.name}, {"args=", m.args}, {"uri=", m.uri}, {"meta=", m.meta}} {
				if part.value != nil {
					s += " " + part.name + string(part.value)
				}
			}
			if m.response {
				s += " response"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "| "); s != want {
			t.Errorf("%.80s: %s, want %s", body, s, want)
		}
	}
}

// FuzzReadMessages compares the reader with encoding/json: a text that the reader accepts must
// have the same meaning for both.
func FuzzReadMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{}]},"_meta":{"k":"v"}}}`,
		`[{"jsonrpc":"2.0","id":"a\"","method":"ping","params":{}},{"jsonrpc":"2.0","method":"\u0061"}]`,
		`{"jsonrpc":"2.0","id":1e3,"result":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		msgs, batch, err := readMessages(body)
		if err != nil {
			var bad *badMessage
			if !errors.As(err, &bad) || bad.detail == "" {
				t.Fatalf("error %T %v", err, err)
			}
			return
		}
		var texts []json.RawMessage
		if !batch {
			texts = append(texts, body)
		} else {
			if err := json.Unmarshal(body, &texts); err != nil {
				t.Fatalf("taken, but %v: %q", err, body)
			}
		}
		if len(texts) != len(msgs) {
			t.Fatalf("%d messages of %d", len(msgs), len(texts))
		}
		for i, text := range texts {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(text, &members); err != nil {
				t.Fatalf("taken, but %v: %q", err, body)
			}
			m := msgs[i]
			same := func(name string, got []byte, of map[string]json.RawMessage) {
				want := string(of[name])
				if want == "null" && got == nil {
					want = ""
				}
				if string(got) != want {
					t.Fatalf("%s is %q, want %q, in %q", name, got, want, body)
				}
			}
			same("id", m.id, members)
			same("params", m.params, members)
			var method string
			if err := json.Unmarshal(members["method"], &method); err == nil && method != m.method {
				t.Fatalf("method %q, want %q", m.method, method)
			}
			var params map[string]json.RawMessage
			if err := json.Unmarshal(members["params"], &params); err == nil {
				same("name", m.name, params)
				same("arguments", m.args, params)
				same("uri", m.uri, params)
				same("_meta", m.meta, params)
			}
		}
	})
}
