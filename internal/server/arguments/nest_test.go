package arguments_test

import (
	"encoding/json"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
)

// TestNest calls a query that has the parameters slug and message. The name of the second one is that of an option too.
func TestNest(t *testing.T) {
	for _, tt := range []struct{ args, params, message string }{
		{`{"params":{"slug":"a"},"message":"why"}`, `{"slug":"a"}`, "why"},
		{`{"params":{"slug":"a","message":"text"},"message":"why"}`, `{"slug":"a","message":"text"}`, "why"},
		{`{"slug":"a","message":"why"}`, `{"slug":"a"}`, "why"},
		{`{"slug":"a","_":{"message":"why"}}`, `{"slug":"a"}`, "why"},
		{`{"slug":"a","_":{"slug":"b","message":"why"}}`, `{"slug":"a"}`, "why"},
	} {
		o := arguments.Members(json.RawMessage(tt.args))
		o.Nest(func(name string) bool { return name == "slug" })
		message := o.OptString("message")
		if got := string(o.Raw("params")); got != tt.params || message == nil || *message != tt.message {
			t.Errorf("%s: found params %s and message %v, expected %s and %s", tt.args, got, message, tt.params, tt.message)
		}
	}
}
