package builtin_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// FuzzDecode checks that every tool decodes any arguments without a panic, and that errors
// are argument errors.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"query":"q","name":null}`, `{"commit":"x","page_token":"e30"}`, `{"limit":7,"page_token":"eyJiIjoibWFpbiIsInMiOjd9"}`,
		`{"commit":"x","page_token":"eyJjIjoieCIsImEiOnsiRW50aXR5Ijoibm9kZSJ9fQ"}`, `{"from":"A","to":"B","max_hops":"3"}`, `{"data":"","mode":"merge","from":"x","branch":"y"}`, `[1`,
	} {
		f.Add([]byte(seed))
	}
	tools := builtin.Local("1", nil)
	f.Fuzz(func(t *testing.T, args []byte) {
		for _, b := range tools {
			c, err := b.Decode(json.RawMessage(args))
			var bad *tool.ArgumentError
			if err != nil && !errors.As(err, &bad) || err == nil && c == nil {
				t.Errorf("%s: %v, %v", b.Descriptor().Name, c, err)
			}
			if err == nil {
				c.Needs()
			}
		}
	})
}
