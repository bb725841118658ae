package encoding

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// budget is a Memory of a few bytes.
type budget struct{ left int64 }

func (b *budget) Take(n int64) bool {
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) Give(n int64) { b.left += n }
func (b *budget) Limit() int64 { return b.left }

// TestValueTooLarge writes answers without rows for both transports. An answer must have at most
// the permitted number of bytes, unless it is the answer of a write.
func TestValueTooLarge(t *testing.T) {
	for _, test := range []struct {
		name string
		e    *Writer
	}{
		{"max_bytes", &Writer{enc: Options{MaxBytes: 100}}},
		{"answers over REST", &Writer{enc: Options{Parts: true}, parts: parts{memory: &budget{left: 1000}, maxBytes: 100}}},
	} {
		var large *wireerror.Oversize
		err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 100), Less: "ask for one"})
		if !errors.As(err, &large) || err.Error() != "the answer has 102 bytes, expected at most 100; ask for one" || len(test.e.buf) > 0 {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 98)}); err != nil || len(test.e.buf) != 100 {
			t.Errorf("%s: %d bytes, %v", test.name, len(test.e.buf), err)
		}
		test.e.buf = nil
		if err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 100), Wrote: &tool.Written{}}); err != nil {
			t.Errorf("%s: a write: %v", test.name, err)
		}
	}
}
