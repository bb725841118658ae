package wireerror

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

func TestClip(t *testing.T) {
	if got := Clip("short"); got != "short" {
		t.Errorf("a short text became %q", got)
	}
	long := Clip(strings.Repeat("ä", maxMessage))
	if len(long) > maxMessage+20 || !utf8.ValidString(long) || !strings.HasSuffix(long, "… (cut)") {
		t.Errorf("a long text became %d bytes that end in %q", len(long), long[len(long)-20:])
	}
}

// TestExplainClips checks that no part of a fault repeats a large part of a request.
func TestExplainClips(t *testing.T) {
	much := strings.Repeat("x", 1<<20)
	list := diag.List{{Message: much, Help: much}}
	for _, err := range []error{&engine.NotFound{What: "branch", Name: much}, &UnknownTool{Name: much}, &Rejected{Diagnostics: list}} {
		b, marshal := json.Marshal(Explain(err).Body)
		if marshal != nil || len(b) > 2*maxMessage {
			t.Errorf("%T takes %d bytes, %v", err, len(b), marshal)
		}
	}
	if len(list[0].Message) != len(much) {
		t.Error("the diagnostics themselves were cut")
	}
}
