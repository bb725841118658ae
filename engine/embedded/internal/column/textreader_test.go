package column

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestTextReader reads the texts of stored columns upwards, downwards and in random order.
func TestTextReader(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, nulls := range []bool{false, true} {
		b := NewBuilder(value.Of(value.String))
		var want []string
		for i := range 3*windowTexts + 11 {
			s := fmt.Sprint(i, " ", strings.Repeat("x", r.IntN(200)))
			switch r.IntN(20) {
			case 0:
				s = ""
			case 1:
				if r.IntN(100) == 0 {
					s = strings.Repeat(s, 1+2*windowBytes/len(s)) // longer than a window
				}
			}
			want = append(want, s)
			v := value.OfString(s)
			if nulls && r.IntN(9) == 0 {
				want[i], v = "null", value.Null
			}
			if err := b.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		desc, blocks := encode(t, b.Finish(nil))
		c, _, err := Decode(desc, "c", blocks)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(blocks["c.d"]); n < 5*windowBytes {
			t.Fatalf("the texts have only %d bytes", n)
		}
		reader := NewTextReader(c)
		if reader.whole {
			t.Fatal("the reader would read the whole column")
		}
		check := func(i int) {
			t.Helper()
			size := reader.Size(uint32(i))
			s, ok := reader.Text(uint32(i))
			if !ok {
				s = "null"
			} else if len(s) != size {
				t.Errorf("text %d has %d bytes, but the size is %d", i, len(s), size)
			}
			if s != want[i] {
				t.Fatalf("text %d is %.20q, want %.20q", i, s, want[i])
			}
			if n := len(reader.texts); n > 4*windowBytes { // a long text has less
				t.Fatalf("after text %d the reader holds %d bytes", i, n)
			}
		}
		for i := range want {
			check(i)
		}
		for i := len(want) - 1; i >= 0; i-- {
			check(i)
		}
		if !c.pending.Left() || reader.whole {
			t.Error("the reader has read the whole column")
		}
		for range 20_000 {
			check(r.IntN(len(want)))
		}
		if most := (maxReads + 1) * (reader.data.n + 4*c.n + windowBytes); !reader.whole || reader.read > most {
			t.Errorf("in random order the reader has read %d bytes, want at most %d", reader.read, most)
		}
	}
}

// TestTextReaderInMemory reads columns that have no stored blocks.
func TestTextReaderInMemory(t *testing.T) {
	b := NewBuilder(value.Of(value.String))
	if err := b.Append(value.OfString("text")); err != nil {
		t.Fatal(err)
	}
	b.AppendNull()
	some, nulls := NewTextReader(b.Finish(nil)), NewTextReader(Null(value.Of(value.String), 2))
	for i, test := range []struct {
		r    *TextReader
		at   uint32
		want string
		ok   bool
	}{{some, 0, "text", true}, {some, 1, "", false}, {nulls, 1, "", false}} {
		if s, ok := test.r.Text(test.at); s != test.want || ok != test.ok || test.r.Size(test.at) != len(test.want) {
			t.Errorf("text %d is %q of %d bytes, not null: %t", i, s, test.r.Size(test.at), ok)
		}
	}
}
